"""GAT's first layer, forward and backward: the project's kernel and PyG's GATConv."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from benchmarks.timing import interleave, largest_difference, median_ratio
from dccgcn import datasets
from dccgcn.features import topology_operator
from dccgcn.methods.base import get_method
from dccgcn.networks.baselines.attention import AttentionLayer, GatSettings
from dccgcn.networks.layers import TorchOperator, receptive_layers
from dccgcn.networks.training import seeded


def bench_attention(name: str, rounds: int, threads: int) -> dict[str, Any]:
    """Compare both layers on equal weights, then time them in turn, with GAT's published settings.

    Times are medians; the ratio is the median over rounds. parity: largest relative difference of the layer's output
    and gradients to PyG's, without dropout.
    """
    graph, s = datasets.load(name).graph, get_method("gat").published_settings(name)
    assert isinstance(s, GatSettings)
    (layer,) = receptive_layers(TorchOperator.of(topology_operator(graph, "none")), np.arange(graph.n), depth=1)
    pattern = layer.pattern
    edge_index = torch.stack([pattern.cols, pattern.rows])  # PyG's order: source, target
    with seeded(0):
        ours = AttentionLayer(s.heads, s.hidden, s)
        h = torch.randn(graph.n, s.heads * s.hidden, requires_grad=True)
    pyg = GATConv(h.shape[1], s.hidden, s.heads, negative_slope=s.slope, dropout=s.dropout, bias=False)
    pyg.add_self_loops, pyg.lin = False, nn.Identity()  # the pattern has the loops; only attention is timed
    with torch.no_grad():
        pyg.att_src[0], pyg.att_dst[0] = ours.source, ours.target
    forms = [
        partial(_output_and_gradients, lambda: pyg(h, edge_index), [h, pyg.att_src, pyg.att_dst]),
        partial(_output_and_gradients, lambda: ours(layer, h).flatten(1), [h, ours.source, ours.target]),
    ]
    pyg.eval()  # without dropout
    ours.eval()
    reference, result = (form() for form in forms)
    parity = largest_difference(result, reference)
    pyg.train()
    ours.train()
    seconds = interleave(forms, rounds)
    return dict(
        dataset=name,
        heads=s.heads,
        width=s.hidden,
        threads=threads,
        rounds=rounds,
        pyg_ms=1000 * float(np.median(seconds[:, 0])),
        ours_ms=1000 * float(np.median(seconds[:, 1])),
        ratio=median_ratio(seconds[:, 0], seconds[:, 1]),
        parity=parity,
    )


def _output_and_gradients(layer: Callable[[], Tensor], inputs: list[Tensor], _: int = 0) -> list[Tensor]:
    """The layer's output, and the gradients of the sum of its squares by the inputs."""
    out = layer()
    return [out.detach(), *torch.autograd.grad(out.square().sum(), inputs)]
