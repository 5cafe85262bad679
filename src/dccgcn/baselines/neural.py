"""What the neural baselines share: cross-entropy on the labelled nodes of a network that reads the whole graph."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.graph import NodeGraph
from dccgcn.training import Progress, minimise, seeded, validation_score


def fit_network(
    network: nn.Module,
    graph: NodeGraph,
    train: np.ndarray,
    groups: list[dict[str, Any]],
    lr: float,
    epochs: int,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
    patience: int | None = None,
    extra_loss: Callable[[Tensor, int], Tensor] | None = None,
) -> Tensor:
    """Train a network whose forward() gives the logits of all nodes; return them, (n, c), of the chosen epoch.

    extra_loss(logits, epoch) is added to the cross-entropy.
    """
    nodes, labels = torch.tensor(train), torch.as_tensor(graph.labels[train])

    def loss(epoch: int) -> Tensor:
        logits = network()
        total = F.cross_entropy(logits[nodes], labels)
        return total + extra_loss(logits, epoch) if extra_loss else total

    score = None
    if validation is not None:
        checked = torch.tensor(validation)
        score = validation_score(network, lambda: network()[checked], torch.as_tensor(graph.labels[validation]))
    with seeded(seed):
        minimise(loss, groups, lr, epochs, progress, score, patience)
    network.eval()
    with torch.no_grad():
        return network()
