"""Training of a network on the labelled nodes of a graph."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.errors import Finding
from dccgcn.features import Scaling, scaling
from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Task
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.training import seeded, train_full_batch, validation_score
from dccgcn.settings import Settings, count, rate, weight


class NetworkSettings(Settings):
    """The settings of training, with the values that most papers share."""

    lr: float = rate(0.01, "Learning rate of Adam.")
    weight_decay: float = weight(5e-4, "L2 penalty on all parameters.")
    epochs: int = count(1000, "Maximum number of training epochs.")
    patience: int = count(100, "Epochs without improvement on the validation nodes before training stops.")
    features: Scaling = scaling("row")


class Network(nn.Module):
    """A network on one graph; forward(inputs_of(nodes)) gives the logits of these nodes, (nodes, c)."""

    def inputs_of(self, nodes: np.ndarray) -> Any:
        """The argument of forward() for these nodes: here their positions, for networks that read the whole graph."""
        return torch.tensor(nodes)  # a copy: the array of a split is read-only

    def loss(self, inputs: Any, labels: Tensor) -> Tensor:
        """What training minimises."""
        return F.cross_entropy(self(inputs), labels)

    def decayed_parameters(self) -> list[nn.Parameter]:
        """The parameters under the L2 penalty."""
        return list(self.parameters())

    def classify_all(self, n: int) -> Tensor:
        """The logits of all n nodes, (n, c)."""
        return self(self.inputs_of(np.arange(n)))


def fit_network(network_class: Callable[[NodeGraph, Any], Network], task: Task, s: NetworkSettings) -> Prediction:
    """Build the network, train it on the labels of the nodes in ``train`` and classify all nodes."""
    with seeded(task.seed):
        network = network_class(task.graph, s)
    inputs, labels = network.inputs_of(task.train), torch.as_tensor(task.labels)
    score = validation_score(task, network, network.inputs_of, network)
    decayed = network.decayed_parameters()
    undecayed = [p for p in network.parameters() if all(p is not other for other in decayed)]
    groups: list[dict[str, Any]] = [{"params": decayed, "weight_decay": s.weight_decay}, {"params": undecayed}]
    with seeded(task.seed):
        buffers = list(network.buffers())
        loss = lambda epoch: network.loss(inputs, labels)  # noqa: E731
        train_full_batch(loss, groups, s.lr, s.epochs, task.progress, score, s.patience, buffers=buffers)
    network.eval()
    with torch.no_grad():
        return prediction_from_logits(network.classify_all(task.graph.n))


def prediction_from_logits(logits: Tensor, findings: tuple[Finding, ...] = ()) -> Prediction:
    """The prediction whose probabilities are the softmax of logits, (n, c)."""
    probabilities = logits.softmax(1).cpu().numpy()
    return Prediction(probabilities, embeddings={"output": logits.cpu().numpy()}, findings=findings)
