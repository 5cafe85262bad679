"""Section 3.3: a node is high-confidence if both channels predict the same class.

"We expand its output feature matrix to two times its dimensionality and input the expanded output into the MLP" has two
readings: pad the embedding with zeros to the width of Eq. 8's input, or a hidden layer of twice the width.
"""

from torch import Tensor, nn


class ChannelClassifier(nn.Sequential):
    """An MLP on the embeddings of one channel, with a hidden layer of twice their width.

    Shapes: (nodes, width) → (nodes, classes).
    """

    def __init__(self, width: int, classes: int) -> None:
        super().__init__(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, classes))


def padded_logits(summand: Tensor, b: Tensor) -> Tensor:
    """Eq. 8's own layer on an embedding padded with zeros: W[h; 0] + b or W[0; h'] + b.

    The zeros leave the channel's block of W, whose product with h is its summand of Eq. 8.

    Shapes: summand (nodes, classes), b (classes,) → (nodes, classes).
    """
    return summand + b


def high_confidence(logits1: Tensor, logits2: Tensor) -> Tensor:
    """V_high-conf as a mask; all other nodes are V_low-conf. Shapes: (n, c), (n, c) → (n,) bool."""
    return logits1.argmax(1) == logits2.argmax(1)
