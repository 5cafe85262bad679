"""GAT's first layer, forward and back, on the project's kernel against PyG's GATConv."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from dccgcn import datasets
from dccgcn.models.baselines.gat import AttentionLayer, GatSettings
from dccgcn.models.receptive_field import receptive_layers
from dccgcn.models.registry import METHODS
from dccgcn.models.torch_operator import TorchOperator
from dccgcn.models.training import seeded
from dccgcn.operators import topology_operator


@dataclass(frozen=True)
class AttentionBenchmark:
    """Milliseconds are medians; the ratio is the median of the ratios of neighbouring rounds."""

    dataset: str
    heads: int
    width: int  # of each head
    threads: int
    rounds: int
    pyg_ms: float
    ours_ms: float
    ratio: float
    parity: float  # largest relative difference of the layer's output and gradients to PyG's, dropout off

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def bench_attention(name: str, rounds: int, threads: int) -> AttentionBenchmark:
    """Interleave both forms, with GAT's published settings, after comparing them on the same weights."""
    graph, s = datasets.load(name).graph, METHODS["gat"].published_settings(name)
    assert isinstance(s, GatSettings)
    (layer,) = receptive_layers(TorchOperator.of(topology_operator(graph, "none")), np.arange(graph.n), depth=1)
    pattern = layer.pattern
    edge_index = torch.stack([pattern.cols, pattern.rows])  # PyG wants (source, target)
    with seeded(0):
        ours = AttentionLayer(s.heads, s.hidden, s)
        h = torch.randn(graph.n, s.heads * s.hidden, requires_grad=True)
    pyg = GATConv(h.shape[1], s.hidden, s.heads, negative_slope=s.slope, dropout=s.dropout, bias=False)
    pyg.add_self_loops, pyg.lin = False, nn.Identity()  # the pattern has the loops; the product is another matter
    with torch.no_grad():
        pyg.att_src[0], pyg.att_dst[0] = ours.source, ours.target
    forms: list[tuple[Callable[[], Tensor], list[Tensor]]] = [
        (lambda: pyg(h, edge_index), [h, pyg.att_src, pyg.att_dst]),
        (lambda: ours(layer, h).flatten(1), [h, ours.source, ours.target]),
    ]
    pyg.eval()  # without dropout
    ours.eval()
    parity = _difference([_result(*form) for form in forms])
    pyg.train()
    ours.train()
    times = [[_timed(*form) for form in forms] for _ in range(rounds + 2)]  # the first two warm up
    measured = np.array(times[2:]) * 1000
    pyg_ms, ours_ms = np.median(measured, axis=0)
    ratio = float(np.median(measured[:, 0] / measured[:, 1]))
    return AttentionBenchmark(name, s.heads, s.hidden, threads, rounds, float(pyg_ms), float(ours_ms), ratio, parity)


def _result(layer: Callable[[], Tensor], by: list[Tensor]) -> list[Tensor]:
    """The layer's output, and the gradients of the sum of its squares."""
    out = layer()
    return [out.detach(), *torch.autograd.grad(out.square().sum(), by)]


def _timed(layer: Callable[[], Tensor], by: list[Tensor]) -> float:
    start = perf_counter()
    _result(layer, by)
    return perf_counter() - start


def _difference(results: list[list[Tensor]]) -> float:
    pairs = zip(*results, strict=True)
    return max(float((ours - pyg.view_as(ours)).abs().max() / pyg.abs().max()) for pyg, ours in pairs)
