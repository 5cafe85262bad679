"""Checks and conversions behind NodeGraph, one function for each of its arguments."""

import numbers
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError, check_choice
from dccgcn.graph.cells import is_missing, is_text, is_too_long, plain_id, spell_id, spell_label
from dccgcn.text import first_few

_CHANCE = 0.05  # share of pairs that may be given in both directions by accident
_SHORT_ID = 40  # characters: one long id must not lengthen the array of all
LARGEST = 1e15  # of features, weights and all numbers of models: its square is finite in single precision
_SMALLEST = 1e-18  # its square is not zero in single precision


def feature_rows(features: Any) -> int:
    """Number of nodes, read off the feature matrix."""
    shape = np.shape(features) if not sp.issparse(features) else features.shape
    if len(shape) != 2:
        raise GraphError(
            f"Features must be a matrix with one row per node, but have shape {tuple(shape)}.",
            "Pass an (n, d) array; a single feature is an (n, 1) array.",
        )
    if shape[0] == 0:
        raise GraphError("The graph has no nodes.", "Pass at least two nodes.")
    if shape[1] == 0:
        raise GraphError(
            "There are no feature columns.",
            "Where there are none, pass np.ones((n, 1)) and featureless=True to learn from the edges alone.",
        )
    return int(shape[0])


def node_count(edges: Any, labels: Any, node_ids: Any) -> int:
    """Number of nodes of a graph without features: as many as ids or labels, else by its edges."""
    for sequence in (node_ids, labels):
        if sequence is not None:
            return len(sequence)
    if sp.issparse(edges):
        return int(edges.shape[0])
    pairs = pairs_of(edges)
    return int(pairs.max()) + 1 if len(pairs) else 0


def names(sequence: Any, n: int) -> np.ndarray:
    """A text for each node; missing ones are empty."""
    listed = ["" if is_missing(name) else str(name) for name in sequence]
    if len(listed) != n:
        raise GraphError(f"There are {len(listed)} names for {n} nodes.", "Give one name per node.")
    return np.array(listed, dtype=object)


def vectors(matrix: Any, n: int) -> np.ndarray:
    """A finite float32 vector for each node, (n, width)."""
    rows = np.array(matrix, dtype=np.float32, order="C")
    if rows.ndim != 2 or rows.shape[0] != n or not (np.abs(rows) <= LARGEST).all():
        raise GraphError(
            f"The vectors have shape {rows.shape} for {n} nodes, or numbers that are not finite.",
            "Give one row of numbers per node.",
        )
    return rows


def ids(sequence: Any, n: int) -> np.ndarray:
    """Unique ids, one per node, kept as they were given."""
    if sequence is None:
        return np.arange(n)
    _check_one_each(sequence, "ids")
    if len(sequence) != n:
        raise GraphError(f"There are {len(sequence)} ids for {n} rows of features.", "Give one id per node.")
    if (
        isinstance(sequence, np.ndarray)
        and sequence.dtype.kind in "iu"
        and (sequence.dtype != np.uint64 or sequence.max() < 2**63)
    ):
        listed = sequence.astype(np.int64)  # a copy: the caller's array must stay writable
    else:
        values = sequence.tolist() if isinstance(sequence, np.ndarray) else _objects(sequence).tolist()
        is_simple = {*map(type, values)} == {str} and all(map(str.strip, values)) and is_text("".join(values))
        listed = _id_array(values if is_simple else [plain_id(i) for i in values])
    if len(np.unique(listed) if listed.dtype.kind in "iU" else set(map(spell_id, listed.tolist()))) == n:
        return listed
    seen: dict[Any, Any] = {}
    for i in listed.tolist():
        key = spell_id(i)
        if key in seen:
            other = seen[key]
            if type(other) is not type(i):
                raise GraphError(
                    f"The ids {other!r} and {i!r} differ only in type.",
                    "Read the id column as text, or as numbers, throughout.",
                )
            positions = [p for p, x in enumerate(listed.tolist()) if spell_id(x) == key]
            raise GraphError(
                f"The node id {first_few([i])} occurs {len(positions)} times (rows {first_few(positions)}).",
                "Give every node an id of its own.",
            )
        seen[key] = i
    return listed


