"""What networks share: how they are trained on the labelled nodes of a graph."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.graph import NodeGraph
from dccgcn.models.prediction import Prediction
from dccgcn.models.training import Progress, seeded, train_full_batch, validation_score
from dccgcn.operators import Scaling, scaling
from dccgcn.settings import Settings, count, rate, weight


class NetworkSettings(Settings):
    """What training needs to know, with the numbers that most papers share."""

    lr: float = rate(0.01, "Learning rate of Adam.")
    weight_decay: float = weight(5e-4, "L2 penalty on all parameters.")
    epochs: int = count(1000, "Training epochs, at most.")
    patience: int = count(100, "With validation nodes, stop after so many epochs without a better one.")
    features: Scaling = scaling("row")


class Network(nn.Module):
    """A network on one graph; forward(part) gives the logits of the nodes of that part, (nodes, c)."""

    def part(self, nodes: np.ndarray) -> Any:
        """What forward() is given to answer for these nodes: here their positions, since it reads the whole graph."""
        return torch.tensor(nodes)  # a copy: the split's own array is not to be written

    def loss(self, part: Any, labels: Tensor) -> Tensor:
        """What training minimises."""
        return F.cross_entropy(self(part), labels)

    def decayed(self) -> list[nn.Parameter]:
        """The parameters under the L2 penalty."""
        return list(self.parameters())


def fit_network(
    make: Callable[[NodeGraph, Any], Network],
    graph: NodeGraph,
    train: np.ndarray,
    settings: NetworkSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Make the network, train it on the labels of the nodes in ``train`` and classify all nodes."""
    s = settings
    with seeded(seed):
        network = make(graph, s)
    near, labels = network.part(train), torch.as_tensor(graph.labels[train])
    score = None
    if validation is not None:
        checked, truth = network.part(validation), torch.as_tensor(graph.labels[validation])
        score = validation_score(network, lambda: network(checked), truth)
    decayed = network.decayed()
    free = [p for p in network.parameters() if all(p is not other for other in decayed)]
    groups: list[dict[str, Any]] = [{"params": decayed, "weight_decay": s.weight_decay}, {"params": free}]
    with seeded(seed):
        train_full_batch(
            lambda epoch: network.loss(near, labels),
            groups,
            s.lr,
            s.epochs,
            progress,
            score,
            s.patience,
            buffers=list(network.buffers()),
        )
    network.eval()
    with torch.no_grad():
        return answer(network(network.part(np.arange(graph.n))))


def answer(logits: Tensor) -> Prediction:
    """The prediction of a network that has nothing more to say than its logits, (n, c)."""
    return Prediction(logits.softmax(1).cpu().numpy(), embeddings={"output": logits.cpu().numpy()})
