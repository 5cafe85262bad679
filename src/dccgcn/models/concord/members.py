"""Members of the ensemble: a softmax regression on each view, and the labels spread along the edges."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dccgcn.kernels import ppr_smooth
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.neighbour_mi import mi_loss, refine_head, scale_to_confidence
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.softmax_regression import fit_head, predict_proba
from dccgcn.operators import Operator
from dccgcn.runtime.row_blocks import column_sum, owned, take_rows

_MI_STEPS = 10  # of L-BFGS on the loss with (C4)
_TELEPORT, _N_STEPS = 0.1, 10  # of the smoothing (C5) of predictions
_LABEL_TELEPORT, _LABEL_STEPS = 0.05, 40  # of (C5) from labels
_FLOOR = 1e-4  # added to probabilities: a zero would veto the class in the pool
_LABEL_FLOOR = 0.02  # the same for spread labels, which are less certain
_MOST_COLUMNS = 256  # smoothed side by side


@dataclass(frozen=True, eq=False)
class Member:
    """One classifier of all nodes."""

    name: str  # of its view
    z: Sequence[np.ndarray] = ()  # the view in column blocks, (n, width) each; none: labels spread along the relation
    relation: Operator | None = None  # graph of (C4)
    keeps_confidence: bool = False  # whether (C4) leaves the mean confidence of its predictions as it is
    is_smoothed: bool = False  # whether its predictions are smoothed on the relation (C5)
    head: np.ndarray | None = None  # (W; b), (widths + 1, classes); None until it is fitted


def fit_full_head(member: Member, given: Labels, settings: ConcordSettings) -> np.ndarray | None:
    """(C3) for all labels; on a relation, some steps with neighbour mutual information follow."""
    if not member.z:
        return None
    rows = _rows(member, given.nodes)
    head = fit_head(rows, given.targets, _penalty(member, settings))
    if member.relation is None or settings.mi_weight == 0:
        return head
    loss = partial(
        mi_loss,
        member.z[0],
        adjacency=member.relation.adjacency,
        weight=settings.mi_weight * given.targets.shape[1],
        labels=given,
        l2=settings.l2,
    )
    refined = refine_head(head, loss, _MI_STEPS)
    return scale_to_confidence(member.z[0], refined, head) if member.keeps_confidence else refined


def log_proba(member: Member, given: Labels) -> np.ndarray:
    """log P of a fitted member, (n, classes) float32."""
    if member.head is None:
        p = propagate_labels(member.relation, [given])[0] + np.float32(_LABEL_FLOOR)
    else:
        p = predict_proba(member.z, member.head)
        if member.is_smoothed:
            assert member.relation is not None
            p = ppr_smooth(member.relation.matrix, p, _TELEPORT, _N_STEPS)
    return _log_shares(p)


def held_out_log_proba(
    member: Member, given: Labels, folds: Sequence[np.ndarray], settings: ConcordSettings
) -> np.ndarray:
    """log P of each given label by heads trained without its fold, (repeats, m, classes).

    Only the rows of the labels are predicted, unless predictions are smoothed. Heads start from zero: from that of all
    labels they would keep some of what they must not know.
    """
    c = given.targets.shape[1]
    parts = [(r, fold == i) for r, fold in enumerate(folds) for i in range(fold.max() + 1)]
    held = np.empty((len(folds), len(given.nodes), c), np.float32)
    if not member.z:
        spread = propagate_labels(member.relation, [given.subset(~out) for _, out in parts])
        for (r, out), p in zip(parts, spread, strict=True):
            held[r, out] = take_rows(p, given.nodes[out]) + np.float32(_LABEL_FLOOR)
        return _log_shares(held)
    rows = _rows(member, given.nodes)
    heads = [fit_head(rows[~out], given.targets[~out], _penalty(member, settings)) for _, out in parts]
    if member.is_smoothed:
        assert member.relation is not None
        for some in _groups(len(parts), c):
            p = predict_proba(member.z, *heads[some])
            p = ppr_smooth(member.relation.matrix, p, _TELEPORT, _N_STEPS)
            p = take_rows(p, given.nodes).reshape(len(rows), -1, c)
            for at, (r, out) in enumerate(parts[some]):
                held[r, out] = p[out, at]
    else:
        p = predict_proba([rows], *heads).reshape(len(rows), -1, c)
        for at, (r, out) in enumerate(parts):
            held[r, out] = p[out, at]
    return _log_shares(held)


def propagate_labels(relation: Operator | None, label_sets: Sequence[Labels]) -> list[np.ndarray]:
    """Class probabilities from each set of labels by (C5), (n, classes) each; uniform where no label reaches.

    Every class is given the same total mass.
    """
    assert relation is not None
    n, c = relation.matrix.shape[0], label_sets[0].targets.shape[1]
    found = []
    for some in _groups(len(label_sets), c):
        y = np.zeros((n, len(label_sets[some]), c), np.float32)
        for i, labels in enumerate(label_sets[some]):
            which, at = owned(labels.nodes)
            y[at, i] = labels.targets[which]
        q = ppr_smooth(relation.matrix, y.reshape(n, -1), _LABEL_TELEPORT, _LABEL_STEPS).reshape(y.shape)
        q /= np.maximum(column_sum(q).astype(np.float32), 1e-9)
        mass = q.sum(axis=2, keepdims=True)
        p = np.where(mass > 1e-12, q / np.maximum(mass, 1e-12), np.float32(1 / c))
        found += [p[:, i] for i in range(p.shape[1])]
    return found


def _rows(member: Member, nodes: np.ndarray) -> np.ndarray:
    return np.hstack([take_rows(part, nodes) for part in member.z])


def _penalty(member: Member, settings: ConcordSettings) -> float:
    """Side by side, k views have rows of length √k; their penalty is that of rows of unit length."""
    return settings.l2 * len(member.z)


def _groups(count: int, c: int) -> Iterator[slice]:
    """Trainings whose predictions are smoothed side by side, so that memory does not grow with their number."""
    size = max(1, _MOST_COLUMNS // c)
    return (slice(start, start + size) for start in range(0, count, size))


def _log_shares(p: np.ndarray) -> np.ndarray:
    """log(p / Σp + floor) over the last axis."""
    return np.log(p / np.maximum(p.sum(axis=-1, keepdims=True), np.float32(1e-12)) + np.float32(_FLOOR))
