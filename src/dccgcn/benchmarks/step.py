"""One training step of DCC-GCN against the straightforward implementation of the same method."""

import multiprocessing
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dccgcn import datasets
from dccgcn.benchmarks.memory import peak_mb
from dccgcn.benchmarks.straightforward import StraightforwardStep
from dccgcn.graph import splits
from dccgcn.models.dcc.method import TrainingStep, build_operators
from dccgcn.models.dcc.model import DccGcn
from dccgcn.models.dcc.settings import DccSettings
from dccgcn.models.registry import METHODS
from dccgcn.models.training import seeded
from dccgcn.runtime.threads import use_threads


@dataclass(frozen=True)
class StepBenchmark:
    """Milliseconds are medians; the ratio is the median of the ratios of neighbouring rounds."""

    dataset: str
    labels: int
    m: int
    threads: int
    rounds: int
    ours_ms: float
    straightforward_ms: float | None  # None where it was left out
    ratio: float | None
    ours_peak_mb: float  # of a process that loads the graph and takes three steps
    straightforward_peak_mb: float | None
    parity: float | None  # largest relative difference of loss and gradients, dropout off
    nodes_in_field: tuple[int, int]  # inputs that either channel reads, of all nodes

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def bench_step(
    name: str, options: dict[str, Any], per_class: int, rounds: int, threads: int, with_straightforward: bool
) -> StepBenchmark:
    """Interleave steps of both, check their parity, measure their memory in processes of their own."""
    ours, other, model = _prepare(name, options, per_class, with_straightforward)
    parity = _parity(ours, other, model) if other else None
    optimisers = [torch.optim.Adam(model.groups(), lr=1e-4, fused=fused) for fused in (True, False)]
    times: list[tuple[float, float]] = []
    for round_ in range(rounds + 2):  # the first two warm up
        mine = _timed(partial(ours.loss, round_), optimisers[0])
        theirs = _timed(other.loss, optimisers[1]) if other else float("nan")
        if round_ >= 2:
            times.append((mine, theirs))
    measured = np.array(times) * 1000
    peaks = [_peak(name, options, per_class, threads, which) for which in ((False, True) if other else (False,))]
    return StepBenchmark(
        dataset=name,
        labels=len(ours.train),
        m=model.settings.m,
        threads=threads,
        rounds=rounds,
        ours_ms=float(np.median(measured[:, 0])),
        straightforward_ms=float(np.median(measured[:, 1])) if other else None,
        ratio=float(np.median(measured[:, 1] / measured[:, 0])) if other else None,
        ours_peak_mb=peaks[0],
        straightforward_peak_mb=peaks[1] if other else None,
        parity=parity,
        nodes_in_field=(
            max(len(inputs.layers[0].inputs) for inputs in ours.calibration_fields),
            model.mu_scores[0].shape[0],
        ),
    )


def _prepare(
    name: str, options: dict[str, Any], per_class: int, with_straightforward: bool
) -> tuple[TrainingStep, StraightforwardStep | None, DccGcn]:
    settings = METHODS["dcc-gcn"].published_settings(name, {"calibrate_from": 0.0, **options})  # the whole method
    assert isinstance(settings, DccSettings)
    graph = datasets.load(name).graph
    split = splits.per_class(graph, per_class, seed=0, small_classes="half")
    views = build_operators(graph, settings)
    with seeded(0):
        model = DccGcn(graph.n, graph.d, graph.c, settings)
    ours = TrainingStep(graph, split.train, views, model, seed=0)
    return ours, StraightforwardStep(graph, split.train, views, model) if with_straightforward else None, model


def _parity(ours: TrainingStep, other: StraightforwardStep, model: DccGcn) -> float:
    """Both compute the loss from the same parameters, so loss and gradients must agree."""
    model.eval()  # no dropout
    gradients = []
    for loss in (partial(ours.loss, 0), other.loss):
        model.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        gradients.append([value.detach()] + [p.grad.clone() for p in model.parameters() if p.grad is not None])
    model.zero_grad(set_to_none=True)
    model.train()
    return max(float((a - b).abs().max() / b.abs().max().clamp(min=1e-12)) for a, b in zip(*gradients, strict=True))


def _timed(loss: Callable[[], Tensor], optimiser: torch.optim.Optimizer) -> float:
    start = perf_counter()
    optimiser.zero_grad(set_to_none=True)
    loss().backward()
    optimiser.step()
    return perf_counter() - start


def _peak(name: str, options: dict[str, Any], per_class: int, threads: int, straightforward: bool) -> float:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_of_steps, (name, options, per_class, threads, straightforward))


def _peak_of_steps(name: str, options: dict[str, Any], per_class: int, threads: int, straightforward: bool) -> float:
    use_threads(threads)
    ours, other, model = _prepare(name, options, per_class, straightforward)
    optimiser = torch.optim.Adam(model.groups(), lr=1e-4)
    for step in range(3):
        _timed(other.loss if other else partial(ours.loss, step), optimiser)
    return peak_mb()
