"""Number of threads."""

import numba
import pytest
import torch
from threadpoolctl import threadpool_info

from dccgcn.runtime.threads import threads_for, use_threads


@pytest.fixture
def _two_threads():
    before = torch.get_num_threads()
    use_threads(2)
    yield
    use_threads(before)


@pytest.mark.usefixtures("_two_threads")
@pytest.mark.parametrize(("nnz", "count"), [(10, 1), (10_000_000, 2)])
def test_small_graphs_use_one_thread(nnz, count):
    wanted = min(count, numba.config.NUMBA_NUM_THREADS)
    before = numba.get_num_threads(), torch.get_num_threads()
    with threads_for(nnz):
        assert (numba.get_num_threads(), torch.get_num_threads()) == (wanted, wanted)
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} <= {1}
    assert (numba.get_num_threads(), torch.get_num_threads()) == before


@pytest.mark.usefixtures("_two_threads")
def test_an_error_restores_the_number_of_threads():
    before = numba.get_num_threads(), torch.get_num_threads()
    with pytest.raises(KeyError), threads_for(10):
        raise KeyError
    assert (numba.get_num_threads(), torch.get_num_threads()) == before
