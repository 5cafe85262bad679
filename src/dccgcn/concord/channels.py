"""Channels of the ensemble: a softmax regression on each view, and the labels spread along the edges."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dccgcn.concord.labels import Labels
from dccgcn.concord.neighbour_mi import mi_loss, refine_head, scale_to_confidence
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.softmax_regression import fit_head, predict_proba
from dccgcn.features import Operator, row_slices
from dccgcn.kernels import ppr_smooth
from dccgcn.runtime import column_sum, owned, take_rows

_MI_STEPS = 10  # of L-BFGS on the loss with (C4)
_TELEPORT, _N_STEPS = 0.1, 10  # of the smoothing (C5) of predictions
_LABEL_TELEPORT, _LABEL_STEPS = 0.05, 40  # of (C5) from labels
_FLOOR = 1e-4  # added to probabilities: a zero would veto the class in the pool
_LABEL_FLOOR = 0.02  # the same for spread labels, which are less certain
_MOST_COLUMNS = 256  # smoothed side by side
MOST_NUMBERS = 1 << 29  # of an array of them; there are three


@dataclass(frozen=True, eq=False)
class Channel:
    """One classifier of all nodes."""

    name: str  # of its view
    z: Sequence[np.ndarray] = ()  # the view in column blocks, (n, width) each; none: labels spread along the relation
    relation: Operator | None = None  # graph of (C4)
    keeps_confidence: bool = False  # whether (C4) leaves the mean confidence of its predictions as it is
    is_smoothed: bool = False  # whether its predictions are smoothed on the relation (C5)
    head: np.ndarray | None = None  # (W; b), (widths + 1, classes); None until it is fitted


def fit_full_head(channel: Channel, labels: Labels, settings: ConcordSettings) -> np.ndarray:
    """(C3) for all labels; on a relation, some steps with neighbour mutual information follow."""
    rows = _rows(channel, labels.nodes)
    head = fit_head(rows, labels.targets, _penalty(channel, settings))
    if channel.relation is None or settings.mi_weight == 0:
        return head
    loss = partial(
        mi_loss,
        channel.z[0],
        adjacency=channel.relation.adjacency,
        weight=settings.mi_weight * labels.targets.shape[1],
        labels=labels,
        l2=settings.l2,
    )
    refined = refine_head(head, loss, _MI_STEPS)
    return scale_to_confidence(channel.z[0], refined, head) if channel.keeps_confidence else refined


def log_proba(channel: Channel, labels: Labels) -> np.ndarray:
    """log P of a fitted channel, (n, classes) float32."""
    if channel.head is None:
        (p,) = spread_labels(channel.relation, [labels])
        p = _label_shares(p, column_sum(p).astype(np.float32))
    else:
        p = predict_proba(channel.z, channel.head)
        if channel.is_smoothed:
            assert channel.relation is not None
            p = ppr_smooth(channel.relation.matrix, p, _TELEPORT, _N_STEPS, overwrite=True)
    return _log_shares(p)


def held_out_log_proba(
    channel: Channel, labels: Labels, folds: Sequence[np.ndarray], settings: ConcordSettings
) -> np.ndarray:
    """log P of each given label by heads trained without its fold, (repeats, m, classes).

    Only the rows of the labels are predicted, unless predictions are smoothed. Heads start from zero: from that of all
    labels they would keep some of what they must not know.
    """
    c, parts = labels.targets.shape[1], _held_out_parts(folds)
    held = np.empty((len(folds), len(labels.nodes), c), np.float32)
    rows = _rows(channel, labels.nodes)
    heads = [fit_head(rows[~out], labels.targets[~out], _penalty(channel, settings)) for _, out in parts]
    if channel.is_smoothed:
        assert channel.relation is not None
        for some in _groups(len(parts), c, len(channel.z[0])):
            p = predict_proba(channel.z, *heads[some])
            p = ppr_smooth(channel.relation.matrix, p, _TELEPORT, _N_STEPS, overwrite=True)
            p = take_rows(p, labels.nodes).reshape(len(rows), -1, c)
            for at, (r, out) in enumerate(parts[some]):
                held[r, out] = p[out, at]
    else:
        p = predict_proba([rows], *heads).reshape(len(rows), -1, c)
        for at, (r, out) in enumerate(parts):
            held[r, out] = p[out, at]
    return _log_shares(held)


def spread_log_proba(channel: Channel, labels: Labels, folds: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """``held_out_log_proba`` and ``log_proba`` of spread labels in one pass: masses from disjoint labels add up."""
    parts = _held_out_parts(folds)
    at_labels, totals, everything = [], [], None
    for (r, _), q in zip(parts, spread_labels(channel.relation, [labels.subset(out) for _, out in parts]), strict=True):
        at_labels.append(take_rows(q, labels.nodes))
        totals.append(column_sum(q).astype(np.float32))
        if r == 0:
            everything = q.copy() if everything is None else np.add(everything, q, out=everything)
    assert everything is not None
    held = np.empty((len(folds), *labels.targets.shape), np.float32)
    for at, (r, out) in enumerate(parts):
        others = [i for i, (other, _) in enumerate(parts) if other == r and i != at]
        q = sum((at_labels[i][out] for i in others), start=np.zeros_like(held[r, out]))
        held[r, out] = _label_shares(q, sum((totals[i] for i in others), start=np.zeros_like(totals[at])))
    return _log_shares(held), _log_shares(_label_shares(everything, column_sum(everything).astype(np.float32)))


def spread_labels(relation: Operator | None, label_sets: Sequence[Labels]) -> Iterator[np.ndarray]:
    """The mass of each class at each node by (C5), from each set of labels, (n, classes) each."""
    assert relation is not None
    n, c = relation.matrix.shape[0], label_sets[0].targets.shape[1]
    for some in _groups(len(label_sets), c, n):
        y = np.zeros((n, len(label_sets[some]), c), np.float32)
        for i, labels in enumerate(label_sets[some]):
            which, at = owned(labels.nodes)
            y[at, i] = labels.targets[which]
        y = y.reshape(n, -1)
        q = ppr_smooth(relation.matrix, y, _LABEL_TELEPORT, _LABEL_STEPS, overwrite=True).reshape(n, -1, c)
        yield from (q[:, i] for i in range(q.shape[1]))


def _label_shares(q: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Class probabilities from masses, in place, and a floor: uniform where no label reaches.

    Every class is given the same ``total`` mass.
    """
    for rows in row_slices(len(q)):
        part = q[rows]
        part /= np.maximum(total, 1e-9)
        mass = part.sum(axis=1, keepdims=True)
        part /= np.maximum(mass, 1e-12)
        part[mass[:, 0] <= 1e-12] = 1 / q.shape[1]
        part += np.float32(_LABEL_FLOOR)
    return q


def _held_out_parts(folds: Sequence[np.ndarray]) -> list[tuple[int, np.ndarray]]:
    """Each fold of each repeat: the repeat, and which labels are held out, (m,)."""
    return [(r, fold == i) for r, fold in enumerate(folds) for i in range(fold.max() + 1)]


def _rows(channel: Channel, nodes: np.ndarray) -> np.ndarray:
    return np.hstack([take_rows(part, nodes) for part in channel.z])


def _penalty(channel: Channel, settings: ConcordSettings) -> float:
    """Side by side, k views have rows of length √k; their penalty is that of rows of unit length."""
    return settings.l2 * len(channel.z)


def _groups(count: int, c: int, n: int) -> Iterator[slice]:
    """Trainings whose predictions are smoothed side by side, so that memory does not grow with their number."""
    size = max(1, min(_MOST_COLUMNS, MOST_NUMBERS // n) // c)
    return (slice(start, start + size) for start in range(0, count, size))


def _log_shares(p: np.ndarray) -> np.ndarray:
    """log(p / Σp + floor) over the last axis."""
    return np.log(p / np.maximum(p.sum(axis=-1, keepdims=True), np.float32(1e-12)) + np.float32(_FLOOR))
