"""The torch device of a run.

All tensors are made on torch's default device, which a run sets while it computes. Methods therefore name no device:
``torch.zeros``, ``torch.as_tensor(array)`` and modules use the default one, and ``tensor.cpu()`` copies results back.
On the CPU nothing here imports torch, which is optional.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dccgcn.errors import SettingsError


def available_devices() -> list[str]:
    """Names of the devices that torch can use on this machine, the CPU first; only the CPU without torch."""
    try:
        import torch
    except ModuleNotFoundError:
        return ["cpu"]
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if accelerator is None:
        return ["cpu"]
    return ["cpu", *(f"{accelerator.type}:{i}" for i in range(torch.accelerator.device_count()))]


def check_device(name: str) -> str:
    """The full name of the device "cpu", "cuda" or "cuda:1"; a SettingsError if this machine does not have it."""
    if name == "cpu":
        return name
    available = available_devices()
    full = name if name in available else f"{name}:0"
    if full not in available:
        raise SettingsError(f"There is no device {name!r} here.", f"Choose one of: {', '.join(available)}.")
    return full


@contextmanager
def default_device(name: str) -> Iterator[None]:
    """Make new tensors on this device."""
    full = check_device(name)
    if full == "cpu" and "torch" not in sys.modules:
        yield
        return
    import torch

    device = torch.device(full)
    if device == torch.get_default_device():  # torch's context adds overhead to every call
        yield
    else:
        with device:
            yield