def features(
    matrix: Any,
    node_ids: np.ndarray,
    impute: Literal["error", "zero", "mean"],
    featureless: bool,
    findings: list[Finding],
) -> Any:
    """Finite float32 features; zero rows are named, constant features refused unless asked for."""
    check_choice("impute", impute, ("error", "zero", "mean"))
    x: Any
    if sp.issparse(matrix):
        _check_size(matrix.data)
        x = sp.csr_array(matrix, dtype=np.float32, copy=True)
        x.sum_duplicates()
        if x.indices.dtype == np.int64 and max(x.nnz, x.shape[1]) < 2**31:  # half the memory
            x = sp.csr_array((x.data, x.indices.astype(np.int32), x.indptr.astype(np.int32)), shape=x.shape)
    else:
        try:
            with np.errstate(over="ignore"):
                x = np.array(matrix, dtype=np.float32, order="C")
        except (TypeError, ValueError) as error:
            raise GraphError(f"Features must be numbers ({error}).", "Encode text and categories first.") from error
        _check_size(np.asarray(matrix))
    values = x.data if sp.issparse(x) else x
    if not np.isfinite(values).all():
        _impute(x, node_ids, impute, findings)
    _drop_tiny(values, findings)
    if sp.issparse(x):
        x.eliminate_zeros()
        x.sort_indices()
        zero = np.diff(x.indptr) == 0
    else:
        zero = ~x.any(axis=1)
    if len(node_ids) > 1 and is_constant(x):
        if not featureless:
            raise GraphError(
                "All nodes have the same features, so no feature graph is possible.",
                "Give features that differ, or learn from the edges alone (--featureless, featureless=True).",
            )
        text = "All nodes have the same features: only the edges distinguish them."
        findings.append(Finding("warning", "no-features", text))
    elif zero.any():
        text = f"{int(zero.sum())} nodes have only zero features; in the feature graph they have no neighbours"
        findings.append(Finding("warning", "zero-features", f"{text}: {first_few(node_ids[zero])}."))
    return x


def _check_size(values: np.ndarray) -> None:
    if values.dtype.kind != "f" or values.size == 0:
        return
    finite = np.isfinite(values)
    largest = max(values.max(where=finite, initial=0), -values.min(where=finite, initial=0))
    if largest > LARGEST:
        raise GraphError(
            f"A feature is as large as {largest:.1e}: its square is beyond single precision.",
            "Scale the columns, for example by their standard deviation.",
        )


def _drop_tiny(values: np.ndarray, findings: list[Finding]) -> None:
    """Set features to zero, in place, whose squares are zero in single precision: unit rows of them do not exist."""
    tiny = (np.abs(values) < _SMALLEST) & (values != 0)
    if tiny.any():
        values[tiny] = 0
        text = f"{int(tiny.sum())} features are smaller than {_SMALLEST:g} and count as zero; scale the columns if not."
        findings.append(Finding("warning", "tiny-features", text))


def is_constant(x: Any) -> bool:
    """Whether all rows are the same."""
    if not sp.issparse(x):
        return bool((x == x[0]).all())
    width = x.indptr[1]  # entries in the first row; columns are sorted and zeros are gone
    return bool(
        (np.diff(x.indptr) == width).all()
        and (x.indices.reshape(x.shape[0], width) == x.indices[:width]).all()
        and (x.data.reshape(x.shape[0], width) == x.data[:width]).all()
    )


