"""What a run computes on: the torch device, and the number of threads of the kernels, BLAS and torch.

All tensors are made on torch's default device, which a run sets while it computes. Methods therefore name no device:
``torch.zeros``, ``torch.as_tensor(array)`` and modules use the default one, and ``tensor.cpu()`` copies results back.

Results are bitwise equal for equal seed and thread count. torch is optional: it is not imported for the CPU, and its
threads are set only where something else has imported it.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

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


_MIN_NNZ = 150_000  # with fewer nonzeros a kernel ends before a second thread has started
_chosen: int | None = None  # by the last call of use_threads in this process
_kernels: int | None = None  # threads of a kernel now; None: not set yet


def use_threads(count: int | None = None) -> int:
    """Set the number of threads of this process, at most one per core, and return it.

    None: one per core that this process may use, at most OMP_NUM_THREADS.
    """
    global _chosen
    _chosen = max(1, min(count or _available(), _cores()))
    _set_threads(_chosen, _chosen)
    return _chosen


def kernel_threads() -> int:
    """Threads that a kernel uses now."""
    return _kernels or _available()


@contextmanager
def threads_of_run() -> Iterator[int]:
    """Use the number of threads of ``use_threads`` inside the block, and return it.

    If that was never called: its default, or fewer where the caller has set fewer for torch.
    """
    before = _get_threads()
    count = _chosen or min(_available(), *(number for number in before if number))
    with _pools().limit(limits=count, user_api="blas"):
        try:
            _set_threads(count, count)
            yield count
        finally:
            _set_threads(*before)


@contextmanager
def threads_for(nnz: int) -> Iterator[None]:
    """Limit BLAS to one thread, and also torch and the kernels if the sparse matrices have few nonzeros.

    For small products starting a second thread takes longer than the product.
    """
    before = _get_threads()
    with _pools().limit(limits=1, user_api="blas"):
        try:
            if nnz < _MIN_NNZ:
                _set_threads(1, 1)
            yield
        finally:
            _set_threads(*before)


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _available() -> int:
    """Cores that this process may use, at most OMP_NUM_THREADS."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(_cores(), int(limit)) if limit.isdecimal() and int(limit) > 0 else _cores()


def _get_threads() -> tuple[int, int | None]:
    """Threads of the kernels, and of torch if it is imported."""
    torch = _torch()
    return kernel_threads(), torch.get_num_threads() if torch else None


def _set_threads(for_kernels: int, for_torch: int | None) -> None:
    global _kernels
    _kernels = for_kernels
    if for_torch and (torch := _torch()):
        torch.set_num_threads(for_torch)


def _torch() -> Any:
    """torch, if it is imported."""
    return sys.modules.get("torch")


@cache
def _pools() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  # its BLAS is another one than NumPy's; only loaded libraries are found

    return ThreadpoolController()
