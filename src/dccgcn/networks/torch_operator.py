"""TorchOperator: an operator as tensors, which networks propagate with."""

from dataclasses import dataclass

import torch
from torch import Tensor

from dccgcn.features import Operator
from dccgcn.networks.autograd import Pattern, spmm


@dataclass(frozen=True, eq=False)
class TorchOperator:
    """The entries of Â and their values, on the device that was torch's default when it was made."""

    arrays: Operator  # the same as SciPy matrices
    pattern: Pattern  # (n, n)
    alpha: Tensor  # (entries,) the values of Â

    @classmethod
    def of(cls, operator: Operator) -> "TorchOperator":
        """The tensors of an operator, made once for each device."""
        matrix = operator.matrix
        return operator.cached(
            torch.get_default_device(), lambda: cls(operator, Pattern.of(matrix), torch.as_tensor(matrix.data))
        )

    def propagate(self, h: Tensor) -> Tensor:
        """Â h: (n, width) → (n, width)."""
        return spmm(self.pattern, self.alpha, h)
