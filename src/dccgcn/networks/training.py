"""The full-batch training loop of every network."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.errors import TrainingError
from dccgcn.methods.base import Task
from dccgcn.progress import Progress

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
