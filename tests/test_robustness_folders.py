"""Rows 45, 55, 56, 61, 62: the folders that runs write to, and the user's own files in them."""

import errno
import os
import sys
import traceback
from itertools import count

import numpy as np
import pytest

from dccgcn import NodeGraph, load_model, run
from dccgcn.errors import DataFileError
from dccgcn.runtime import current_path
from dccgcn.runtime.files import temporary_path, write_atomically
from dccgcn.runtime.outputs import check_writable
from dccgcn.store.run_folder import RUN_FILES
from helpers.command import dccgcn, refused, success

FILE_OPERATIONS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.listdir", "os.scandir"}
DIED, REFUSED, COMPLETED, ENDED = 9, 3, 5, 0


def graph(seed=0, n=20):
    rng = np.random.default_rng(seed)
    labels = ["ab"[i % 2] if i < 8 else None for i in range(n)]
    return NodeGraph(rng.random((n, 4)), rng.integers(0, n, (2 * n, 2)), labels)


@pytest.fixture
def results():
    return [run(graph(seed), method="ssgc", seed=seed) for seed in (0, 1)]


@pytest.fixture
def tables(tmp_path):
    nodes = "id,topic,x,y\n" + "".join(f"{i},{'ab'[i % 2] if i < 6 else ''},{i % 3},{i % 5}\n" for i in range(12))
    (tmp_path / "nodes.csv").write_text(nodes)
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},{(i + 1) % 12}\n" for i in range(12)))
    fit = ["fit", "--nodes", tmp_path / "nodes.csv", "--edges", tmp_path / "edges.csv", "--label", "topic"]
    return [*fit, "--method", "ssgc"]


def content_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != ".lock"}


@pytest.mark.parametrize(
    "names", [["README.md"], ["settings.yaml", "report.html"], ["model.json"], ["notes.txt", "MODEL.md"]]
)
def test_rows_45_55_a_folder_with_files_of_the_user_is_refused_and_unchanged(tmp_path, results, tables, names):
    project = tmp_path / "project"
    project.mkdir()
    for name in names:
        (project / name).write_text("mine")
    before = content_of(project)
    for overwrite in (False, True):
        with pytest.raises(DataFileError, match="files that no run wrote"):
            results[0].save(project, overwrite=overwrite)
        assert content_of(project) == before
    refused(dccgcn(*tables, "--out", ".", "--report", "--overwrite", cwd=project), "files that no run wrote")
    assert content_of(project) == before


def test_row_45_an_earlier_run_is_replaced_only_if_asked(tmp_path, results, tables):
    out = tmp_path / "out"
    success(*tables, "--out", out, "--report")
    assert set(content_of(out)) <= RUN_FILES
    assert {"predictions.csv", "result.json", "report.html", "MODEL.md"} <= set(content_of(out))
    before = content_of(out)
    refused(dccgcn(*tables, "--out", out), "holds an earlier run", "--overwrite")
    with pytest.raises(DataFileError, match="earlier run"):
        results[0].save(out)
    assert content_of(out) == before
    (out / "mine.txt").write_text("mine")
    refused(dccgcn(*tables, "--out", out, "--overwrite"), "'mine.txt'")
    (out / "mine.txt").unlink()
    success(*tables, "--out", out, "--overwrite", "--seed", "5")
    assert load_model(out).result.seed == 5
    assert not (out / "report.html").exists()  # it showed the earlier run


def test_row_55_a_report_replaces_a_report_and_nothing_else(tmp_path, results):
    results[0].save(tmp_path / "run")
    page = tmp_path / "page.html"
    page.write_text("<h1>mine</h1>")
    with pytest.raises(DataFileError, match="did not write it"):
        results[0].report(page, overwrite=True)
    refused(dccgcn("report", tmp_path / "run", "--out", page, "--overwrite"), "did not write it")
    assert page.read_text() == "<h1>mine</h1>"
    results[0].report(tmp_path / "new.html")
    refused(dccgcn("report", tmp_path / "run", "--out", tmp_path / "new.html"), "there already")
    success("report", tmp_path / "run", "--out", tmp_path / "new.html", "--overwrite")


def act_at(number, folder, act):
    """Call ``act`` before the file operation of this number on the folder. Audit hooks stay, so in a child only."""
    seen, acted = count(1), []

    def hook(event, arguments):
        touched = event in FILE_OPERATIONS and any(str(folder) in str(part) for part in arguments)
        if touched and next(seen) == number:
            acted.append(event)
            act()

    sys.addaudithook(hook)
    return acted


def fail():
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("act", [lambda: os._exit(DIED), fail], ids=["killed", "full disk"])
def test_row_56_the_earlier_run_survives_a_stop_at_every_file_operation(tmp_path, results, act):
    old, new = results
    known = {result.prediction.probabilities.tobytes(): result for result in results}
    old.save(tmp_path)
    n_old, n_new = 0, 0
    for number in count(1):
        child = os.fork()
        if child == 0:
            code = 4
            try:
                acted = act_at(number, tmp_path, act)
                new.save(tmp_path, overwrite=True)
                code = COMPLETED if acted else ENDED
            except DataFileError:
                code = REFUSED
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        last = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert last in (ENDED, COMPLETED, DIED, REFUSED)
        found = load_model(tmp_path).result.prediction.probabilities.tobytes()
        kept = known[found]
        n_old, n_new = n_old + (kept is old), n_new + (kept is new)
        assert f"--seed {kept.seed} " in current_path(tmp_path, "settings.yaml").read_text()
        assert current_path(tmp_path, "split.json").read_text() == kept.split.to_json()
        if last == ENDED:  # there is no operation of this number
            break
        old.save(tmp_path, overwrite=True)
        assert set(content_of(tmp_path)) <= RUN_FILES
    assert n_old > 5
    assert n_new > 1


def test_row_61_an_unwritable_folder_is_found_before_training(tmp_path, tables, monkeypatch):
    (tmp_path / "file").write_text("")

    def train(*_):
        raise AssertionError("trained")

    monkeypatch.setattr("dccgcn.cli.fit.train", train)
    refused(dccgcn(*tables, "--out", tmp_path / "file" / "out"), "cannot be written")
    refused(dccgcn(*tables, "--out", "/proc/no/such"), "cannot be written")
    refused(dccgcn(*tables, "--out", tmp_path / "file"), "is a file")
    (tmp_path / "no.sqlite").write_text("no database")
    for name, words in (("file/p.csv", "cannot be written"), ("p.html", "form of a table"), ("no.sqlite", "database")):
        refused(dccgcn(*tables, "--predictions", tmp_path / name), words)
    refused(dccgcn(*tables, "--out", tmp_path / "r", "--predictions", tmp_path / "r/p.csv"), "in the folder of --out")
    check_writable(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()


def test_row_62_temporary_files_of_killed_commands_are_cleared(tmp_path, results):
    orphan, young = temporary_path(tmp_path), temporary_path(tmp_path)
    for path in (orphan, young):
        path.write_text("half")
    os.utime(orphan, (0, 0))
    write_atomically(tmp_path / "answers.csv", "whole")
    assert not orphan.exists()
    assert young.exists()  # another process may just have made it
    folder = tmp_path / "run"
    folder.mkdir()
    temporary_path(folder).mkdir()
    temporary_path(folder).write_text("half")
    results[0].save(folder)
    assert set(content_of(folder)) <= RUN_FILES
    assert not [path for path in folder.iterdir() if path.is_dir()]
