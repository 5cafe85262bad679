"""The committed pages against the runs behind them."""

from pathlib import Path

import pytest

from dccgcn import datasets
from dccgcn.experiments import figures
from dccgcn.experiments.pages import files_of
from dccgcn.experiments.readme import readme
from dccgcn.experiments.reproduction import published_runs
from dccgcn.experiments.results import Results
from dccgcn.experiments.spec import PAPER, read_spec
from dccgcn.experiments.store import read_store
from dccgcn.experiments.table1 import PRINTED, table1_page
from helpers.pages import page_of

RESULTS = Path(__file__).parents[2] / "docs" / "results"
UNAVAILABLE = {"corafull": "graph2gauss/cora.npz is not in the data folder"}


@pytest.fixture(scope="module")
def published_rows():
    return read_store(RESULTS / "runs.jsonl.gz")


def test_the_key_of_every_stored_run_is_that_of_its_job(published_rows):
    assert len(published_rows) > 4000
    for key, row in published_rows.items():
        assert row.job.key() == key
        assert row.n_test
        assert row.split_hash


def test_writing_the_papers_pages_keeps_the_runs_of_the_others(published_rows):
    assert published_runs(published_rows) == published_rows


@pytest.mark.parametrize(
    "name",
    ["table2", "table3", "table4", "table5", "table6", "table7", "theorems", "confidence", "overview",
     "figure4", "figure5", pytest.param("figure6", marks=pytest.mark.benchmark_files("flickr")), "figure7", "concord"],
)  # fmt: skip
def test_the_results_are_those_of_their_runs(name, published_rows, monkeypatch):
    monkeypatch.setattr(figures, "saved", lambda _: {})  # pictures are drawn but not rendered
    files = files_of(Results(read_spec(name), published_rows, UNAVAILABLE), "dccgcn reproduce")
    for file, content in files.items():
        if isinstance(content, str):
            stored = (RESULTS / file).read_text(encoding="utf-8")
            remedy = f"{file}: reproduce {name} --stored"
            assert stored.split("Measured by")[0] == content.split("Measured by")[0], remedy


@pytest.mark.parametrize(("name", "page"), [("choices", "dcc-gcn-choices"), ("systems", "systems-check")])
def test_a_page_with_runs_of_its_own_is_that_of_its_runs(name, page):
    rows = read_store(RESULTS / f"{page}-runs.jsonl.gz")
    assert all(row.job.key() == key for key, row in rows.items())
    stored = (RESULTS / f"{page}.md").read_text(encoding="utf-8")
    again = page_of(read_spec(name), rows)
    assert stored.split("Measured by")[0] == again.split("Measured by")[0], f"reproduce {name} --stored"


def test_the_page_of_table_1_is_that_of_the_catalogue():
    assert (RESULTS / "table1.md").read_text(encoding="utf-8") == table1_page()
    for name, (*_, edges) in PRINTED.items():
        assert datasets.describe(name).paper_edges == edges


def test_the_page_of_all_experiments_is_that_of_the_runs(published_rows):
    page = readme([Results(read_spec(name), published_rows, UNAVAILABLE) for name in PAPER], "dccgcn reproduce all")
    stored = (RESULTS / "README.md").read_text(encoding="utf-8")
    assert stored.split("Measured by")[0] == page.split("Measured by")[0], "README.md: reproduce all --stored"
