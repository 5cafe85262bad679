"""Section 3.3: a node is high-confidence where the heads of both channels give the same class."""

from torch import Tensor, nn


class Head(nn.Sequential):
    """Expands an embedding to twice its width and classifies it with an MLP."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, classes))


def high_confidence(logits1: Tensor, logits2: Tensor) -> Tensor:
    """V_high-conf as a mask; the rest is V_low-conf. Shapes: (n, c), (n, c) → (n,) bool."""
    return logits1.argmax(1) == logits2.argmax(1)
