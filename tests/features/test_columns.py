"""Which feature columns are numeric, and how they are standardised."""

from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from dccgcn import load_dataset, read_tables
from dccgcn.features import neighbour_mean, normalise_rows, numeric_columns, standardised
from dccgcn.features.operator import normalise
from helpers import literal

RNG = np.random.default_rng(0)


def mixed(n: int = 60) -> np.ndarray:
    """An age, a category of three, a flag that most have, a count that few have, a number that is always the same."""
    age, kind = RNG.normal(40, 10, n), np.eye(3)[np.arange(n) % 3]
    flag, rare = np.arange(n) % 10 > 0, np.where(np.arange(n) % 5 == 0, RNG.integers(1, 9, n), 0)
    return np.column_stack([age, kind, flag, rare, np.full(n, 0.1)]).astype(np.float32)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_numeric_columns_are_filled_and_vary(form: Any) -> None:
    x = mixed()
    by = numeric_columns(form(x))
    assert by is not None
    assert by.columns.tolist() == [0, 6]
    made = standardised(form(x), by)
    made = made.toarray() if sp.issparse(made) else made
    np.testing.assert_allclose(made[:, [0]], StandardScaler().fit_transform(x[:, [0]]), atol=1e-4)
    np.testing.assert_array_equal(made[:, 1:6], x[:, 1:6])
    assert not made[:, 6].any()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_words_are_left_alone(form: Any) -> None:
    words = (RNG.random((50, 30)) < 0.2).astype(np.float32)
    assert numeric_columns(form(words)) is None
    assert standardised(words, None) is words


def test_columns_of_one_unit_are_left_alone() -> None:
    words = (RNG.random((50, 8)) < 0.2).astype(np.float32)
    numbers = 0.3 * StandardScaler().fit_transform(RNG.normal(3, 2, (50, 4))).astype(np.float32)
    assert numeric_columns(np.hstack([words, numbers])) is None
    by = numeric_columns(np.hstack([words, numbers, np.full((50, 1), 5, np.float32)]))
    assert by is not None
    assert by.columns.tolist() == [12]  # the constant one


def test_a_table_keeps_the_balance_of_its_kinds() -> None:
    n = 40
    rows = {"id": range(n), "age": RNG.normal(40, 9, n), "height": RNG.normal(170, 9, n), "kind": ["a", "b"] * 20}
    nodes = pd.DataFrame(rows).assign(label=[None] * 36 + ["x", "y"] * 2)
    tables = read_tables(nodes, pd.DataFrame({"source": range(n - 1), "target": range(1, n)}), label="label")
    assert numeric_columns(tables.graph.features) is None


def test_cora_has_none() -> None:
    assert numeric_columns(load_dataset("cora").graph.features) is None


def test_columns_of_different_units_are_standardised() -> None:
    x = RNG.normal(size=(200, 2))
    assert numeric_columns(x) is None
    scaling = numeric_columns(x * [1, 5])
    assert scaling.columns.tolist() == [0, 1]
    np.testing.assert_allclose(standardised(x * [1, 5], scaling), StandardScaler().fit_transform(x), atol=1e-4)


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sp.random_array((50, 20), density=0.1, rng=np.random.default_rng(0), dtype=np.float32, format="csr")
    a = sp.csr_array(sp.random_array((50, 50), density=0.1, rng=np.random.default_rng(1), dtype=np.float32))

    def made() -> list[np.ndarray]:
        matrices = *(normalise_rows(x, how) for how in ("row", "unit")), neighbour_mean(a), normalise(a, "symmetric")
        return [matrix.toarray() for matrix in matrices]

    whole = made()
    monkeypatch.setattr(import_module("dccgcn.features.columns"), "_BLOCK_ROWS", 7)
    for one, other in zip(made(), whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_column_is_numeric_if_three_quarters_of_the_nodes_have_a_value():
    rng = np.random.default_rng(0)
    x = rng.normal(5, 1, size=(100, 2))
    x[:30, 1] = 0
    assert numeric_columns(x).columns.tolist() == [0]
    x[:10, 1] = 5
    assert numeric_columns(x).columns.tolist() == [0, 1]


@pytest.mark.parametrize("how", ["raw", "row", "unit"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_are_scaled_by_the_formula(form: Any, how: str) -> None:
    x = RNG.normal(size=(60, 15)) * (RNG.random((60, 15)) < 0.15)
    found = normalise_rows(form(x), how)
    assert sp.issparse(found) == (form is sp.csr_array)
    found = found.toarray() if sp.issparse(found) else found
    np.testing.assert_allclose(found, literal.normalise_rows(x, how), rtol=1e-5)
