"""Feature columns weighted or standardised; feature rows as given, or scaled to unit L1 or L2 norm."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field

from dccgcn.graph import NodeGraph

Scaling = Literal["raw", "row", "unit"]

_MIN_FILLED = 0.75  # share of nodes with a non-zero value above which a column is numeric, not a term or category
_BLOCK_ROWS = 65536  # rows whose entries are scaled at a time
_SAME_UNIT = 2  # standard deviations within this ratio count as one unit
_MIN_DEVIATION = 1e-6  # of a column's mean: below, differences are rounding errors


def scaling(default: Scaling) -> Any:
    """The setting of every method that reads features."""
    return Field(
        default, description="Feature rows as given, divided by the sum of their absolute values, or of unit length."
    )


def normalise_rows(features: Any, how: Scaling) -> Any:
    """A matrix of the same kind with its rows scaled; zero rows stay zero."""
    if how == "raw":
        return features
    if not sp.issparse(features):
        norm = np.abs(features).sum(axis=1) if how == "row" else np.sqrt(np.einsum("ij,ij->i", features, features))
        norm[norm < 10 * np.finfo(norm.dtype).eps] = 1
        return features / norm[:, None]
    result = sp.csr_array(features, copy=True)
    for entries, rows in entry_blocks(result.indptr):
        values, first = result.data[entries], rows[:1].sum()  # of none: 0
        total = np.bincount(
            rows - first, weights=np.abs(values) if how == "row" else values * values
        )  # double precision
        norm = total if how == "row" else np.sqrt(total)
        norm[norm == 0] = 1
        result.data[entries] = values / norm[rows - first]
    return result


def entry_blocks(indptr: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The entries of a CSR matrix in blocks of rows, and the row of each: no array as long as all entries is made."""
    n = len(indptr) - 1
    for first in range(0, n, _BLOCK_ROWS):
        last = min(first + _BLOCK_ROWS, n)
        yield slice(indptr[first], indptr[last]), np.repeat(np.arange(first, last), np.diff(indptr[first : last + 1]))


def weight_columns(features: Any, weights: np.ndarray | None) -> Any:
    """A matrix of the same kind with each column multiplied by its weight."""
    if weights is None:
        return features
    if not sp.issparse(features):
        return features * weights
    values = weights[features.indices]
    values *= features.data
    return sp.csr_array((values, features.indices, features.indptr), shape=features.shape)


@dataclass(frozen=True, eq=False)
class NumericColumns:
    """Columns with numeric values, such as an age or a coordinate of an embedding, and their moments."""

    columns: np.ndarray  # (m,) positions
    mean: np.ndarray  # (m,)
    deviation: np.ndarray  # (m,)


def numeric_columns(features: Any) -> NumericColumns | None:
    """The columns to standardise: most nodes have a value, and values differ; None if there are none.

    Zero and unit of such a column are arbitrary but would decide which rows are similar. If all of them share one zero
    and one unit already, they are left as they are: their scale is deliberate. Constant columns are included; they
    carry no information.
    """
    n = features.shape[0]
    filled = np.asarray((features != 0).sum(axis=0)).reshape(-1)
    columns = np.flatnonzero(filled > _MIN_FILLED * n)
    by_column = sp.csc_array(features[:, columns]) if sp.issparse(features) else features[:, columns]
    moments = []
    for at, column in enumerate(columns):
        values = by_column[:, [at]].toarray() if sp.issparse(by_column) else by_column[:, at]
        values = values.reshape(-1).astype(np.float64)
        present = values[values != 0]
        if filled[column] == n or (present != present[0]).any():
            mean, deviation = values.mean(), values.std()
            moments.append((column, mean, deviation if deviation > _MIN_DEVIATION * abs(mean) else 0))
    if not moments:
        return None
    kept, means, deviations = map(np.array, zip(*moments, strict=True))
    differ = deviations > 0
    if differ.any():
        unit = deviations[differ].min()
        if (deviations <= _SAME_UNIT * unit).all() and (abs(means[differ]) <= unit / 2).all():
            kept, means, deviations = kept[~differ], means[~differ], deviations[~differ]
    return NumericColumns(kept, means.astype(np.float32), deviations.astype(np.float32)) if len(kept) else None


def numeric_columns_of(graph: NodeGraph) -> NumericColumns | None:
    """The numeric columns of a graph's features, computed once."""
    return graph.cached(("numeric columns",), lambda: numeric_columns(graph.features))


def columns_to_standardise(graph: NodeGraph, few: int) -> NumericColumns | None:
    """All columns if there are at most ``few``, else the numeric ones, computed once; None if there are none."""
    if graph.d > few:
        return numeric_columns_of(graph)

    def moments() -> NumericColumns:
        x = np.asarray(graph.features.toarray() if sp.issparse(graph.features) else graph.features, dtype=np.float64)
        mean, deviation = x.mean(axis=0), x.std(axis=0)
        deviation[deviation <= _MIN_DEVIATION * abs(mean)] = 0  # rounding errors of a constant
        return NumericColumns(np.arange(graph.d), mean.astype(np.float32), deviation.astype(np.float32))

    return graph.cached(("numeric columns", "all"), moments)


def standardised(features: Any, by: NumericColumns | None) -> Any:
    """A matrix of the same kind with its numeric columns at mean 0 and variance 1; constant ones become 0."""
    if by is None:
        return features
    scale = np.divide(1, by.deviation, where=by.deviation > 0, out=np.zeros_like(by.deviation))
    if not sp.issparse(features):
        result = features.copy()
        result[:, by.columns] = (result[:, by.columns] - by.mean) * scale
        return result
    n, d = features.shape
    weights = np.ones(d, dtype=np.float32)
    weights[by.columns] = scale
    shift = np.tile(-by.mean * scale, n)
    rows = np.arange(0, shift.size + 1, len(by.columns))
    shifts = sp.csr_array((shift, np.tile(by.columns, n), rows), shape=(n, d))
    return sp.csr_array(weight_columns(features, weights) + shifts)
