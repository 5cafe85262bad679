"""Flipped labels, who finds them, and the committed page."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.runs import toy
from paper.label_errors import STUDY, cleanlab_issues, flagged, flip, found, page, precision
from paper.runs import of_study, unpacked

RESULTS = Path(__file__).parents[2] / "docs" / "results"
RUN = {"flipped": 2, "dccgcn": [True, False, True], "cleanlab": [True, True]}


def runs(*fields: dict) -> pd.DataFrame:
    """Runs with some fields changed."""
    return pd.DataFrame([{**RUN, **one} for one in fields])


def test_labels_are_flipped_to_another_class():
    labels = np.arange(100) % 3
    given, is_flipped = flip(labels, 0.1, 3, seed=0)
    assert is_flipped.sum() == 10
    np.testing.assert_array_equal(given != labels, is_flipped)
    assert set(given) == {0, 1, 2}
    assert flip(labels[:3], 0.05, 3, 0)[1].sum() == 1


def test_precision_counts_equally_many_of_the_first_flagged_of_both():
    assert precision(runs({}), "dccgcn") == 0.5  # of two that were flipped; the third is beyond
    assert precision(runs({}, {"dccgcn": [True, True]}), "dccgcn") == 0.75
    assert precision(runs({"cleanlab": [False]}), "dccgcn") == 1.0  # of one
    assert precision(runs({"flipped": 1}), "dccgcn") == 1.0  # of one that was flipped
    assert precision(runs({"cleanlab": []}), "dccgcn") is None
    assert found(runs({}), "dccgcn") == 1.0
    assert found(runs({"cleanlab": [True]}), "cleanlab") == 0.5


def test_both_flag_a_label_that_the_others_contradict():
    pytest.importorskip("cleanlab", reason="cleanlab is not installed")
    p = np.full((30, 3), 0.05)
    y = np.arange(30) % 3
    p[np.arange(30), y] = 0.9
    y[4] = 0  # it was 1
    assert cleanlab_issues(y, p).tolist() == [4]
    run = flagged(toy(), 0.1, seed=0)
    assert run["flipped"] == max(1, round(0.1 * run["labels"]))
    assert max(len(run["dccgcn"]), len(run["cleanlab"])) <= run["labels"]


def test_the_committed_page_is_made_from_the_committed_runs():
    stored = of_study(unpacked(RESULTS / "runs.parquet"), STUDY)
    assert page(stored) == (RESULTS / "label-errors.md").read_text(encoding="utf-8")
