"""One training step of DCC-GCN, and the same step in a straightforward implementation."""

import multiprocessing
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.memory import peak_mb
from benchmarks.straightforward import StraightforwardStep
from benchmarks.timing import interleave, largest_difference, median_ratio
from dccgcn import datasets
from dccgcn.graph import splits
from dccgcn.methods.base import Task, get_method
from dccgcn.networks.dcc.method import TrainingStep, build_operators
from dccgcn.networks.dcc.model import DccGcn
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.networks.training import seeded
from dccgcn.runtime.device import use_threads


def bench_step(
    name: str, options: dict[str, Any], per_class: int, rounds: int, threads: int, with_straightforward: bool
) -> dict[str, Any]:
    """Compare loss and gradients, time the steps in turn, and measure the peak memory in separate processes.

    Times are medians; the ratio is the median over rounds. Peaks are of processes that load the graph and make three
    steps. parity: largest relative difference of loss and gradients, without dropout.
    """
    ours, other, model = _prepare(name, options, per_class, with_straightforward)
    parity = _parity(ours, other, model) if other else None
    steps = [_step(ours.loss, model, fused=True)]
    if other:
        steps.append(_step(lambda _: other.loss(), model, fused=False))
    seconds = interleave(steps, rounds)
    peaks = [_peak(name, options, per_class, threads, which) for which in ((False, True) if other else (False,))]
    return dict(
        dataset=name,
        labels=len(ours.train),
        m=model.settings.m,
        threads=threads,
        rounds=rounds,
        ours_ms=1000 * float(np.median(seconds[:, 0])),
        straightforward_ms=1000 * float(np.median(seconds[:, 1])) if other else None,
        ratio=median_ratio(seconds[:, 1], seconds[:, 0]) if other else None,
        ours_peak_mb=peaks[0],
        straightforward_peak_mb=peaks[1] if other else None,
        parity=parity,
        nodes_in_field=(  # inputs of the larger receptive field, all nodes
            max(len(inputs.layers[0].inputs) for inputs in ours.calibration_fields),
            model.mu_scores[0].shape[0],
        ),
    )


def _prepare(
    name: str, options: dict[str, Any], per_class: int, with_straightforward: bool
) -> tuple[TrainingStep, StraightforwardStep | None, DccGcn]:
    settings = get_method("dcc-gcn").published_settings(
        name, {"calibrate_from": 0.0, **options}
    )  # calibration in every epoch
    assert isinstance(settings, DccSettings)
    graph = datasets.load(name).graph
    split = splits.per_class(graph, per_class, seed=0, small_classes="half")
    operators = build_operators(graph, settings)
    with seeded(0):
        model = DccGcn(graph.n, graph.d, graph.c, settings)
    ours = TrainingStep(Task(graph, split.train), operators, model)
    return ours, StraightforwardStep(graph, split.train, operators, model) if with_straightforward else None, model


def _parity(ours: TrainingStep, other: StraightforwardStep, model: DccGcn) -> float:
    """Largest relative difference of loss and gradients, from equal parameters without dropout."""
    model.eval()  # no dropout
    results = []
    for loss in (partial(ours.loss, 0), other.loss):
        model.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        results.append([value.detach()] + [p.grad.clone() for p in model.parameters() if p.grad is not None])
    model.zero_grad(set_to_none=True)
    model.train()
    return largest_difference(*results)


def _step(loss: Callable[[int], Tensor], model: DccGcn, fused: bool) -> Callable[[int], None]:
    optimiser = torch.optim.Adam(model.groups(), lr=1e-4, fused=fused)

    def step(number: int) -> None:
        optimiser.zero_grad(set_to_none=True)
        loss(number).backward()
        optimiser.step()

    return step


def _peak(name: str, options: dict[str, Any], per_class: int, threads: int, straightforward: bool) -> float:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_of_steps, (name, options, per_class, threads, straightforward))


def _peak_of_steps(name: str, options: dict[str, Any], per_class: int, threads: int, straightforward: bool) -> float:
    use_threads(threads)
    ours, other, model = _prepare(name, options, per_class, straightforward)
    step = _step((lambda _: other.loss()) if other else ours.loss, model, fused=False)
    for number in range(3):
        step(number)
    return peak_mb()
