"""kill -9 at random moments: no half-written file is read as good, and the command run again completes.

    python tests/kill.py 50    # as `make kill` does: so many kills of a fit, of a comparison and of a save

A run is first timed undisturbed, from the moment at which it shows its progress to its first written file and to its
end, so that the moments of the kills fall into its work and not into its imports. Where they did fall is counted.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn.artifacts.model_io import load_model
from dccgcn.artifacts.report.store import load_data
from dccgcn.errors import DataFileError
from dccgcn.experiments.store import read_store
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import per_class
from dccgcn.io.write import write_tables
from dccgcn.workflow.result import run
from helpers.command import dccgcn

N = 300
ROWS = 36  # of the comparison
WRITING = 0.05  # seconds that a fit takes to write its files, roughly
DCCGCN = [sys.executable, "-m", "dccgcn"]


@dataclass(frozen=True)
class Timing:
    """Of an undisturbed run, in seconds after its first sign of work."""

    first_file: float
    end: float


class Attempt:
    """A command that runs, and what it has done so far."""

    def __init__(self, command: list[str], folder: Path, look: Callable[[], object]) -> None:
        self.look, self.before = look, look()
        self.shown = folder / "shown"
        with self.shown.open("wb") as shown:  # a bar that is forced to move is the first sign of work
            environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"}
            self.process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=shown
            )

    def until(self, happened: Callable[[], bool]) -> None:
        """Wait for it, or for the end."""
        while not happened() and not self.has_ended():
            time.sleep(0.0005)

    def has_begun(self) -> bool:
        return self.shown.stat().st_size > 0

    def has_written(self) -> bool:
        return self.look() != self.before

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> str:
        """kill -9; where that struck."""
        ended = self.has_ended()
        assert not ended or self.process.returncode == 0, self.shown.read_text()
        self.process.kill()
        self.process.wait()
        return "after the end" if ended else "in the middle" if self.has_written() else "before the first file"


def undisturbed(command: list[str], folder: Path, look: Callable[[], object]) -> Timing:
    """How long a run takes if nobody kills it."""
    attempt, moments = Attempt(command, folder, look), []
    for happened in (attempt.has_begun, attempt.has_written, attempt.has_ended):
        attempt.until(happened)
        moments.append(time.monotonic())
    assert attempt.process.returncode == 0, attempt.shown.read_text()
    return Timing(moments[1] - moments[0], moments[2] - moments[0])


def fit(count: int, folder: Path, seed: int) -> Counter[str]:
    """Kill ``dccgcn fit --out --report``, half of the times within the milliseconds in which it writes the run."""
    rng = np.random.default_rng(seed)
    truth = np.arange(N) % 3
    x = rng.normal(size=(N, 5)) + np.eye(5)[truth] * 3
    write_tables(NodeGraph(x, rng.integers(0, N, (600, 2)), truth), folder, np.arange(60))
    out = folder / "out"
    command = ["fit", "--nodes", str(folder / "nodes.csv"), "--edges", str(folder / "edges.csv")]
    command += ["--label", "label", "--hold-out", "0.5", "--out", str(out), "--report"]
    timing = undisturbed([*DCCGCN, *command, "--seed", "0"], folder, lambda: listed(out))
    assert check_run(out) == 0
    struck: Counter[str] = Counter()
    for number in range(1, count + 1):
        moment = rng.uniform(0, timing.end) if number % 2 == 0 else timing.first_file + rng.uniform(0, WRITING)
        attempt = Attempt([*DCCGCN, *command, "--seed", str(number)], folder, lambda: listed(out))
        attempt.until(attempt.has_begun)
        if moment >= timing.first_file:  # a busy machine is slower: count from what has happened
            attempt.until(attempt.has_written)
            moment -= timing.first_file
        time.sleep(moment)
        struck[attempt.kill()] += 1
        assert check_run(out) in (None, number - 1, number), "a run that nobody made"
        done = dccgcn(*command, "--seed", str(number))
        assert done.returncode == 0, done.stderr
        assert check_run(out) == number, "not completed by the next run"
        assert not list(out.glob(".*.tmp"))
    return struck


def check_run(out: Path) -> int | None:
    """The seed of a finished run, or None where the folder says that it is unfinished. Anything between is raised."""
    try:
        model = load_model(out).result
    except DataFileError as error:
        if "There is no model in" not in str(error):
            raise  # half a model
        model = None
    if (out / "report.json").exists():
        assert model is not None
        assert load_data(out)["run"]["split"]["hash"] == model.split.hash, "two runs in one folder"
    if (out / "report.html").exists():
        assert model is not None
        page = (out / "report.html").read_text()
        assert page.rstrip().endswith("</html>")
        assert model.split.hash in page, "two runs in one folder"
    if not (out / "result.json").exists():
        return None
    assert model is not None
    assert (out / "result.json").read_text() == json.dumps(model.summary(), indent=2) + "\n", "two runs in one folder"
    assert json.loads((out / "split.json").read_text())["hash"] == model.split.hash, "two runs in one folder"
    answers = pd.read_csv(out / "predictions.csv")
    tested = answers[answers["role"] == "test"]
    assert len(answers) == model.graph.n
    assert abs((tested["prediction"] == tested["label"]).mean() - model.accuracy) < 1e-9, "two runs in one folder"
    assert f"--method {model.method} " in (out / "settings.yaml").read_text()
    return model.seed


def compare(count: int, folder: Path, seed: int) -> Counter[str]:
    """Kill ``dccgcn compare``: finished runs stay, and in the end all are there. A complete one is begun anew."""
    rng = np.random.default_rng(seed)
    command = [*DCCGCN, "compare", "cora", "--methods", "ssgc,lp,poisson", "--splits", str(ROWS // 3), "--jobs", "1"]
    store = folder / "runs" / "compare" / "cora.jsonl"

    def rows() -> int:
        return store.read_bytes().count(b"\n") if store.exists() else 0

    timing = undisturbed(command, folder, rows)
    struck: Counter[str] = Counter()
    finished: dict = {}
    for number in range(1, count + 1):
        if len(finished) == ROWS or number == 1:
            store.unlink()
            finished = {}
        attempt, last = Attempt(command, folder, rows), int(rng.integers(len(finished), ROWS + 1))
        attempt.until(attempt.has_begun)
        if last > len(finished):  # in the middle of the row after this one
            attempt.until(lambda last=last: rows() >= last)
            time.sleep(rng.uniform(0, (timing.end - timing.first_file) / ROWS))
        else:
            time.sleep(rng.uniform(0, timing.first_file))
        struck[attempt.kill()] += 1
        now = read_store(store, repair=False)
        assert all(now[key] == row for key, row in finished.items()), "a finished run was lost"
        finished = now
        time.sleep(1.5)  # workers look for their parent once a second
        assert read_store(store, repair=False) == now, "somebody still writes"
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    assert len(read_store(store)) == ROWS
    return struck


def save(count: int, folder: Path, seed: int) -> Counter[str]:
    """Kill a process that does nothing but save two runs in turn to one folder."""
    rng = np.random.default_rng(seed)
    graph = NodeGraph(rng.random((N, 50)), rng.integers(0, N, (600, 2)), np.arange(N) % 3)
    made = [run(graph, per_class(graph, 5, number), seed=number) for number in (0, 1)]
    for number, result in enumerate(made):
        result.save(folder / str(number))
    out = folder / "out"
    finished = out / "result.json"  # the first to go and the last to come
    made[0].save(out)
    tests = str(Path(__file__).parents[1])
    code = f"import sys; sys.path.append({tests!r}); from tools.kill import save_in_turn; save_in_turn(sys.argv[1])"
    struck: Counter[str] = Counter()
    for number in range(count):
        attempt = Attempt([sys.executable, "-c", code, str(folder)], folder, lambda: listed(out))
        attempt.until(lambda: not finished.exists())
        start = time.monotonic()
        attempt.until(finished.exists)
        writing = time.monotonic() - start
        attempt.until(lambda: not finished.exists())
        time.sleep(rng.uniform(0, 1.1 * writing))
        assert not attempt.has_ended(), attempt.shown.read_text()
        attempt.kill()
        struck["in the middle" if check_run(out) is None else "between two saves"] += 1
        made[number % 2].save(out)
        assert check_run(out) == number % 2, "not completed by the next save"
        assert not list(out.glob(".*.tmp"))
    return struck


def save_in_turn(folder: str) -> None:
    """Save two runs to one folder, one after the other, until somebody kills this process."""
    results = [load_model(Path(folder) / name).result for name in ("0", "1")]
    while True:
        for result in results:
            result.save(Path(folder) / "out")


def listed(out: Path) -> list[tuple[str, int]]:
    """The files of a folder with the times of their last change, but not its lock."""
    try:
        return sorted((entry.name, entry.stat().st_mtime_ns) for entry in os.scandir(out) if entry.name != ".lock")
    except FileNotFoundError:  # no folder yet, or a file that went while it was looked at
        return []


def main() -> None:
    count = int(sys.argv[1])
    for what in (fit, compare, save):
        with tempfile.TemporaryDirectory() as folder:
            struck = what(count, Path(folder), seed=count)
        where = ", ".join(f"{number} {place}" for place, number in struck.most_common())
        print(f"{what.__name__}, {count} kills: {where}.", flush=True)
    print("Nothing half-written was read as good, and what was run again completed.")


if __name__ == "__main__":
    main()
