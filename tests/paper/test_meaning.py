"""Texts as words and by their meaning: the committed page."""

from pathlib import Path

from paper.meaning import FORMS, STUDY, page
from paper.runs import of_study, unpacked

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def test_the_committed_page_is_made_from_the_committed_runs():
    runs = of_study(unpacked(RESULTS / "runs.parquet"), STUDY)
    assert page(runs) == (RESULTS / "meaning.md").read_text(encoding="utf-8")
    by_cell = runs.groupby(["dataset", "amount"])[list(FORMS)].mean()
    assert (by_cell["both"] >= by_cell[["words", "meaning"]].max(axis=1) - 0.01).all()  # nowhere worse by a point
