"""Section 3.3: a node is high-confidence if the classifiers of both channels predict the same class."""

from torch import Tensor, nn


class ChannelClassifier(nn.Sequential):
    """An MLP on the embeddings of one channel, with a hidden layer of twice their width.

    Shapes: (nodes, width) → (nodes, classes).
    """

    def __init__(self, width: int, classes: int) -> None:
        super().__init__(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, classes))


def high_confidence(logits1: Tensor, logits2: Tensor) -> Tensor:
    """V_high-conf as a mask; all other nodes are V_low-conf. Shapes: (n, c), (n, c) → (n,) bool."""
    return logits1.argmax(1) == logits2.argmax(1)
