"""The full-batch training loop of every network.

Training of a network on the labelled nodes of a graph.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.errors import Finding, TrainingError
from dccgcn.features import Scaling, scaling
from dccgcn.methods import Prediction, Task
from dccgcn.progress import Progress
from dccgcn.settings import Settings, count, rate, weight

Score = Callable[[], tuple[float, ...]]  # of validation nodes; larger is better

_MAX_LOSS = 1e9  # beyond, training has diverged
_REMEDY = "Lower the learning rate (--set lr=…), or check the features for huge values."


def train_full_batch(
    loss: Callable[[int], Tensor],
    parameters: list[dict[str, Any]],
    lr: float,
    epochs: int,
    progress: Progress | None = None,
    score: Score | None = None,
    patience: int | None = None,
    optimiser: Callable[..., torch.optim.Optimizer] = torch.optim.Adam,
    buffers: Iterable[Tensor] = (),
) -> None:
    """Minimise loss(epoch) with Adam, or another optimiser, for a number of epochs.

    A loss or gradient that is not finite raises TrainingError before the step, so parameters are those of the last good
    epoch. With a score (of validation nodes, larger is better), the parameters of the best epoch are restored at the
    end; with patience too, training stops after that many epochs without improvement. Buffers (such as running means)
    are restored with the parameters.
    """
    torch_optimiser = optimiser(parameters, lr=lr, fused=True)
    best: tuple[tuple[float, ...], int, list[Tensor]] | None = None
    state = [*(p for group in parameters for p in group["params"]), *buffers]
    for epoch in range(epochs):
        torch_optimiser.zero_grad(set_to_none=True)
        value = loss(epoch)
        current = value.item()
        if not abs(current) < _MAX_LOSS:  # NaN too
            raise TrainingError(f"The loss became {current:g} in epoch {epoch + 1} of {epochs}.", _REMEDY)
        value.backward()
        if not _finite_gradients(parameters):
            raise TrainingError(f"A gradient is not finite in epoch {epoch + 1} of {epochs}.", _REMEDY)
        torch_optimiser.step()
        if progress:
            progress("training", epoch + 1, epochs)
        if score:
            current_score = score()
            if best is None or current_score > best[0]:
                best = (current_score, epoch, [tensor.detach().clone() for tensor in state])
            elif patience and epoch - best[1] >= patience:
                break
    if best:
        with torch.no_grad():
            for tensor, best_value in zip(state, best[2], strict=True):
                tensor.copy_(best_value)


def validation_score(
    task: Task, module: nn.Module, inputs_of: Callable[[np.ndarray], Any], logits: Callable[[Any], Tensor]
) -> Score | None:
    """``accuracy_score`` of the validation nodes; None without any. inputs_of(nodes) is computed once."""
    if task.validation is None:
        return None
    inputs, labels = inputs_of(task.validation), torch.as_tensor(task.graph.labels[task.validation])
    return accuracy_score(module, lambda: logits(inputs), labels)


def accuracy_score(module: nn.Module, logits: Callable[[], Tensor], labels: Tensor) -> Score:
    """A score for ``train_full_batch``: accuracy, then the negative loss. logits: (nodes, c), labels: (nodes,)."""

    def score() -> tuple[float, ...]:
        module.eval()
        with torch.no_grad():
            z = logits()
            result = (z.argmax(1) == labels).float().mean().item(), -F.cross_entropy(z, labels).item()
        module.train()
        return result

    return score


def _finite_gradients(groups: list[dict[str, Any]]) -> bool:
    # a sum is finite only if all terms are, and takes one pass without a mask
    gradients = (p.grad for group in groups for p in group["params"])
    return all(bool(torch.isfinite(g.sum())) for g in gradients if g is not None)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's random numbers inside the block; the caller's state is restored after it."""
    device = torch.get_default_device()
    devices = [] if device.type == "cpu" else [device]  # the CPU's state is always restored
    with torch.random.fork_rng(devices, device_type=device.type):
        torch.manual_seed(seed)
        yield


class NetworkSettings(Settings):
    """The settings of training, with the values that most papers share."""

    lr: float = rate(0.01, "Learning rate of Adam.")
    weight_decay: float = weight(5e-4, "L2 penalty on all parameters.")
    epochs: int = count(1000, "Maximum number of training epochs.")
    patience: int = count(100, "Epochs without improvement on the validation nodes before training stops.")
    features: Scaling = scaling("row")


class Network(nn.Module):
    """A network on one graph; forward(inputs_of(nodes)) gives the logits of these nodes, (nodes, c)."""

    optimiser: Callable[..., torch.optim.Optimizer] = torch.optim.Adam
    findings: tuple[Finding, ...] = ()  # about the graphs that it uses

    def inputs_of(self, nodes: np.ndarray) -> Any:
        """The argument of forward() for these nodes: here their positions, for networks that read the whole graph."""
        return torch.tensor(nodes)  # a copy: the array of a split is read-only

    def loss(self, inputs: Any, labels: Tensor, epoch: int) -> Tensor:
        """What training minimises."""
        return F.cross_entropy(self(inputs), labels)

    def score(self, task: Task) -> Score | None:
        """What the validation nodes choose the epoch by; None without any."""
        return validation_score(task, self, self.inputs_of, self)

    def decayed_parameters(self) -> list[nn.Parameter]:
        """The parameters under the L2 penalty."""
        return list(self.parameters())

    def classify_all(self, n: int) -> Tensor:
        """The logits of all n nodes, (n, c)."""
        return self(self.inputs_of(np.arange(n)))

    def predict(self, n: int) -> Prediction:
        """The prediction for all n nodes of the graph."""
        return prediction_from_logits(self.classify_all(n), self.findings)


def fit_network(network_class: Callable[[Task, Any], Network], task: Task, s: Any) -> Prediction:
    """Build the network, train it on the labels of the nodes in ``train`` and classify all nodes.

    s: settings with lr and epochs; without weight_decay there is no penalty, without patience every epoch is run.
    """
    with seeded(task.seed):
        network = network_class(task, s)
    inputs, labels = network.inputs_of(task.train), torch.as_tensor(task.labels)
    decayed = network.decayed_parameters()
    undecayed = [p for p in network.parameters() if all(p is not other for other in decayed)]
    weight_decay, patience = getattr(s, "weight_decay", 0.0), getattr(s, "patience", None)
    groups: list[dict[str, Any]] = [{"params": decayed, "weight_decay": weight_decay}, {"params": undecayed}]
    with seeded(task.seed):
        train_full_batch(
            lambda epoch: network.loss(inputs, labels, epoch), groups, s.lr, s.epochs, task.progress,
            network.score(task), patience, network.optimiser, list(network.buffers()),
        )  # fmt: skip
    network.eval()
    with torch.no_grad():
        return network.predict(task.graph.n)


def prediction_from_logits(logits: Tensor, findings: tuple[Finding, ...] = ()) -> Prediction:
    """The prediction whose probabilities are the softmax of logits, (n, c)."""
    probabilities = logits.softmax(1).cpu().numpy()
    return Prediction(probabilities, embeddings={"output": logits.cpu().numpy()}, findings=findings)
