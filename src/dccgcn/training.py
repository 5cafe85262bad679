"""The one full-batch training loop."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from dccgcn.errors import TrainingError

Progress = Callable[[str, int, int], None]  # what is being done, steps done, steps in all

_EXPLODED = 1e9


def minimise(
    loss: Callable[[int], Tensor],
    parameters: list[dict[str, object]],
    lr: float,
    epochs: int,
    progress: Progress | None = None,
) -> None:
    """Adam on loss(epoch) for a fixed number of epochs. A loss that is not finite stops it before the step,
    so the parameters are those of the last good epoch."""
    optimiser = torch.optim.Adam(parameters, lr=lr, fused=True)
    for epoch in range(epochs):
        optimiser.zero_grad(set_to_none=True)
        value = loss(epoch)
        current = value.item()
        if not abs(current) < _EXPLODED:  # NaN too
            raise TrainingError(
                f"The loss became {current:g} in epoch {epoch + 1} of {epochs}.",
                "Lower the learning rate (--set lr=…), or check the features for huge values.",
            )
        value.backward()
        optimiser.step()
        if progress:
            progress("training", epoch + 1, epochs)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's random numbers from this seed inside, the caller's undisturbed outside."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
