"""Where tensors live. Everything makes them on torch's default device, which a run sets for its time.

So methods name no device: ``torch.zeros``, ``torch.as_tensor(array)`` and modules are made where the run wants them,
and ``tensor.cpu()`` brings results back.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from dccgcn.errors import SettingsError


def available() -> list[str]:
    """The devices that torch can compute on here, the CPU first."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if accelerator is None:
        return ["cpu"]
    return ["cpu", *(f"{accelerator.type}:{i}" for i in range(torch.accelerator.device_count()))]


def device_named(name: str) -> torch.device:
    """The device of this name: "cpu", or one such as "cuda" or "cuda:1" where there is one."""
    there = available()
    full = name if name in there else f"{name}:0"
    if full not in there:
        raise SettingsError(f"There is no device {name!r} here.", f"Choose one of: {', '.join(there)}.")
    return torch.device(full)


@contextmanager
def computing_on(name: str) -> Iterator[None]:
    """Make tensors on the device of this name."""
    device = device_named(name)
    if device == torch.get_default_device():  # torch's context costs a little in every call
        yield
    else:
        with device:
            yield
