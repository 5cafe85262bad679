"""Counter-based random bits for dropout: a hash of (key, position), so masks need no memory.

They do not depend on threads, blocks or the order in which entries are visited, and numba and torch
draw the same ones.
"""

import numba
import numpy as np
import torch
from torch import Tensor

_GOLDEN, _MIX1, _MIX2 = 0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35  # the finaliser of MurmurHash3, 32 bits
_MASK = 0xFFFFFFFF


def dropout_key(seed: int, epoch: int, site: int) -> int:
    """One key for each place in the network where something is dropped, in each epoch."""
    key = 0
    for part in (seed & _MASK, (seed >> 32) & _MASK, epoch, site):
        key = _finalise((key * _GOLDEN + part + 1) & _MASK)
    return key


def _finalise(x: int) -> int:
    x = ((x ^ (x >> 16)) * _MIX1) & _MASK
    x = ((x ^ (x >> 13)) * _MIX2) & _MASK
    return x ^ (x >> 16)


def threshold(p: float) -> int:
    """Bits below this number are dropped: a share p of them."""
    return min(int(p * 2**32), _MASK)


@numba.njit(inline="always")
def bits(key: np.uint32, position: int) -> np.uint32:
    """32 random bits of one position. The casts keep numba from widening, so that this vectorises."""
    x = np.uint32(np.uint32(position) * np.uint32(_GOLDEN)) + key
    x = np.uint32(x)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(16))) * np.uint32(_MIX1))
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(13))) * np.uint32(_MIX2))
    return np.uint32(x ^ np.uint32(x >> np.uint32(16)))


def bits_torch(key: int, count: int, device: torch.device) -> Tensor:
    """The same bits for positions 0 to count-1, as int64."""
    x = (torch.arange(count, device=device) * _GOLDEN + key) & _MASK
    x = ((x ^ (x >> 16)) * _MIX1) & _MASK
    x = ((x ^ (x >> 13)) * _MIX2) & _MASK
    return x ^ (x >> 16)
