"""Leave-one-out ridge regression of the predictions on the views.

    R_i = m + (u_i - ū) B_i,   B_i = argmin_B Σ_{j≠i} |F_j - m - (u_j - ū) B|² + |B|²                  (C8)
    F ∝ P max(R, m/10)^s,   s = max(0, 1 - Σ |F - R|² / Σ |F - m|²)                                   (C9)

U (n, widths) are views, m is the mean of F, the predictions with the given labels in their place, and P the smoothed
pool. A few labels cannot determine a weight for each feature; the predictions of all nodes can, although some are
wrong. Each fit excludes its own node. The refit is weighted by its R², 0 where features are noise. R also carries the
predicted class frequencies, which balanced labels do not show.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dccgcn.features import cross, gram
from dccgcn.kernels import softmax_rows
from dccgcn.runtime import column_sum, row_count, row_mean, unit_slices

_L2 = 1.0  # weight of |B|² in (C8)
_MIN_RATIO = 0.1  # of m: a regression may be negative
_EPSILON = 1e-6


@dataclass(frozen=True, eq=False)
class LooRidge:
    """The part of (C8) that does not depend on F, so that each prediction costs two products."""

    parts: Sequence[np.ndarray]  # U in column blocks, (n, width) each, rows of unit length
    mean: np.ndarray  # ū, (widths,)
    inverse: np.ndarray  # (UᵀU + I)⁻¹ of the centred U, (widths, widths)
    leverage: np.ndarray  # h, (n, 1)

    @classmethod
    def fit(cls, *parts: np.ndarray) -> "LooRidge":
        n, mean = row_count(len(parts[0])), np.concatenate([row_mean(part) for part in parts])
        normal = gram(*parts) - n * np.outer(mean, mean) + _L2 * np.eye(len(mean))
        inverse = cho_solve(cho_factor(normal), np.eye(len(mean))).astype(np.float32)
        ridge = cls(parts, mean.astype(np.float32), inverse, np.empty((len(parts[0]), 1), np.float32))
        for rows, u in ridge._centred():
            ridge.leverage[rows, 0] = 1 / n + np.einsum("ij,ij->i", u @ inverse, u)
        return ridge

    def predict_loo(self, f: np.ndarray) -> np.ndarray:
        """R of (C8), (n, classes), for all nodes at once: R = (F̂ - h F) / (1 - h) with F̂ the fit to all nodes."""
        m = row_mean(f).astype(f.dtype)
        b = self.inverse @ np.vstack([cross(part, f - m) for part in self.parts]).astype(np.float32)
        fit = np.empty_like(f)
        for rows, u in self._centred():
            fit[rows] = m + u @ b
        return (fit - self.leverage * f) / (1 - self.leverage)

    def _centred(self) -> Iterator[tuple[slice, np.ndarray]]:
        for rows in unit_slices(len(self.leverage)):
            yield rows, np.hstack([part[rows] for part in self.parts]) - self.mean


def r_squared(r: np.ndarray, f: np.ndarray) -> float:
    """s of (C9), at least 0."""
    m = row_mean(f).astype(f.dtype)
    rest, variation = (float(column_sum(np.square(f - by)).sum()) for by in (r, m))
    return max(0.0, 1 - rest / variation) if variation > 0 else 0.0


def log_linear_fuse(p: np.ndarray, r: np.ndarray, m: np.ndarray, s: float) -> np.ndarray:
    """F of (C9), (n, classes)."""
    log_r = np.log(np.maximum(r, _MIN_RATIO * np.maximum(m, _EPSILON)))
    scores = np.log(np.maximum(p, _EPSILON)) + np.float32(s) * log_r
    return softmax_rows(scores.astype(np.float32), np.zeros(p.shape[1], np.float32), p.shape[1])
