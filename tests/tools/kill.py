"""kill -9 at random times: no partially written file is accepted, and the command completes when run again.

    cd tests && ../.venv/bin/python -m tools.kill 50    # as `make kill` does: fifty kills of each

A run is first timed without a kill, from its first progress output to its first written file and to its end, so that
the kills happen during its work and not during its imports. The stages in which they happened are counted.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError
from dccgcn.graph import NodeGraph
from dccgcn.report.store import load_data
from dccgcn.runtime import current_path
from dccgcn.runtime.files import is_temporary
from dccgcn.store.model import load_model
from dccgcn.tables.write import write_tables
from dccgcn.workflow.runner import read_store
from helpers.command import dccgcn
from tools.attempt import DCCGCN, Attempt, listed, run_command, time_without_kill
from tools.kill_label import kill_rounds
from tools.kill_staged import staged

N = 300
ROWS = 36  # runs of the comparison
WRITING = 0.05  # seconds in which a fit writes its files, roughly
TESTS = str(Path(__file__).parents[1])
ANSWER_IN_TURN = f"import sys; sys.path.append({TESTS!r}); from tools import kill; kill.answer_in_turn()"


def fit(count: int, folder: Path, seed: int) -> Counter[str]:
    """Kill ``dccgcn fit --out --report``, half of the times while it writes its files."""
    rng = np.random.default_rng(seed)
    write_small_tables(folder, rng)
    out = folder / "out"
    command = ["fit", "--nodes", str(folder / "nodes.csv"), "--edges", str(folder / "edges.csv")]
    command += ["--label", "label", "--hold-out", "0.5", "--out", str(out), "--report", "--overwrite"]
    timing = time_without_kill([*DCCGCN, *command, "--seed", "0"], folder, lambda: listed(out))
    assert check_run(out) == 0
    stages: Counter[str] = Counter()
    for number in range(1, count + 1):
        moment = rng.uniform(0, timing.end) if number % 2 == 0 else timing.first_file + rng.uniform(0, WRITING)
        attempt = Attempt([*DCCGCN, *command, "--seed", str(number)], folder, lambda: listed(out))
        attempt.wait_until(attempt.has_begun)
        if moment >= timing.first_file:  # the machine may be slower now: count from the first file
            attempt.wait_until(attempt.has_written)
            moment -= timing.first_file
        time.sleep(moment)
        stages[attempt.kill()] += 1
        assert check_run(out) in (number - 1, number), "the earlier run is lost"
        done = dccgcn(*command, "--seed", str(number))
        assert done.returncode == 0, done.stderr
        assert check_run(out) == number, "not completed by the next run"
        assert not list(out.glob(".*.tmp"))
    return stages


def write_small_tables(folder: Path, rng: np.random.Generator) -> None:
    """Two tables of nodes whose numbers tell their class; the first 60 are labelled."""
    truth = np.arange(N) % 3
    x = rng.normal(size=(N, 5)) + np.eye(5)[truth] * 3
    write_tables(NodeGraph(x, rng.integers(0, N, (600, 2)), truth), folder, np.arange(60))


def check_run(out: Path) -> int | None:
    """The seed of a finished run, None for an unfinished one; an error if files of the folder contradict each other."""
    try:
        model = load_model(out).result
    except DataFileError as error:
        if "There is no model in" not in str(error):
            raise  # a damaged model
        model = None
    if (out / "report.json").exists():
        assert model is not None
        assert load_data(out).run.split.hash == model.split.hash, "two runs in one folder"
    if (out / "report.html").exists():
        assert model is not None
        page = (out / "report.html").read_text()
        assert page.rstrip().endswith("</html>")
        assert model.split.hash in page, "two runs in one folder"
    if not current_path(out, "result.json").exists():
        return None
    assert model is not None
    assert current_path(out, "result.json").read_text() == json.dumps(model.summary(), indent=2) + "\n", (
        "two runs in one folder"
    )
    assert json.loads(current_path(out, "split.json").read_text())["hash"] == model.split.hash, "two runs in one folder"
    predictions = pd.read_csv(current_path(out, "predictions.csv"))
    tested = predictions[predictions["role"] == "test"]
    assert len(predictions) == model.graph.n
    assert abs((tested["prediction"] == tested["label"]).mean() - model.accuracy) < 1e-9, "two runs in one folder"
    assert f"--method {model.method} " in current_path(out, "settings.yaml").read_text()
    return model.seed


def compare(count: int, folder: Path, seed: int) -> Counter[str]:
    """Kill ``dccgcn compare``: finished runs are kept, and the last call completes the store."""
    rng = np.random.default_rng(seed)
    command = [*DCCGCN, "compare", "cora", "--methods", "ssgc,lp,poisson", "--splits", str(ROWS // 3), "--jobs", "2"]
    store = folder / "runs" / "compare" / "cora.jsonl"

    def rows() -> int:
        return store.read_bytes().count(b"\n") if store.exists() else 0

    timing = time_without_kill(command, folder, rows)
    stages: Counter[str] = Counter()
    finished: dict = {}
    for number in range(1, count + 1):
        if len(finished) == ROWS or number == 1:
            store.unlink()
            finished = {}
        attempt, last = Attempt(command, folder, rows), int(rng.integers(len(finished), ROWS + 1))
        attempt.wait_until(attempt.has_begun)
        if last > len(finished):  # during the row after this one
            attempt.wait_until(lambda last=last: rows() >= last)
            time.sleep(rng.uniform(0, (timing.end - timing.first_file) / ROWS))
        else:
            time.sleep(rng.uniform(0, timing.first_file))
        stages[attempt.kill()] += 1
        now = read_store(store, repair=False)
        assert all(now[key] == row for key, row in finished.items()), "a finished run was lost"
        finished = now
        time.sleep(1.5)  # workers check for their parent once a second
        assert read_store(store, repair=False) == now, "a worker still writes"
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    assert len(read_store(store)) == ROWS
    return stages


def answers(count: int, folder: Path, seed: int) -> Counter[str]:
    """Kill a process that writes the files of predict, label-next and report in turn, each with two contents."""
    rng = np.random.default_rng(seed)
    write_small_tables(folder, rng)
    tables = ["--nodes", folder / "nodes.csv", "--edges", folder / "edges.csv", "--label", "label", "--method", "lp"]
    for number in (0, 1):
        run_command("fit", *tables, "--hold-out", "0.5", "--seed", number, "--out", folder / f"run{number}", "--report")
    run_command("fit", *tables[:-1], "ssgc", "--out", folder / "model")
    nodes = pd.read_csv(folder / "nodes.csv")
    for number in (0, 1):
        nodes.iloc[number : number + 200].assign(id=[f"new{i}" for i in range(200)]).to_csv(
            folder / f"new{number}.csv", index=False
        )
    out = folder / "answers"
    known: dict[str, set[bytes]] = {}
    for commands in answer_commands(folder):
        for command in commands:
            run_command(*command)
        for path in out.iterdir():
            if not path.name.startswith("."):
                known.setdefault(path.name, set()).add(path.read_bytes())
    assert {len(contents) for contents in known.values()} == {2}
    stages: Counter[str] = Counter()
    for _ in range(count):
        attempt = Attempt([sys.executable, "-c", ANSWER_IN_TURN, str(folder)], folder, lambda: listed(out))
        attempt.wait_until(attempt.has_written)
        time.sleep(rng.uniform(0, 0.5))
        if rng.random() < 0.7:
            attempt.wait_until(lambda: is_writing(out))
        attempt.kill()
        left = [path for path in out.iterdir() if is_temporary(path.name)]
        stages["in the middle" if left else "between two writes"] += 1
        for name, contents in known.items():
            assert (out / name).read_bytes() in contents, f"{name} is not complete"
        for path in left:
            os.utime(path, (0, 0))  # as if some seconds had passed
        run_command(*answer_commands(folder)[0][0])
        assert not [path for path in out.iterdir() if is_temporary(path.name)]
    return stages


def answer_commands(folder: Path) -> list[list[list[object]]]:
    """Two lists of commands that write to the same three files."""

    def to(name: str) -> tuple[object, ...]:
        return "--out", folder / "answers" / name, "--overwrite"

    return [
        [
            ["predict", folder / "model", "--nodes", folder / f"new{number}.csv", *to("predictions.csv")],
            ["label-next", folder / f"run{number}", *to("next.csv")],
            ["report", folder / f"run{number}", *to("page.html")],
        ]
        for number in (0, 1)
    ]


def answer_in_turn() -> None:
    """Run these commands on the folder of the first argument in turn, until this process is killed."""
    while True:
        for commands in answer_commands(Path(sys.argv[1])):
            for command in commands:
                run_command(*command)


def is_writing(out: Path) -> bool:
    """Whether a file is being written, or was when its writer was stopped."""
    return any(map(is_temporary, os.listdir(out)))


def main() -> None:
    count = int(sys.argv[1])
    for what in (fit, compare, answers, staged):
        with tempfile.TemporaryDirectory() as folder:
            stages = what(count, Path(folder), seed=count)
        where = ", ".join(f"{number} {stage}" for stage, number in stages.most_common())
        print(f"{what.__name__}, {count} kills: {where}.", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        events = kill_rounds(count, Path(folder), seed=count)
    print(f"label, {count} kills: all {events} acknowledged labels were in the log.")
    print("No partially written file was accepted, and every repeated command completed.")


if __name__ == "__main__":
    main()
