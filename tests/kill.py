"""kill -9 at random moments: no half-written file is read as good, and the command run again completes.

    python tests/kill.py 50    # as `make kill` does: so many kills of a fit, and as many of a comparison

Half of the moments are drawn from the whole run, half from the milliseconds in which it writes.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn.experiments.runner import read_store
from dccgcn.graph import NodeGraph
from dccgcn.io.write import write_tables

N = 300


def fit(count: int, folder: Path, seed: int) -> None:
    """Kill ``dccgcn fit --out`` so many times; after each the folder is whole or says that it is not."""
    rng = np.random.default_rng(seed)
    truth = np.arange(N) % 3
    x = rng.normal(size=(N, 5)) + np.eye(5)[truth] * 3
    write_tables(NodeGraph(x, rng.integers(0, N, (600, 2)), truth), folder, np.arange(60))
    out = folder / "out"
    command = [sys.executable, "-m", "dccgcn", "fit", "--method", "ssgc", "--hold-out", "0.5", "--out", str(out)]
    command += ["--nodes", str(folder / "nodes.csv"), "--edges", str(folder / "edges.csv"), "--label", "label"]
    took = 0.0
    if count > 1:
        start = time.monotonic()
        subprocess.run([*command, "--seed", "0"], check=True, capture_output=True)
        took = time.monotonic() - start
    for number in range(count):
        process = subprocess.Popen(
            [*command, "--seed", str(number % 7)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if number % 2:
            time.sleep(rng.uniform(0, took))
        else:
            before = _written(out)
            while process.poll() is None and _written(out) == before:
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.02))
        process.kill()
        process.wait()
        check_run(out)
    subprocess.run([*command, "--seed", "1"], check=True, capture_output=True)
    assert check_run(out) == 1
    assert not list(out.glob("*.tmp"))
    assert not list(out.glob(".*.tmp"))


def check_run(out: Path) -> int | None:
    """The seed of a finished run, or None where the folder says that it is unfinished. Anything between is raised."""
    if not (out / "result.json").exists():
        return None
    result = json.loads((out / "result.json").read_text())
    answers = pd.read_csv(out / "predictions.csv")
    assert len(answers) == N
    tested = answers[answers["role"] == "test"]
    assert abs((tested["prediction"] == tested["label"]).mean() - result["accuracy"]) < 1e-9, "two runs in one folder"
    split = json.loads((out / "split.json").read_text())
    assert split["hash"] == result["split"]["hash"], "two runs in one folder"
    assert "# ssgc" in (out / "settings.yaml").read_text()
    return int(result["seed"])


def compare(count: int, folder: Path, seed: int) -> None:
    """Kill ``dccgcn compare`` so many times: finished runs stay, and in the end all are there."""
    rng = np.random.default_rng(seed)
    store = folder / "runs" / "compare" / "cora.jsonl"
    command = [sys.executable, "-m", "dccgcn", "compare", "cora", "--methods", "ssgc,lp,poisson"]
    command += ["--splits", str(max(count, 2)), "--jobs", "1"]
    finished: dict = {}
    for number in range(count):
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if number % 2:
            time.sleep(rng.uniform(0, 15))
        else:  # a run has just been written, or the next is about to be
            length = store.stat().st_size if store.exists() else 0
            while process.poll() is None and (store.stat().st_size if store.exists() else 0) == length:
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(1.5)  # workers look for their parent once a second
        now = read_store(store)
        assert all(now[key] == row for key, row in finished.items()), "a finished run was lost"
        finished = now
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    assert len(read_store(store)) == 3 * max(count, 2)


def _written(out: Path) -> list[tuple[str, int]]:
    try:
        return sorted((entry.name, entry.stat().st_mtime_ns) for entry in os.scandir(out) if entry.name != ".lock")
    except FileNotFoundError:  # a file that went while it was looked at
        return []


def main() -> None:
    count = int(sys.argv[1])
    for what in (fit, compare):
        with tempfile.TemporaryDirectory() as folder:
            what(count, Path(folder), seed=count)
        print(f"{what.__name__}: killed {count} times, nothing half-written, completed afterwards")


if __name__ == "__main__":
    main()
