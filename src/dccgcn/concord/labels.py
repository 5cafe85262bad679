"""Given labels as the targets that channels are trained on."""

from dataclasses import dataclass

import numpy as np

from dccgcn.runtime import owned


@dataclass(frozen=True, eq=False)
class Labels:
    """Classes of some nodes, as one-hot rows."""

    nodes: np.ndarray  # (m,) positions
    targets: np.ndarray  # (m, classes) float32

    @classmethod
    def of(cls, nodes: np.ndarray, classes: np.ndarray, n_classes: int) -> "Labels":
        return cls(nodes, np.eye(n_classes, dtype=np.float32)[classes])

    def subset(self, which: np.ndarray) -> "Labels":
        return Labels(self.nodes[which], self.targets[which])

    @property
    def y(self) -> np.ndarray:
        """(m,) positions of the classes."""
        return self.targets.argmax(axis=1)

    @property
    def counts(self) -> np.ndarray:
        """(classes,) number of labels of each class."""
        return self.targets.sum(axis=0, dtype=np.float64)

    @property
    def per_class(self) -> float:
        """Mean number of labels per class."""
        return len(self.nodes) / self.targets.shape[1]

    @property
    def is_checkable(self) -> np.ndarray:
        """(m,) whether the class has another label, so that cross-validation can recover this one."""
        return np.asarray(self.targets @ self.targets.sum(axis=0) > 1)

    @property
    def chance(self) -> float:
        """Expected accuracy of guessing classes with the frequencies of these labels."""
        share = self.targets.mean(axis=0, dtype=np.float64)
        return float(share @ share)

    def clamp(self, f: np.ndarray) -> np.ndarray:
        """A copy of the predictions, (n, classes), with these labels in their place."""
        f = f.astype(np.float32)
        which, at = owned(self.nodes)
        f[at] = self.targets[which]
        return f