def _impute(x: Any, node_ids: np.ndarray, impute: Literal["error", "zero", "mean"], findings: list[Finding]) -> None:
    """Replace what is not finite, in place."""
    values = x.data if sp.issparse(x) else x
    bad = ~np.isfinite(values)
    if sp.issparse(x):
        bad_rows, bad_cols = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))[bad], x.indices[bad]
    else:
        bad_rows, bad_cols = np.nonzero(bad)
    where = f"{len(bad_rows)} features are NaN or infinite, at nodes {first_few(node_ids[np.unique(bad_rows)])}"
    if impute == "error":
        raise GraphError(f"{where}.", "Fix them, or pass impute='zero' or impute='mean'.")
    values[bad] = 0
    filling = "zero"
    if impute == "mean":
        filling = "the mean of their column"
        count = x.shape[0] - np.bincount(bad_cols, minlength=x.shape[1])
        means = np.asarray(x.sum(axis=0), dtype=np.float32).reshape(-1) / np.maximum(count, 1)
        values[bad] = means[bad_cols]
    findings.append(Finding("warning", "imputed-features", f"{where}; replaced by {filling}."))


def edges(edges: Any, weights: Any, node_ids: np.ndarray, findings: list[Finding]) -> tuple[np.ndarray, np.ndarray]:
    """Unique undirected pairs u < v with their weights."""
    n = len(node_ids)
    if sp.issparse(edges):
        if edges.shape != (n, n):
            raise GraphError(
                f"The adjacency matrix has shape {edges.shape} for {n} nodes.", "It must be square, a row per node."
            )
        if weights is not None:
            raise GraphError("The adjacency matrix has weights of its own.", "Leave edge_weights out.")
        coo = sp.coo_array(edges)
        there = coo.data != 0  # a zero that is stored is no edge
        pairs, weights = np.stack([coo.row, coo.col], axis=1, dtype=np.int64, casting="unsafe"), coo.data
        if not there.all():
            pairs, weights = pairs[there], weights[there]
    else:
        pairs = pairs_of(edges)
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused below
            w = np.ones(len(pairs), np.float32) if weights is None else np.asarray(weights, np.float32).reshape(-1)
    except (TypeError, ValueError) as error:
        raise GraphError(f"Edge weights must be numbers ({error}).", "Give one positive number per edge.") from error
    if len(w) != len(pairs):
        raise GraphError(f"There are {len(w)} edge weights for {len(pairs)} edges.", "Give one weight per edge.")
    bad = np.flatnonzero(~(np.isfinite(w) & (w > 0)))
    if len(bad):
        raise GraphError(
            f"{len(bad)} edge weights are negative, zero or not finite, at edges {first_few(bad)}.",
            "Weights must be positive; leave edges that do not exist out.",
        )
    extreme = np.flatnonzero((w < _SMALLEST) | (w > LARGEST))
    if len(extreme):
        raise GraphError(
            f"{len(extreme)} edge weights are smaller than {_SMALLEST:g} or larger than {LARGEST:g}, at edges "
            f"{first_few(extreme)}.",
            "Scale the weights, for example by their mean.",
        )
    outside = np.flatnonzero((pairs < 0).any(axis=1) | (pairs >= n).any(axis=1))
    if len(outside):
        raise GraphError(
            f"{len(outside)} edges point outside the {n} nodes, at edges {first_few(outside)}.",
            "Edges are pairs of node positions from 0 to n-1.",
        )
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        text = f"{int(loops.sum())} self-loops removed (each method adds its own once)."
        findings.append(Finding("note", "self-loops", text))
        pairs, w = pairs[~loops], w[~loops]
    return _merge(pairs, w, node_ids, findings)


def pairs_of(edges: Any) -> np.ndarray:
    """Edges as (E, 2) positions."""
    if sp.issparse(edges):
        raise GraphError("Edges must be pairs here, not a matrix.", "Pass np.argwhere(matrix.toarray()).")
    pairs = np.asarray(edges)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        hint = " (PyG's edge_index is its transpose)" if pairs.ndim == 2 and pairs.shape[0] == 2 else ""
        raise GraphError(f"Edges must have shape (E, 2), not {pairs.shape}{hint}.", "Pass one pair per row.")
    if pairs.dtype.kind not in "iu":
        raise GraphError(
            f"Edges must be integer node positions, not {pairs.dtype}.", "Map ids to positions, or read from tables."
        )
    return pairs.astype(np.int64, copy=False)


