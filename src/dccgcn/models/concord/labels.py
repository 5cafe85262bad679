"""Labels that the members are trained on: given ones and pseudo-labels."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Labels:
    """Weighted target distributions on some nodes."""

    nodes: np.ndarray  # (m,) positions
    targets: np.ndarray  # (m, classes), rows sum to 1
    weights: np.ndarray  # (m,)

    @classmethod
    def given(cls, nodes: np.ndarray, classes: np.ndarray, n_classes: int) -> "Labels":
        """One-hot targets of weight 1."""
        return cls(nodes, np.eye(n_classes, dtype=np.float32)[classes], np.ones(len(nodes)))

    def subset(self, which: np.ndarray | slice) -> "Labels":
        return Labels(self.nodes[which], self.targets[which], self.weights[which])

    @property
    def n_checkable(self) -> int:
        """Labels that cross-validation can recover: those whose class has another label."""
        count = self.targets.sum(axis=0)
        return int(count[count > 1].sum())

    @property
    def chance(self) -> float:
        """Expected accuracy of guessing classes with the frequencies of these labels."""
        share = self.targets.mean(axis=0)
        return float(share @ share)

    def clamp(self, f: np.ndarray) -> np.ndarray:
        """A copy of the predictions, (n, classes), with these labels in their place."""
        f = f.copy()
        f[self.nodes] = self.targets
        return f
