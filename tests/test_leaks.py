"""Many fits in one process leave nothing behind: memory, open files, temporary files, child processes."""

import gc
import os
import tempfile
import weakref
from pathlib import Path

import pytest

from dccgcn import load_model, per_class, run
from helpers.runs import toy

REPEATS, N = 4, 120


def left_behind():
    """Open files, files of the temporary folder that are ours, and children that have not been waited for."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    temporary = [path.name for path in Path(tempfile.gettempdir()).glob("dccgcn*")]
    return len(os.listdir("/proc/self/fd")), sorted(temporary), children


def memory_in_use():
    """Megabytes of this process."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def fit_save_and_load(method, seed, folder):
    """References to what a fit makes and holds, which must all be dead after it."""
    graph = toy(n=N)
    result = run(graph, per_class(graph, 2, seed), method, seed=seed)
    result.save(folder, overwrite=True)
    loaded = load_model(folder).result
    held = [graph.adjacency, *graph.cache.values()]
    arrays = [result.prediction.probabilities, loaded.prediction.probabilities]
    return [weakref.ref(one) for one in (graph, result, loaded, *arrays, *held) if hasattr(type(one), "__weakref__")]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
@pytest.mark.parametrize("method", ["concord", "sgc"])
def test_repeated_fits_leave_nothing_behind(method, tmp_path):
    fit_save_and_load(method, 0, tmp_path / "run")
    gc.collect()
    before, used = left_behind(), memory_in_use()
    made = [one for seed in range(REPEATS) for one in fit_save_and_load(method, seed, tmp_path / "run")]
    gc.collect()
    assert len(made) >= 3 * REPEATS
    assert [one() for one in made if one() is not None] == []
    assert memory_in_use() - used < 30
    assert left_behind() == before
    assert [path.name for path in (tmp_path / "run").iterdir() if path.suffix == ".tmp"] == []
