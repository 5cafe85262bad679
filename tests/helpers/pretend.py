"""A second device for tests, where there is no GPU: it computes on the CPU, but its tensors do not mix with the CPU's.

A tensor of this device has no data that NumPy or a compiled kernel could read; a CPU tensor with its values hangs on
it. Every operation of torch on such a tensor, and every one that is asked to make one, comes through ``_compute``.
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
        manual_seed_all=lambda seed: None,  # what is drawn comes from the CPU's generator
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
    made = op(*tree_map(_inside, args), **tree_map(_inside, kwargs))
    if op is torch.ops.aten.copy_.default:
        return args[0]
    if op is torch.ops.aten._to_copy.default and kwargs.get("device", torch.device(NAME)).type == "cpu":
        return made  # this and copy_ are the ways between the devices
    given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    if any(x.device.type != NAME and x.dim() > 0 for x in given):
        raise RuntimeError(f"{op} mixes the devices {NAME} and cpu")
    owner = {id(x.on_cpu): x for x in given if isinstance(x, Pretended)}  # what was changed in place is itself
    return tree_map_only(torch.Tensor, lambda x: owner[id(x)] if id(x) in owner else Pretended.of(x), made)


def _inside(x):
    """What the CPU computes with."""
    if isinstance(x, torch.device):
        return torch.device("cpu")
    return x.on_cpu if isinstance(x, Pretended) else x


def _copy_from(source, target, non_blocking=False):
    _inside(target).copy_(_inside(source))
    return target


_everything = torch.library.Library("_", "IMPL")
_everything.fallback(_compute, "PrivateUse1")
_some = torch.library.Library("aten", "IMPL")
_some.impl("_copy_from", _copy_from, "PrivateUse1")  # torch.tensor() copies past __torch_dispatch__
for _name in ("arange", "arange.start", "arange.start_step"):  # torch would make an empty tensor and enlarge it
    _op = getattr(torch.ops.aten.arange, _name.partition(".")[2] or "default")
    _some.impl(_name, partial(_compute, _op), "PrivateUse1")
