"""Results leave as new files, or in place of what dccgcn wrote; nothing of the user's is replaced."""

import inspect
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer

from dccgcn import per_class, read_tables, run
from dccgcn.cli import app
from dccgcn.cli.options import NEW_FILE
from dccgcn.datasets import Dataset
from dccgcn.errors import DataFileError
from dccgcn.label.log import EventLog
from dccgcn.runtime.files import write_atomically
from dccgcn.runtime.outputs import are_ours, check_output
from dccgcn.tables.write import write_frames, write_tables
from helpers.command import dccgcn, refused
from helpers.runs import dual, toy

COMMANDS: dict[str, Any] = dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
OUTPUTS = [(name, option) for name, c in COMMANDS.items() for option in c.params if option.metavar == NEW_FILE]
# files that are read, and folders, which have rules of their own
OTHERS = {"nodes", "edges", "labels", "settings", "checked", "log", "run", "model", "dataset", "split", "merge"}
OTHERS |= {"data", "out", "scratch", "store", "folder"}
MINE = "mine,and mine alone\n1,2\n"
PREDICTIONS = pd.DataFrame({"node_id": ["a", "b"], "prediction": ["x", "y"], "trust": [0.9, 0.1]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_cora: Dataset) -> Path:
    """A run, the tables that it was made from, and a table of checks."""
    folder = tmp_path_factory.mktemp("user")
    write_tables(small_cora.graph, folder / "tables", per_class(small_cora.graph, 5, seed=0).train)
    tables = read_tables(folder / "tables/nodes.csv", folder / "tables/edges.csv", label="label")
    run(tables).save(folder / "run")
    (folder / "labels.csv").write_text("id,label\n", encoding="utf-8")
    return folder


def command(name: str, option: str, out: Path, folder: Path) -> list[Any]:
    """A command that writes this output, with everything else that it needs."""
    tables = ["--nodes", folder / "tables/nodes.csv", "--edges", folder / "tables/edges.csv", "--label", "label"]
    first = {
        "fit": tables,
        "predict": [folder / "run", "--nodes", folder / "tables/nodes.csv"],
        "label": [*tables, "--log", folder / "log.sqlite"],
        "label-next": [folder / "run"],
        "audit": [folder / "run", "--checked", folder / "labels.csv"],
        "report": [folder / "run"],
    }[name]
    return [name, *first, option, out]


def test_every_option_of_a_path_is_an_input_or_an_output() -> None:
    """A new option must be one of both: outputs are checked before a command begins."""
    for command in app.registered_commands:
        for name, parameter in inspect.signature(command.callback).parameters.items():
            metavars = {option.metavar for option in COMMANDS[command.name].params if option.name == name}
            assert "Path" not in str(parameter.annotation) or metavars == {NEW_FILE} or name in OTHERS, name
    assert len(OUTPUTS) >= 7


@pytest.mark.parametrize(("name", "option"), OUTPUTS, ids=lambda one: getattr(one, "name", one))
@pytest.mark.parametrize("kind", ["file", "symlink", "hard link", "relative"])
def test_no_output_replaces_a_file_of_the_user(name: str, option: Any, kind: str, folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_text(MINE)
    out = tmp_path / "out.csv"
    (tmp_path / "x").mkdir()
    if kind.endswith("link"):
        (out.symlink_to if kind == "symlink" else out.hardlink_to)(mine)
    else:
        out = mine if kind == "file" else tmp_path / "x" / ".." / "mine.csv"
    has_overwrite = any(param.name == "overwrite" for param in COMMANDS[name].params)
    for extra in [[], ["--overwrite"]] if has_overwrite else [[]]:
        refused(dccgcn(*command(name, option.opts[0], out, folder), *extra))
        assert mine.read_text() == MINE


@pytest.mark.parametrize(("name", "option"), OUTPUTS, ids=lambda one: getattr(one, "name", one))
def test_no_output_is_an_input(name: str, option: Any, folder: Path, tmp_path: Path) -> None:
    inputs = [path for path in command(name, "", Path(), folder) if isinstance(path, Path) and path.is_file()]
    for number, path in enumerate(inputs):
        before = path.read_bytes()
        link = tmp_path / f"link{number}.csv"
        link.symlink_to(path)
        for out in (path, link):
            refused(dccgcn(*command(name, option.opts[0], out, folder)), "is read by this command")
        assert path.read_bytes() == before


def test_results_may_lie_in_the_working_folder(folder: Path, tmp_path: Path) -> None:
    """Where "." is also a decimal sign, and a folder may be called like a class or a column."""
    (tmp_path / "label").mkdir()
    paths = {out: tmp_path / out for out in ("p.csv", "label/p.csv")}
    for out, path in paths.items():
        done = dccgcn(*command("fit", "--predictions", Path(out), folder), "--data", ".", cwd=tmp_path)
        assert (done.returncode, path.is_file()) == (0, True), done.stderr


def test_a_table_in_parts_gets_no_result_beside_them(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    with pytest.raises(DataFileError, match="lies in the folder"):
        check_output(tmp_path / "parts" / "predictions.csv", inputs=[tmp_path / "parts"])


def test_every_column_of_predictions_is_known_as_one_of_dccgcn() -> None:
    graph = toy().with_names([f"node {i}" for i in range(60)])
    frame = dual(run(graph, per_class(graph, 3, seed=0), "lp")).to_frame(probabilities=True, abstain_below=0.9)
    assert {"trust", "corrected", "channels_agree", "abstain"} <= {*frame}
    assert are_ours([*frame])


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".sqlite", ".duckdb"])
def test_what_dccgcn_wrote_is_replaced_when_asked(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"p{ending}"
    write_frames({"predictions": PREDICTIONS}, path)
    before = path.read_bytes()
    with pytest.raises(DataFileError, match="already"):
        write_frames({"predictions": PREDICTIONS[:1]}, path)
    assert path.read_bytes() == before
    write_frames({"predictions": PREDICTIONS[:1]}, path, overwrite=True)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", [".sqlite", ".duckdb"])
def test_a_database_keeps_its_other_tables(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"shop{ending}"
    connect = sqlite3.connect if ending == ".sqlite" else pytest.importorskip("duckdb").connect
    with closing(connect(str(path))) as database:
        database.execute("CREATE TABLE customers (node_id TEXT, name TEXT)")
        database.execute("INSERT INTO customers VALUES ('a', 'Ann')")
        database.execute('CREATE TABLE "Labels" (node_id TEXT, label TEXT)')
        database.commit()
    write_frames({"predictions": PREDICTIONS}, path)
    for overwrite in (False, True):
        with pytest.raises(DataFileError, match="labels that dccgcn did not write"):
            write_frames({"new": PREDICTIONS, "labels": PREDICTIONS}, path, overwrite)
    with closing(connect(str(path))) as database:
        assert database.execute("SELECT * FROM customers").fetchall() == [("a", "Ann")]
        assert database.execute("SELECT count(*) FROM predictions").fetchone() == (2,)
        with pytest.raises(Exception, match="new"):
            database.execute("SELECT * FROM new")


@pytest.mark.parametrize(("name", "option"), OUTPUTS, ids=lambda one: getattr(one, "name", one))
@pytest.mark.parametrize("ending", [".sqlite", ".db", ".duckdb"])
def test_no_output_takes_the_place_of_a_database(
    name: str, option: Any, ending: str, folder: Path, tmp_path: Path
) -> None:
    """A table may be added to it, but no file be written over it: least of all over a log of labels."""
    out = tmp_path / f"out{ending}"
    extra = ["--overwrite"] if any(param.name == "overwrite" for param in COMMANDS[name].params) else []
    for table in ("customers", "events"):
        out.unlink(missing_ok=True)
        if table == "events":
            EventLog(out, "graph").close()
        else:
            with closing(sqlite3.connect(out)) as database:
                database.execute("CREATE TABLE customers (name TEXT)")
        before = out.read_bytes()
        done = dccgcn(*command(name, option.opts[0], out, folder), *extra)
        assert done.returncode == 0 or out.read_bytes() == before
        with closing(sqlite3.connect(out)) as database:
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_log_of_labels_is_no_database_for_results(folder: Path) -> None:
    log = folder / "kept.sqlite"
    EventLog(log, "graph").close()
    before = log.read_bytes()
    with pytest.raises(DataFileError, match="log of labels"):
        write_frames({"predictions": PREDICTIONS}, log, overwrite=True)
    refused(dccgcn(*command("fit", "--predictions", log, folder), "--overwrite"), "log of labels")
    assert log.read_bytes() == before


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the check and the writing another process may write the file."""
    path = tmp_path / "out.csv"
    real = os.fsync

    def someone_else(descriptor: int) -> None:
        path.write_text(MINE)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", someone_else)
    with pytest.raises(DataFileError):
        write_atomically(path, "ours", replace=False)
    assert path.read_text() == MINE


def test_files_of_a_run_are_not_replaced_one_by_one(folder: Path) -> None:
    out = folder / "run" / "predictions.csv"
    before = out.read_bytes()
    refused(dccgcn("label-next", folder / "run", "--out", out, "--overwrite"), "part of the run")
    assert out.read_bytes() == before
