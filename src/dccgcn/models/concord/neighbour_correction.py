"""Where the channels disagree, a prediction is averaged with those of agreeing neighbours: Eq. 7 on predictions."""

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from dccgcn.operators import Operator


def correction_weights(
    operators: Mapping[str, Operator], channel_weights: Mapping[str, float], agree: np.ndarray
) -> sp.csr_array:
    """W of (C9): edges from nodes where the channels disagree to neighbours where they agree; rows sum to 1 or 0.

    The edges of both graphs are added, each graph times its channel's weight.
    """
    total = sp.csr_array((len(agree), len(agree)), dtype=np.float32)
    for channel, weight in channel_weights.items():
        s = operators[channel].matrix
        total = total + np.float32(weight) * sp.csr_array(s - sp.diags_array(s.diagonal()))
    rows, cols = sp.diags_array((~agree).astype(np.float32)), sp.diags_array(agree.astype(np.float32))
    kept = sp.csr_array(rows @ total @ cols)
    kept.eliminate_zeros()
    mass = np.asarray(kept.sum(axis=1)).reshape(-1)
    return sp.csr_array(sp.diags_array(np.divide(1, mass, out=np.zeros_like(mass), where=mass > 0)) @ kept)


def without_rows(support: sp.csr_array, nodes: np.ndarray) -> sp.csr_array:
    """W with the rows of these nodes empty."""
    kept = np.ones(support.shape[0], dtype=np.float32)
    kept[nodes] = 0
    result = sp.csr_array(sp.diags_array(kept) @ support)
    result.eliminate_zeros()
    return result


def corrected(f: np.ndarray, support: sp.csr_array, rho: float) -> np.ndarray:
    """F_v ← (1-ρ) F_v + ρ Σ_u W_vu F_u for each v with a row in W                                    (C9)"""
    has = np.diff(support.indptr) > 0
    result = f.copy()
    result[has] = (1 - rho) * f[has] + rho * (support @ f)[has]
    return result
