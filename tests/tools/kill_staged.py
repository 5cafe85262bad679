"""kill -9 of ``fit --scratch`` at random times: continued runs predict the same bits, and leave no stage behind.

A killed run is continued by the next one, which is killed too or completes; the stages that it found are counted.
"""

import time
from collections import Counter
from pathlib import Path

import numpy as np

from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.runtime.files import is_temporary
from dccgcn.tables.write import write_tables
from tools.attempt import DCCGCN, Attempt, run_command, time_without_kill

N = 600


def staged(count: int, folder: Path, seed: int) -> Counter[str]:
    """Kill so many runs, and return how often each number of finished stages was left."""
    rng = np.random.default_rng(seed)
    write_tables(synthetic_graph(N, 4 * N, 200), folder, np.arange(60))
    scratch, out, plain = folder / "scratch", folder / "out", folder / "plain"
    fit = ["fit", "--nodes", folder / "nodes.csv", "--edges", folder / "edges.csv", "--label", "label"]
    command = [*fit, "--scratch", scratch, "--out", out, "--overwrite"]
    run_command(*fit, "--out", plain)
    expected = (plain / "predictions.csv").read_bytes()
    timing = time_without_kill([*DCCGCN, *map(str, command)], folder, lambda: stages(scratch))
    left: Counter[str] = Counter()
    for number in range(count):
        attempt = Attempt([*DCCGCN, *map(str, command)], folder, lambda: stages(scratch))
        attempt.wait_until(attempt.has_begun)
        if number % 3 == 0:
            time.sleep(rng.uniform(0, timing.end))
        else:  # between its first stage and its end
            attempt.wait_until(attempt.has_written)
            time.sleep(rng.uniform(0, timing.end - timing.first_file))
        attempt.kill()
        left[f"with {len(stages(scratch))} finished stages"] += 1
        if number % 2 and number < count - 1:  # the next run continues it and is killed too
            continue
        (out / "predictions.csv").unlink(missing_ok=True)
        run_command(*command)
        assert (out / "predictions.csv").read_bytes() == expected, "a continued run predicts otherwise"
        assert list(scratch.iterdir()) == [], "stages are left"
    return left


def stages(scratch: Path) -> list[str]:
    """Names of the finished stages."""
    return sorted(path.name for path in scratch.glob("dccgcn-*/*") if path.is_dir() and not is_temporary(path.name))
