"""The echo: what the answers of all others tell of a node like this one.

    R_i = m + (u_i - ū) B_i,   B_i = argmin_B Σ_{j≠i} |F_j - m - (u_j - ū) B|² + |B|²                      (C10)
    F ∝ F (R / √m)^s,   s = 1 - Σ |F - R|² / Σ |F - m|²                                                   (C11)

U is what is known of the nodes, m the mean of F. A handful of labels cannot teach what each feature means, but the
answers for all nodes can, wrong ones among them: each is one of many. No node is heard on its own account, as R_i is
learned from the others alone. And the echo counts by the share s of the answers that it explains: nothing where
features are noise. It knows how frequent classes seem to be, which labels that are given class by class do not tell;
half of that is taken over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dccgcn.kernels import softmax_rows
from dccgcn.models.concord.spectral_features import ROWS, gram

_RIDGE = 1.0  # the weight of |B|² in (C10): a node's own answer never decides a fit to all
_FAINT = 0.1  # of a class's mean: no echo is so faint as to rule a class out
_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class Room:
    """Where answers resound: U, and what of (C10) is the same for all answers, so that each echo is two products."""

    parts: Sequence[np.ndarray]  # U side by side, (n, width) each, rows of length 1
    mean: np.ndarray  # ū
    inverse: np.ndarray  # (U'U + I)⁻¹ of the centred U, (widths, widths)
    own: np.ndarray  # h: how much of a node's answer is its own in a fit to all, (n, 1)

    @classmethod
    def of(cls, *parts: np.ndarray) -> "Room":
        n, mean = len(parts[0]), np.concatenate([part.mean(axis=0, dtype=np.float64) for part in parts])
        spread = gram(*parts) - n * np.outer(mean, mean) + _RIDGE * np.eye(len(mean))
        inverse = cho_solve(cho_factor(spread), np.eye(len(mean))).astype(np.float32)
        room = cls(parts, mean.astype(np.float32), inverse, np.empty((n, 1), np.float32))
        for rows, u in room._centred():
            room.own[rows, 0] = 1 / n + np.einsum("ij,ij->i", u @ inverse, u)
        return room

    def echo(self, f: np.ndarray) -> np.ndarray:
        """R of (C10), (n, classes). For all nodes at once: R = (O - h F) / (1 - h), where O is the fit to all."""
        m = f.mean(axis=0)
        b = self.inverse @ np.vstack([part.T @ (f - m) for part in self.parts])
        heard = np.empty_like(f)
        for rows, u in self._centred():
            heard[rows] = m + u @ b
        return (heard - self.own * f) / (1 - self.own)

    def _centred(self) -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, len(self.own), ROWS):
            rows = slice(start, start + ROWS)
            yield rows, np.hstack([part[rows] for part in self.parts]) - self.mean


def explained(r: np.ndarray, f: np.ndarray) -> float:
    """s of (C11): the share of what differs between nodes that was heard without them, 0 if none."""
    differ = float(np.square(f - f.mean(axis=0)).sum())
    return max(0.0, 1 - float(np.square(f - r).sum()) / differ) if differ > 0 else 0.0


def resounded(f: np.ndarray, r: np.ndarray, m: np.ndarray, s: float) -> np.ndarray:
    """F of (C11), (n, classes)."""
    m = np.maximum(m, _LEAST)
    told = np.log(np.maximum(r, _FAINT * m)) - np.log(m) / 2
    scores = np.log(np.maximum(f, _LEAST)) + np.float32(s) * told
    return softmax_rows(scores.astype(np.float32), np.zeros(f.shape[1], np.float32), f.shape[1])
