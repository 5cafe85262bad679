"""The torch device of a run.

All tensors are made on torch's default device, which a run sets while it computes. Methods therefore name no device:
``torch.zeros``, ``torch.as_tensor(array)`` and modules use the default one, and ``tensor.cpu()`` copies results back.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from dccgcn.errors import SettingsError


def available_devices() -> list[str]:
    """Names of the devices that torch can use on this machine, the CPU first."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if accelerator is None:
        return ["cpu"]
    return ["cpu", *(f"{accelerator.type}:{i}" for i in range(torch.accelerator.device_count()))]


def get_device(name: str) -> torch.device:
    """The device "cpu", "cuda" or "cuda:1"; a SettingsError if this machine does not have it."""
    available = available_devices()
    full = name if name in available else f"{name}:0"
    if full not in available:
        raise SettingsError(f"There is no device {name!r} here.", f"Choose one of: {', '.join(available)}.")
    return torch.device(full)


@contextmanager
def default_device(name: str) -> Iterator[None]:
    """Make new tensors on this device."""
    device = get_device(name)
    if device == torch.get_default_device():  # torch's context adds overhead to every call
        yield
    else:
        with device:
            yield
