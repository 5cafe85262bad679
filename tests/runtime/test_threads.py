"""Number of threads."""

import os

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Method
from dccgcn.methods.prediction import Prediction
from dccgcn.runtime import device
from dccgcn.runtime.device import kernel_threads, threads_for, use_threads
from dccgcn.settings import Settings
from dccgcn.workflow.fitting import run


@pytest.fixture
def _two_threads():
    before = torch.get_num_threads()
    use_threads(2)
    yield
    use_threads(before)


@pytest.mark.usefixtures("_two_threads")
@pytest.mark.parametrize(("nnz", "count"), [(10, 1), (10_000_000, 2)])
def test_small_graphs_use_one_thread(nnz, count):
    wanted = min(count, os.cpu_count())
    before = kernel_threads(), torch.get_num_threads()

    def work():
        assert (kernel_threads(), torch.get_num_threads()) == (wanted, wanted)
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} <= {1}
        raise KeyError  # an error restores them as well

    with pytest.raises(KeyError), threads_for(nnz):
        work()
    assert (kernel_threads(), torch.get_num_threads()) == before


def test_a_run_uses_the_chosen_number_of_threads_and_restores_the_callers(monkeypatch):
    monkeypatch.setattr(device, "_chosen", 1)
    before = kernel_threads(), torch.get_num_threads()
    blas = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    seen = []

    def fit(task, settings):
        pools = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
        seen.append((kernel_threads(), torch.get_num_threads(), pools))
        return Prediction(np.full((task.graph.n, task.graph.c), 1 / task.graph.c, np.float32))

    result = run(NodeGraph(np.eye(4), [(0, 1)], ["a", "b", None, None]), method=Method("none", Settings, fit))
    assert seen == [(1, 1, {1})]
    assert result.threads == 1
    assert (kernel_threads(), torch.get_num_threads()) == before
    assert {p["filepath"]: p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"} == blas


def test_threads_that_the_caller_has_limited_stay_limited(monkeypatch):
    monkeypatch.setattr(device, "_chosen", None)
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with device.threads_of_run() as count:
        assert count == 1
    torch.set_num_threads(before)
