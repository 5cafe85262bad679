"""The committed pages against the runs behind them."""

from pathlib import Path

import pytest

from dccgcn import datasets
from paper import figures
from paper.pages import TABLE1, files_of, readme, table1_page
from paper.reproduction import with_runs
from paper.results import Results
from paper.runs import job_of, of_study, unpacked
from paper.spec import OTHERS, PAPER, read_spec

RESULTS = Path(__file__).parents[2] / "docs" / "results"
UNAVAILABLE = {"corafull": "graph2gauss/cora.npz is not in the data folder"}


@pytest.fixture(scope="module")
def published_rows():
    return unpacked(RESULTS / "runs.parquet")


def test_the_key_of_every_stored_run_is_that_of_its_job(published_rows):
    runs = {key: row for key, row in published_rows.items() if "study" not in row}
    assert len(runs) > 18_000
    for key, row in runs.items():
        assert job_of(row).key() == key
        assert row["n_test"]
        assert row["split_hash"]
    assert {len(of_study(published_rows, study)) for study in ("trust", "label-errors")} == {780, 96}


def test_writing_the_papers_pages_keeps_the_runs_of_the_others():
    assert with_runs(RESULTS / "runs.parquet", {}) == (RESULTS / "runs.parquet").read_bytes()


def test_no_generated_file_is_large():
    sizes = {path.name: path.stat().st_size for path in RESULTS.iterdir()}
    assert sizes.pop("runs.parquet") < 2_000_000
    assert max(sizes.values()) < 500_000


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.benchmark_files("flickr")] if name == "figure6" else [])
     for name in (*PAPER, *OTHERS)],
)  # fmt: skip
def test_the_results_are_those_of_their_runs(name, published_rows, monkeypatch):
    monkeypatch.setattr(figures, "svg", lambda _: b"")  # pictures are drawn but not rendered
    files = files_of(Results(read_spec(name), published_rows, UNAVAILABLE), "python -m paper")
    for file, content in files.items():
        if isinstance(content, str):
            stored = (RESULTS / file).read_text(encoding="utf-8")
            remedy = f"{file}: python -m paper {name} --stored"
            assert stored.split("Measured by")[0] == content.split("Measured by")[0], remedy


def test_the_page_of_table_1_is_that_of_the_catalogue():
    assert (RESULTS / "table1.md").read_text(encoding="utf-8") == table1_page()
    for name, (*_, edges) in TABLE1.items():
        assert datasets.describe(name).paper_edges == edges


def test_the_page_of_all_experiments_is_that_of_the_runs(published_rows):
    page = readme([Results(read_spec(name), published_rows, UNAVAILABLE) for name in PAPER], "python -m paper all")
    stored = (RESULTS / "README.md").read_text(encoding="utf-8")
    assert stored.split("Measured by")[0] == page.split("Measured by")[0], "README.md: python -m paper all --stored"
