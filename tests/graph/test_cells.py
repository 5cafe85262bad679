"""Missing values, ids and labels."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dccgcn.graph.cells import (
    AMBIGUOUS_LABELS,
    MISSING_FEATURES,
    MISSING_LABELS,
    decode_labels,
    is_missing,
    spell_id,
    spell_label,
)


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.float32("nan"), Decimal("nan"), np.datetime64("NaT"), pd.NA, pd.NaT, "", " \t"]
)
def test_missing_everywhere(value):
    assert is_missing(value)
    assert is_missing(value, MISSING_LABELS)


@pytest.mark.parametrize("value", [0, 0.0, -1, False, np.inf, "0", (), [], np.array([np.nan, np.nan]), "-"])
def test_never_missing(value):
    assert not is_missing(value, MISSING_FEATURES)


def test_what_is_missing_as_text_depends_on_the_column():
    assert not is_missing("nan")  # an id may be called so
    assert is_missing(" nan ", MISSING_LABELS)
    assert not is_missing("NA", MISSING_LABELS)
    assert "NA".casefold() in AMBIGUOUS_LABELS
    assert is_missing("NA", MISSING_FEATURES)


def test_whole_floats_are_spelled_as_integers():
    assert [spell_id(i) for i in (7, 7.0, np.float64(7), "7", "7.0", 7.5)] == ["7", "7", "7", "7", "7.0", "7.5"]
    labels = [spell_label(y) for y in (2.0, np.int64(2), np.float32(2), "2", True, np.True_, 2.5)]
    assert labels == [2, 2, 2, "2", True, True, 2.5]
    assert [type(y) for y in labels] == [int, int, int, str, bool, bool, float]


def test_codes_become_names():
    assert decode_labels(np.array([1, -1, 0]), ("a", "b")) == ["b", None, "a"]
