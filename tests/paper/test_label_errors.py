"""Flipped labels, who finds them, and the committed page."""

from pathlib import Path

import numpy as np
import pytest
from dccgcn.experiments.label_errors import FlipRun, cleanlab_issues, collect, flip, found, page, precision, read_runs

from dccgcn.errors import DataFileError
from helpers.runs import toy

RESULTS = Path(__file__).parents[2] / "docs" / "results"
RUN = FlipRun(
    graph="cora", share=0.05, seed=1000, labels=40, flipped=2, dccgcn=[True, False, True], cleanlab=[True, True]
)


def changed(**fields: object) -> FlipRun:
    return RUN.model_copy(update=fields)


def test_labels_are_flipped_to_another_class():
    labels = np.arange(100) % 3
    given, is_flipped = flip(labels, 0.1, 3, seed=0)
    assert is_flipped.sum() == 10
    np.testing.assert_array_equal(given != labels, is_flipped)
    assert set(given) == {0, 1, 2}
    assert flip(labels[:3], 0.05, 3, 0)[1].sum() == 1


def test_precision_counts_equally_many_of_the_first_flagged_of_both():
    assert precision([RUN], "dccgcn") == 0.5  # of two that were flipped; the third is beyond
    assert precision([RUN, changed(dccgcn=[True, True])], "dccgcn") == 0.75
    assert precision([changed(cleanlab=[False])], "dccgcn") == 1.0  # of one
    assert precision([changed(flipped=1)], "dccgcn") == 1.0  # of one that was flipped
    assert precision([changed(cleanlab=[])], "dccgcn") is None
    assert found([RUN], "dccgcn") == 1.0
    assert found([changed(cleanlab=[True])], "cleanlab") == 0.5


def test_both_flag_a_label_that_the_others_contradict():
    pytest.importorskip("cleanlab", reason="cleanlab is not installed")
    p = np.full((30, 3), 0.05)
    y = np.arange(30) % 3
    p[np.arange(30), y] = 0.9
    y[4] = 0  # it was 1
    assert cleanlab_issues(y, p).tolist() == [4]
    run = collect(toy(), "toy", 0.1, seed=0)
    assert run.flipped == max(1, round(0.1 * run.labels))
    assert max(len(run.dccgcn), len(run.cleanlab)) <= run.labels


def test_the_committed_page_is_made_from_the_committed_runs():
    runs = read_runs(RESULTS / "label-errors-runs.jsonl")
    assert page(runs) == (RESULTS / "label-errors.md").read_text(encoding="utf-8")


def test_a_file_of_runs_of_another_version_or_kind_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    assert read_runs(file) == []
    file.write_text(RUN.model_dump_json() + "\n")
    assert read_runs(file) == [RUN]
    line = RUN.model_dump_json()
    for other, words in (
        (line.replace('"version":1', '"version":2'), r"line 1: the run is stored in format 2, and .* reads format 1"),
        (line.replace('"seed":1000', '"seed":"x"'), "line 1 is not a run"),
        (line.replace('"seed"', '"sed"'), "line 1 is not a run"),
    ):
        file.write_text(other + "\n")
        with pytest.raises(DataFileError, match=words) as error:
            read_runs(file)
        assert error.value.remedy
