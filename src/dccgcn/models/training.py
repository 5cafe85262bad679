"""The one full-batch training loop."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.errors import TrainingError
from dccgcn.progress import Progress as Progress

_EXPLODED = 1e9
_REMEDY = "Lower the learning rate (--set lr=…), or check the features for huge values."


def train_full_batch(
    loss: Callable[[int], Tensor],
    parameters: list[dict[str, Any]],
    lr: float,
    epochs: int,
    progress: Progress | None = None,
    score: Callable[[], tuple[float, ...]] | None = None,
    patience: int | None = None,
    optimiser: Callable[..., torch.optim.Optimizer] = torch.optim.Adam,
    buffers: Iterable[Tensor] = (),
) -> None:
    """Adam, or another optimiser, on loss(epoch) for a fixed number of epochs.

    A loss or gradient that is not finite stops it before the step, so the parameters are those of the last good epoch.
    With a score (of validation nodes, larger is better), the parameters of the best epoch are restored at the end;
    with patience too, training stops after so many epochs without a better one. Buffers are what else belongs to an
    epoch, as running means do.
    """
    stepper = optimiser(parameters, lr=lr, fused=True)
    best: tuple[tuple[float, ...], int, list[Tensor]] | None = None
    state = [*(p for group in parameters for p in group["params"]), *buffers]
    for epoch in range(epochs):
        stepper.zero_grad(set_to_none=True)
        value = loss(epoch)
        current = value.item()
        if not abs(current) < _EXPLODED:  # NaN too
            raise TrainingError(
                f"The loss became {current:g} in epoch {epoch + 1} of {epochs}.",
                _REMEDY,
            )
        value.backward()
        if not _finite_gradients(parameters):
            raise TrainingError(f"A gradient is not finite in epoch {epoch + 1} of {epochs}.", _REMEDY)
        stepper.step()
        if progress:
            progress("training", epoch + 1, epochs)
        if score:
            reached = score()
            if best is None or reached > best[0]:
                best = (reached, epoch, [tensor.detach().clone() for tensor in state])
            elif patience and epoch - best[1] >= patience:
                break
    if best:
        with torch.no_grad():
            for tensor, kept in zip(state, best[2], strict=True):
                tensor.copy_(kept)


def validation_score(
    module: nn.Module, logits: Callable[[], Tensor], labels: Tensor
) -> Callable[[], tuple[float, ...]]:
    """A score for ``train_full_batch``: accuracy on the validation nodes, of equals the smaller loss."""

    def score() -> tuple[float, ...]:
        module.eval()
        with torch.no_grad():
            found = logits()
            reached = (found.argmax(1) == labels).float().mean().item(), -F.cross_entropy(found, labels).item()
        module.train()
        return reached

    return score


def _finite_gradients(groups: list[dict[str, Any]]) -> bool:
    # a sum is finite only if all its terms are, and costs one pass without a mask
    gradients = (p.grad for group in groups for p in group["params"])
    return all(bool(torch.isfinite(g.sum())) for g in gradients if g is not None)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's random numbers from this seed inside, the caller's undisturbed outside."""
    device = torch.get_default_device()
    others = [] if device.type == "cpu" else [device]  # the CPU's generator is always among those restored
    with torch.random.fork_rng(others, device_type=device.type):
        torch.manual_seed(seed)
        yield
