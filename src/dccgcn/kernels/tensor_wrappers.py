"""Old signatures of ``spmm`` and ``smooth``, with tensors, for callers that have not switched to arrays."""

import sys
from typing import Any

import numpy as np

from dccgcn.kernels import sparse


def spmm(matrix: Any, *operands: Any) -> Any:
    """spmm(matrix, dense) on arrays; or spmm(pattern, values, dense) with a tensor and an operator's pattern."""
    if len(operands) == 1:
        return sparse.spmm(matrix, operands[0])
    return _tensor(sparse.spmm(matrix.matrix, operands[1].cpu().numpy()), operands[1].device)


def smooth(pattern: Any, values: Any, start: Any, teleport: float, steps: int) -> Any:
    """ppr_smooth of a tensor with an operator's pattern."""
    return _tensor(sparse.ppr_smooth(pattern.matrix, start.cpu().numpy(), teleport, steps), start.device)


def _tensor(array: np.ndarray, device: Any) -> Any:
    return sys.modules["torch"].as_tensor(array, device=device)  # a caller with a tensor has imported it
