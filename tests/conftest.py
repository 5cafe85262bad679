"""What the tests share: the embedded Cora, and skipping where benchmark files are not at hand."""

import os
from collections.abc import Iterator

import hypothesis
import pytest
import torch

from dccgcn import datasets
from dccgcn.runtime.device import use_threads
from helpers.small_cora import part_of

# no test depends on how busy the machine is or on chance; make fuzz searches for new cases
unhurried = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("repeatable", derandomize=True, database=None, **unhurried)
hypothesis.settings.register_profile("search", **unhurried)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

LONGEST = (
    "test_reproduce",
    "test_bench",
    "test_ray",
    "test_page",
    "test_page_keys",
    "test_tutorial",
    "test_browser",
    "test_jobs",
)
LONGEST += ("test_committed_pages", "test_pages", "test_cli", "test_estimator")


def pytest_configure(config: pytest.Config) -> None:
    """One thread per worker process, inherited when it starts: workers with a thread per core wait for each other."""
    if config.getoption("numprocesses", None):
        os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the files that take longest, so that no worker is left alone with one of them."""
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked `benchmark_files(name, …)` unless all files of these datasets are there."""
    for marker in item.iter_markers("benchmark_files"):
        folder = datasets.data_folder()
        files = [file for name in marker.args for file in datasets.describe(name).files]
        missing = [file.path for file in files if not (folder / file.path).is_file()]
        if missing:
            pytest.skip(f"{missing[0]} is not in the data folder; set {datasets.FOLDER_VARIABLE} to run this")


@pytest.fixture
def one_thread() -> Iterator[None]:
    """As the processes of an experiment compute."""
    before = torch.get_num_threads()
    use_threads(1)
    yield
    use_threads(before)


@pytest.fixture(scope="session")
def cora() -> datasets.Dataset:
    """The embedded Cora."""
    return datasets.load("cora")


@pytest.fixture(scope="session")
def small_cora(cora: datasets.Dataset) -> datasets.Dataset:
    """400 nodes of Cora."""
    return part_of(cora, 400)


@pytest.fixture
def cora_is_small(small_cora: datasets.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """``cora`` is the small one for every command that runs in this process."""
    load = datasets.load
    monkeypatch.setattr(datasets, "load", lambda name, *folder: small_cora if name == "cora" else load(name, *folder))