def _merge(
    pairs: np.ndarray, w: np.ndarray, node_ids: np.ndarray, findings: list[Finding]
) -> tuple[np.ndarray, np.ndarray]:
    n = len(node_ids)
    ordered = pairs[:, 0] * n + pairs[:, 1]
    ordered.sort()  # np.unique hashes instead, ten times slower on millions
    directed = int(_first_of_equals(ordered).sum())
    del ordered  # each array of a hundred million edges is a gigabyte
    key = pairs.min(axis=1, initial=n) * n
    key += pairs.max(axis=1, initial=-1)
    if (key[1:] > key[:-1]).all():  # none twice
        weights = w.copy()
    elif (w == w[0]).all():
        key.sort()
        key = key[_first_of_equals(key)]
        weights = np.full(len(key), w[0])
    else:
        order = np.argsort(key)
        key = key[order]
        starts = np.flatnonzero(_first_of_equals(key))
        key, weights = key[starts], np.maximum.reduceat(w[order], starts)
        del order, starts
    unique = np.empty((len(key), 2), np.int64)
    np.divmod(key, n, out=(unique[:, 0], unique[:, 1]))
    duplicates = len(pairs) - directed
    if duplicates:
        findings.append(Finding("note", "duplicate-edges", f"{duplicates} duplicate edges merged."))
    both = directed - len(key)  # pairs that were given in both directions
    if 0 < both < len(key):
        text = f"{both} of {len(key)} pairs are given in both directions, the others in one; edges count as undirected."
        findings.append(Finding("warning" if both > _CHANCE * len(key) else "note", "directed-edges", text))
    if len(key) == 0:
        text = "The graph has no edges: the topology channel uses features only, like an MLP."
        findings.append(Finding("warning", "no-edges", text))
        return unique, weights
    isolated = np.flatnonzero(np.bincount(unique.ravel(), minlength=n) == 0)
    if len(isolated):
        text = f"{len(isolated)} nodes have no edges; only their features are used: {first_few(node_ids[isolated])}."
        findings.append(Finding("warning", "isolated-nodes", text))
    return unique, weights


def _first_of_equals(ordered: np.ndarray) -> np.ndarray:
    """Which entries of a sorted array differ from the one before."""
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first


