"""Counter-based random bits for dropout: a hash of (key, position), so masks need no memory.

They do not depend on threads, blocks or the order of evaluation. ``autograd.dropout_ops`` draws the same bits in torch.
"""

from typing import Any

import numba
import numpy as np

GOLDEN, MIX1, MIX2 = 0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35
MASK = 0xFFFFFFFF


def dropout_key(seed: int, epoch: int, site: int) -> int:
    """One key for each epoch and each dropout in a network."""
    key = 0
    for part in (seed & MASK, (seed >> 32) & MASK, epoch, site):
        key = finalise((key * GOLDEN + part + 1) & MASK)
    return key


def finalise(x: Any) -> Any:
    """The finaliser of MurmurHash3, of a Python int or an int64 tensor below 2^32."""
    x = ((x ^ (x >> 16)) * MIX1) & MASK
    x = ((x ^ (x >> 13)) * MIX2) & MASK
    return x ^ (x >> 16)


def threshold(p: float) -> int:
    """Elements whose bits are below this number are dropped: a share p of them."""
    return min(int(p * 2**32), MASK)


@numba.njit(inline="always")
def bits(key: np.uint32, position: int) -> np.uint32:
    """32 random bits for one position. The casts keep numba from widening to 64 bits, so that loops vectorise."""
    x = np.uint32(np.uint32(position) * np.uint32(GOLDEN)) + key
    x = np.uint32(x)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(16))) * np.uint32(MIX1))
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(13))) * np.uint32(MIX2))
    return np.uint32(x ^ np.uint32(x >> np.uint32(16)))
