"""Prediction: what every method returns for a graph, one row per node."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from dccgcn.errors import DataFileError, Finding
from dccgcn.methods.arrays import ArraySpec, check_array, probability_spec


@dataclass(frozen=True, eq=False)
class Prediction:
    """Class probabilities of all n nodes, and what a dual-channel method adds to them.

    Every field after the first is empty or None for methods that do not compute it.

    Parameters
    ----------
    probabilities : ndarray of shape (n, c), float32
        Class probabilities; each row sums to one.
    channels : dict of str to ndarray of shape (n, c)
        Class probabilities of each channel alone, such as ``"topology"`` and ``"features"``.
    channels_agree : ndarray of shape (n,), bool
        Whether the channels predict the same class: of two channels both, of more those with over half of the weight.
    uncorrected : ndarray of shape (n, c)
        Probabilities of the channels together, before any correction or refit.
    joint : ndarray of shape (n, c)
        Probabilities of one model on the embeddings of both channels, for comparison.
    corrected : ndarray of shape (n,), bool
        Whether the prediction was corrected from neighbours on which the channels agree.
    embeddings : dict of str to ndarray of shape (n, width)
        Node embeddings, for plots.
    trust : ndarray of shape (n,)
        Estimated probability that the predicted class is right, between 0 and 1.
    promised : bool
        Whether held-out labels show that trust can be relied on; without that no prediction is called trusted.
    channel_weights : dict of str to float
        Weight of each channel in the combined prediction; they sum to one.
    held_out : dict of str to ndarray of shape (m, c)
        Probabilities of the m training nodes by models that did not see their labels: of each channel, and of the
        ``"pool"`` of all.
    model : dict of str to ndarray
        Fitted arrays that the method needs to predict new nodes.
    findings : tuple of Finding
        What was unusual about the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from dccgcn import Prediction
    >>> prediction = Prediction(np.array([[0.9, 0.1], [0.4, 0.6]], dtype=np.float32))
    >>> prediction.y_pred.tolist()
    [0, 1]
    """

    probabilities: np.ndarray
    channels: dict[str, np.ndarray] = field(default_factory=dict)
    channels_agree: np.ndarray | None = None
    uncorrected: np.ndarray | None = None
    joint: np.ndarray | None = None
    corrected: np.ndarray | None = None
    embeddings: dict[str, np.ndarray] = field(default_factory=dict)
    trust: np.ndarray | None = None
    promised: bool = False
    channel_weights: dict[str, float] = field(default_factory=dict)
    held_out: dict[str, np.ndarray] = field(default_factory=dict)
    model: dict[str, np.ndarray] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @cached_property
    def y_pred(self) -> np.ndarray:
        """(n,) position of the most probable class of each node; of equals, the first."""
        return self.probabilities.argmax(axis=1)

    @property
    def confidence(self) -> np.ndarray:
        """(n,) trust, or the probability of the predicted class where the method does not estimate trust."""
        return self.probabilities.max(axis=1) if self.trust is None else self.trust

    def check(self, n: int, c: int) -> None:
        """Raise a DataFileError unless all arrays are valid for n nodes and c classes. The model is not checked."""
        rows, flags = probability_spec(n, c), ArraySpec((n,), "bool")
        check_array(self.probabilities, rows, "prediction, probabilities")
        for name, array, spec in (
            ("uncorrected", self.uncorrected, rows),
            ("joint", self.joint, rows),
            ("channels_agree", self.channels_agree, flags),
            ("corrected", self.corrected, flags),
            ("trust", self.trust, ArraySpec((n,), low=0, high=1.0)),
        ):
            if array is not None:
                check_array(array, spec, f"prediction, {name}")
        if type(self.promised) is not bool:
            raise DataFileError("prediction, promised is neither true nor false.")
        groups = (("channels", rows), ("embeddings", ArraySpec((n, None))), ("held_out", probability_spec(None, c)))
        for group, spec in groups:
            for name, array in _mapping(self, group).items():
                check_array(array, spec, f"prediction, {group}, {name}")
        for name, value in _mapping(self, "channel_weights").items():
            if type(value) is not float or not 0 <= value <= 1:
                raise DataFileError(f"prediction, channel_weights, {name} is not a number between 0 and 1.")


def _mapping(prediction: Prediction, name: str) -> dict[str, Any]:
    if not isinstance(values := getattr(prediction, name), dict):
        raise DataFileError(f"prediction, {name} is not a group of arrays.")
    return values


def restore_class_columns(prediction: Prediction, seen: np.ndarray, c: int) -> Prediction:
    """Insert zero columns for classes without training labels: (n, len(seen)) → (n, c)."""

    def restore(probabilities: np.ndarray) -> np.ndarray:
        restored = np.zeros((len(probabilities), c), dtype=probabilities.dtype)
        restored[:, seen] = probabilities
        return restored

    return replace(
        prediction,
        probabilities=restore(prediction.probabilities),
        uncorrected=None if prediction.uncorrected is None else restore(prediction.uncorrected),
        joint=None if prediction.joint is None else restore(prediction.joint),
        channels={name: restore(p) for name, p in prediction.channels.items()},
        held_out={name: restore(p) for name, p in prediction.held_out.items()},
    )
