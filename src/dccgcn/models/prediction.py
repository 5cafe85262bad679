"""Prediction: what every method returns for a graph, a row per node."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding


@dataclass(frozen=True, eq=False)
class Prediction:
    """Class probabilities for all nodes, and what a dual-channel method can say beyond them."""

    probabilities: np.ndarray  # (n, c) float32, rows sum to one
    channels: dict[str, np.ndarray] = field(default_factory=dict)  # each channel's own probabilities, (n, c)
    channels_agree: np.ndarray | None = None  # (n,) bool: high-confidence, the channels give the same class
    uncorrected: np.ndarray | None = None  # (n, c) probabilities without calibration
    joint: np.ndarray | None = None  # (n, c) what one model on both channels' representations says, to compare with
    corrected: np.ndarray | None = None  # (n,) bool: rebuilt from high-confidence neighbours
    embeddings: dict[str, np.ndarray] = field(default_factory=dict)  # (n, width) each, for pictures
    trust: np.ndarray | None = None  # (n,) between 0 and 1: how likely the answer is right
    channel_weights: dict[str, float] = field(default_factory=dict)  # how far each channel was trusted; they sum to 1
    support: sp.csr_array | None = None  # (n, n): from which neighbours, and how much, an answer was rebuilt
    model: dict[str, np.ndarray] = field(default_factory=dict)  # what the method needs to answer for new nodes
    findings: tuple[Finding, ...] = ()  # what was odd about this run

    @property
    def y_pred(self) -> np.ndarray:
        """Most probable class of each node, the first of equals."""
        return self.probabilities.argmax(axis=1)

    @property
    def confidence(self) -> np.ndarray:
        """(n,) trust in each answer, or its probability where the method knows no trust."""
        return self.probabilities.max(axis=1) if self.trust is None else self.trust
