"""A second torch device for tests without a GPU. It computes on the CPU but refuses to mix with CPU tensors.

A tensor of this device has no data that NumPy or a compiled kernel could read; its values are in the CPU tensor
``on_cpu``. Every torch operation on such a tensor, and every operation that makes one, goes through ``_compute``.
"""

from functools import partial
from types import SimpleNamespace

import torch
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "pretend"
_setup_privateuseone_for_python_backend(
    NAME,
    SimpleNamespace(
        is_initialized=lambda: True,
        is_available=lambda: True,
        current_device=lambda: 0,
        device_count=lambda: 1,
        _is_in_bad_fork=lambda: False,
        manual_seed_all=lambda seed: None,  # random numbers come from the CPU's generator
        get_rng_state=lambda device: torch.get_rng_state(),
        set_rng_state=lambda state, device: torch.set_rng_state(state),
    ),
)


class Pretended(torch.Tensor):
    """A tensor on the device."""

    __torch_function__ = torch._C._disabled_torch_function_impl
    on_cpu: torch.Tensor

    @staticmethod
    def of(on_cpu):
        strides = on_cpu.stride() if on_cpu.layout is torch.strided else None
        made = torch.Tensor._make_wrapper_subclass(
            Pretended, on_cpu.shape, strides, dtype=on_cpu.dtype, layout=on_cpu.layout, device=torch.device(NAME, 0)
        )
        made.on_cpu = on_cpu
        return made

    @classmethod
    def __torch_dispatch__(cls, op, types, args=(), kwargs=None):
        return _compute(op, *args, **(kwargs or {}))


def _compute(op, *args, **kwargs):
    made = op(*tree_map(_to_cpu, args), **tree_map(_to_cpu, kwargs))
    if op is torch.ops.aten.copy_.default:
        return args[0]
    if op is torch.ops.aten._to_copy.default and kwargs.get("device", torch.device(NAME)).type == "cpu":
        return made  # this and copy_ move between devices
    given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    if any(x.device.type != NAME and x.dim() > 0 for x in given):
        raise RuntimeError(f"{op} mixes the devices {NAME} and cpu")
    owner = {id(x.on_cpu): x for x in given if isinstance(x, Pretended)}  # an in-place operation returns its argument
    return tree_map_only(torch.Tensor, lambda x: owner[id(x)] if id(x) in owner else Pretended.of(x), made)


def _to_cpu(x):
    """The CPU counterpart of a tensor or device."""
    if isinstance(x, torch.device):
        return torch.device("cpu")
    return x.on_cpu if isinstance(x, Pretended) else x


def _copy_from(source, target, non_blocking=False):
    _to_cpu(target).copy_(_to_cpu(source))
    return target


_everything = torch.library.Library("_", "IMPL")
_everything.fallback(_compute, "PrivateUse1")
_some = torch.library.Library("aten", "IMPL")
_some.impl("_copy_from", _copy_from, "PrivateUse1")  # torch.tensor() copies past __torch_dispatch__
for _name in ("arange", "arange.start", "arange.start_step"):  # torch would make an empty tensor and enlarge it
    _op = getattr(torch.ops.aten.arange, _name.partition(".")[2] or "default")
    _some.impl(_name, partial(_compute, _op), "PrivateUse1")
