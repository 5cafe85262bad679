"""dccgcn audit: in a terminal and by a table, and the bound in the run's folder."""

import io
import json

import pandas as pd
import pytest

from dccgcn.errors import DataFileError
from dccgcn.graph.splits import per_class
from dccgcn.report import write_report
from dccgcn.report.store import load_data, read_audit
from dccgcn.store.model import load_model
from dccgcn.workflow.fitting import run
from helpers.command import dccgcn, refused, success
from helpers.runs import toy


@pytest.fixture
def folder(tmp_path):
    graph = toy()
    result = run(graph, per_class(graph, 3, seed=0), "lp")
    result.save(tmp_path / "run")
    write_report(result, tmp_path / "run" / "report.html", folder=tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def typed(monkeypatch):
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_the_bound_is_in_the_folder_the_report_and_the_card(folder, typed):
    typed("\n" * 100)
    done = success("audit", folder, "--bound", "0.2", "--name", "Ann")
    audit = read_audit(folder)
    assert (audit.kind, audit.errors, audit.who) == ("fixed", 0, "Ann")
    assert audit.checked == audit.planned
    assert audit.share_at_most <= 0.2
    assert audit.sentence().replace("\u00a0", " ") in done.stdout
    assert audit.sentence() in (folder / "MODEL.md").read_text()
    assert audit.sentence() in (folder / "report.html").read_text()
    assert load_data(folder).audit == audit
    load_model(folder)  # still complete
    success("report", folder)
    (folder / "report.json").unlink()
    success("report", folder)
    assert audit.sentence() in (folder / "report.html").read_text()


def test_a_new_run_in_the_folder_has_no_audit_but_keeps_the_labels(folder, typed):
    typed("\nq\n")
    success("audit", folder, "--checks", "5")
    load_model(folder).result.save(folder, overwrite=True)
    assert read_audit(folder) is None
    assert (folder / "labels.sqlite").exists()


def test_keys_stop_undo_and_go_on(folder, typed):
    typed("\n\nu\n2\ns\nx\nq\n")  # right, right, undone, class 2, cannot be told, not a key, stop
    done = dccgcn("audit", folder, "--checks", "5", "--seed", "0")
    assert "2 of the 5 planned checks are left" in done.stderr
    first = read_audit(folder)
    assert (first.kind, first.checked) == ("sequential", 3)
    assert 1 <= first.errors <= 2
    typed("\n\n")
    success("audit", folder)  # continues the same draw
    assert (read_audit(folder).kind, read_audit(folder).checked, read_audit(folder).date) == ("fixed", 5, first.date)


def test_a_table_is_written_filled_in_and_read(folder, tmp_path):
    success("audit", folder, "--checks", "6", "--seed", "1", "--draw", tmp_path / "c.csv")
    refused(dccgcn("audit", folder, "--checked", tmp_path / "c.csv"), "No prediction was checked")  # all are empty
    table = pd.read_csv(tmp_path / "c.csv", dtype=str)
    assert table.columns.tolist() == ["node_id", "prediction", "label"]
    table["label"] = table["prediction"]
    table.loc[2, "label"] = "?"
    table.to_csv(tmp_path / "c.csv", index=False)
    done = dccgcn("audit", folder, "--checked", tmp_path / "c.csv", "--json")
    answer = json.loads(done.stdout)
    assert (answer["checked"], answer["errors"], answer["done"]) == (6, 1, True)
    assert answer["summary"]["kind"] == "fixed"
    assert "0 new answers" in dccgcn("audit", folder, "--checked", tmp_path / "c.csv").stderr
    table.loc[0, "label"] = "no class"
    table.to_csv(tmp_path / "c.csv", index=False)
    refused(dccgcn("audit", folder, "--checked", tmp_path / "c.csv"), "no class")


def test_wrong_requests_are_refused(folder, tmp_path):
    refused(dccgcn("audit", tmp_path / "none"), "none")
    refused(dccgcn("audit", folder, "--bound", "2"), "wished bound")
    refused(dccgcn("audit", folder, "--checks", "1000"), "Plan 1 to")
    refused(dccgcn("audit", folder, "--checks", "2", "--checked", folder / "split.json"), "node_id")
    (folder / "audit.json").write_text("{}")
    with pytest.raises(DataFileError, match="not an audit"):
        read_audit(folder)
