"""Where the channels disagree, an answer is rebuilt from neighbours on which they agree: Eq. 7, on answers."""

import numpy as np
import scipy.sparse as sp

from dccgcn.operators import Operator


def agreeing_neighbours(views: dict[str, Operator], weights: dict[str, float], agree: np.ndarray) -> sp.csr_array:
    """W: for each node on which the channels disagree, its agreeing neighbours in both graphs; rows sum to 1 or 0.

    A graph counts as much as its channel is believed.
    """
    total = sp.csr_array((len(agree), len(agree)), dtype=np.float32)
    for name, view in views.items():
        total = total + np.float32(weights[name]) * sp.csr_array(view.matrix - sp.diags_array(view.matrix.diagonal()))
    rows, cols = sp.diags_array((~agree).astype(np.float32)), sp.diags_array(agree.astype(np.float32))
    kept = sp.csr_array(rows @ total @ cols)
    kept.eliminate_zeros()
    mass = np.asarray(kept.sum(axis=1)).reshape(-1)
    return sp.csr_array(sp.diags_array(np.divide(1, mass, out=np.zeros_like(mass), where=mass > 0)) @ kept)


def without_rows(support: sp.csr_array, nodes: np.ndarray) -> sp.csr_array:
    """W with the rows of these nodes empty."""
    kept = np.ones(support.shape[0], dtype=np.float32)
    kept[nodes] = 0
    left = sp.csr_array(sp.diags_array(kept) @ support)
    left.eliminate_zeros()
    return left


def repaired(f: np.ndarray, support: sp.csr_array, share: float) -> np.ndarray:
    """F_v ← (1-ρ) F_v + ρ Σ_u W_vu F_u where v has such neighbours; all other answers stay           (C9)"""
    has = np.diff(support.indptr) > 0
    result = f.copy()
    result[has] = (1 - share) * f[has] + share * (support @ f)[has]
    return result