def labels(
    sequence: Any, class_names: Sequence[Any] | None, unlabelled: Sequence[Any], n: int
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Positions in the class names, -1 where the label is missing."""
    names = () if class_names is None else tuple(class_names)
    if -1 in map(spell_label, names):
        raise GraphError("-1 is among the classes, but marks nodes without a label.", "Give that class another name.")
    if sequence is None:
        return np.full(n, -1), names
    _check_one_each(sequence, "labels")
    if len(sequence) != n:
        raise GraphError(f"There are {len(sequence)} labels for {n} rows of features.", "Give one label per node.")
    if isinstance(sequence, np.ndarray) and sequence.dtype.kind in "iu" and sequence.ndim == 1:
        distinct, which = np.unique(sequence, return_inverse=True)  # of a million labels few differ
        if len(distinct) < n:
            codes, names = labels(distinct, class_names, unlabelled, len(distinct))
            return codes[which], names
    listed = _objects(sequence)
    marks = [spell_label(u) for u in unlabelled]
    values = [None if _is_unlabelled(y, marks) else y for y in map(spell_label, listed.tolist())]
    check_names([y for y in values if y is not None], "label")
    check_names(names, "class")
    known = [y for y in values if y is not None]
    if "-1" in known and "-1" not in names:
        raise GraphError(
            "A label is the text '-1': a class of that name, or unlabelled?",
            "Pass unlabelled=['-1'] (--unlabelled=-1) if it marks unlabelled nodes, else name it among the classes.",
        )
    fractions = [y for y in known if isinstance(y, float)]
    if fractions:
        raise GraphError(
            f"Labels must be classes, but some are fractions: {first_few(dict.fromkeys(fractions))}.",
            "This is classification: round or bin the values into classes first.",
        )
    seen = {(type(y), y): y for y in known}  # by type as well: 1 and True are equal, but two labels
    names = names if class_names is not None else tuple(sorted(seen.values(), key=_order))
    position = {(type(name), name): p for p, name in enumerate(map(spell_label, names))}
    if len(position) != len(names):
        raise GraphError(f"Class names repeat: {first_few(names)}.", "Name every class once.")
    unknown = sorted({str(y) for y in known if (type(y), y) not in position})
    if unknown:
        raise GraphError(
            f"Labels outside the listed classes: {first_few(unknown)}.", "Add them to classes, or correct them."
        )
    found = [-1 if y is None else position[(type(y), y)] for y in values]
    return np.array(found, dtype=np.int64), names


def codes(positions: Any, n_classes: int, n: int) -> np.ndarray:
    """Positions in the class names, one per node, -1 where the label is missing."""
    positions = np.array(positions, dtype=np.int64).reshape(-1)
    if len(positions) != n:
        raise GraphError(f"There are {len(positions)} labels for {n} nodes.", "Give one label per node.")
    if n and not (positions.min() >= -1 and positions.max() < n_classes):
        raise GraphError(
            f"Labels are positions from {positions.min()} to {positions.max()}, but there are {n_classes} classes.",
            "Positions are -1 for unlabelled, and 0 to the number of classes less one.",
        )
    return positions


def _id_array(ids: Sequence[str | int]) -> np.ndarray:
    """Ids as int64 or fixed-length text where they fit, else as objects."""
    kinds = {type(i) for i in ids}
    if kinds == {int} and min(ids) >= -(2**63) and max(ids) < 2**63:  # type: ignore[operator]
        return np.array(ids, np.int64)
    if kinds == {str}:
        lengths = [len(str(i)) for i in ids]
        if max(lengths) <= max(_SHORT_ID, 2 * sum(lengths) / len(ids)):
            return np.array(ids)
    array = np.empty(len(ids), dtype=object)
    array[:] = ids
    return array


def check_names(values: Iterable[Any], what: str) -> None:
    """Raise a GraphError unless labels or class names are text, numbers or booleans, which every file gives back."""
    strange = [value for value in values if not isinstance(value, str | int | float | np.generic)]
    strange = strange or [text for text in values if isinstance(text, str) and not is_text(text)]
    if any(map(is_too_long, values)):
        raise GraphError(f"A {what} is a number of more than 3,000 digits.", "Give shorter names.")
    if strange:
        raise GraphError(
            f"A {what} is a {type(strange[0]).__name__}: {ascii(strange[0])[:60]}.",
            "Give one name per node: text, a whole number, or True and False.",
        )


def _check_one_each(sequence: Any, what: str) -> None:
    """A list in the nodes' order; a table, a matrix or a mapping would be read as something else."""
    shape = getattr(sequence, "shape", None)
    if shape is not None and len(shape) != 1:
        raise GraphError(
            f"The {what} have shape {tuple(shape)}, but are a list with one for each node.",
            "Pass one column; of one-hot rows, rows.argmax(axis=1).",
        )
    if isinstance(sequence, Mapping | Set) or not hasattr(sequence, "__len__"):
        raise GraphError(
            f"The {what} are a {type(sequence).__name__}, but must be a list with one for each node.",
            "List them in the order of the rows of the features.",
        )


def _objects(sequence: Any) -> np.ndarray:
    array = np.empty(len(sequence), dtype=object)
    for position, item in enumerate(sequence.tolist() if hasattr(sequence, "tolist") else sequence):
        array[position] = item  # one by one: a slice would spread tuples over columns
    return array


def _is_unlabelled(y: Any, unlabelled: Sequence[Any]) -> bool:
    if is_missing(y) or any(type(y) is type(u) and y == u for u in unlabelled):
        return True
    return isinstance(y, numbers.Real) and not isinstance(y, bool) and y == -1


def _order(y: Any) -> tuple[str, Any]:
    return (type(y).__name__, y)
