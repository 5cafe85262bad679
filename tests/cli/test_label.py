"""dccgcn label without its page: exports, a damaged or deleted log, and two servers on one log."""

import sqlite3
from contextlib import closing

import httpx
import pandas as pd
import pytest

from dccgcn.label.log import EventLog
from helpers.command import dccgcn, refused, success
from helpers.served import labelling
from tools.kill_label import fingerprint, tables


def send(process, node, label="a"):
    """Label a node; the answer."""
    base = process.address.split("/?")[0]
    with httpx.Client(base_url=base, headers={"origin": base}, timeout=30) as client:
        client.get(process.address.removeprefix(base))
        body = {"who": "Ann", "client": "one", "kind": "label", "node": node, "label": label}
        return client.post("/api/event", json=body), client.get("/api/state").json()


@pytest.fixture
def options(tmp_path):
    """Options of a graph whose log has two labels."""
    options = ["label", *tables(tmp_path)]
    pd.read_csv(tmp_path / "nodes.csv").drop(columns="y").to_csv(tmp_path / "nodes.csv", index=False)  # no labels
    with labelling(*options[1:], cwd=tmp_path) as process:
        for node in ("n1", "n2"):
            assert send(process, node)[0].status_code == 200
    return options


def test_a_damaged_log_is_refused_repaired_and_exported(options, tmp_path):
    log = tmp_path / "nodes.labels.sqlite"
    assert "no file was written" in dccgcn(*options, "--repair", cwd=tmp_path).stderr
    with closing(sqlite3.connect(log)) as database, database:
        database.execute("UPDATE events SET label = 'b' WHERE node = 'n1'")
    refused(dccgcn(*options, "--export", "labels.csv", cwd=tmp_path), "is damaged", "--repair")
    with labelling(*options[1:], cwd=tmp_path) as process:  # the page shows what there is
        answer, state = send(process, "n3")
        assert answer.status_code == 400
        assert "--repair" in answer.json()["error"]
        assert "--repair" in state["error"]
        assert state["people"] == {"Ann": 1}
        process.kill()
        assert process.stderr.read().count("is damaged") == 1
    done = success(*options, "--repair", cwd=tmp_path)
    assert "was altered: kind 'label', node 'n1', label 'b', who 'Ann'" in done.stderr
    repaired = ["--log", "nodes.labels.repaired.sqlite"]
    success(*options, *repaired, "--export", "labels.csv", cwd=tmp_path)
    assert pd.read_csv(tmp_path / "labels.csv")["node_id"].tolist() == ["n2"]
    refused(dccgcn(*options, "--repair", cwd=tmp_path), "nodes.labels.repaired.sqlite exists")


def test_a_log_that_is_deleted_meanwhile_is_told_on_the_page_and_in_the_terminal(options, tmp_path):
    with labelling(*options[1:], cwd=tmp_path) as process:
        (tmp_path / "nodes.labels.sqlite").unlink()
        answer, state = send(process, "n3")
        assert answer.status_code == 400
        assert "was deleted, moved or replaced" in answer.json()["error"] == state["error"]
        assert state["people"] == {"Ann": 2}  # to be downloaded
        process.kill()
        assert "was deleted, moved or replaced" in process.stderr.read()


def test_a_second_server_on_one_log_is_refused_also_through_a_link(options, tmp_path):
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "nodes.labels.sqlite")
    with closing(EventLog(tmp_path / "nodes.labels.sqlite", fingerprint(tmp_path))):
        refused(dccgcn(*options, "--log", "link.sqlite", "--no-open", cwd=tmp_path), "Another process is writing")


def test_a_log_that_is_named_must_exist_to_be_exported(options, tmp_path):
    refused(dccgcn(*options, "--log", "none.sqlite", "--export", "labels.csv", cwd=tmp_path), "no file none.sqlite")
    (tmp_path / "nodes.labels.sqlite").unlink()
    success(*options, "--export", "labels.csv", cwd=tmp_path)  # the labels of the table: none
    assert not (tmp_path / "nodes.labels.sqlite").exists()
