"""One training epoch of GCN on the project's kernels against PyG's layers, used as PyG's own example uses them."""

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from dccgcn import datasets
from dccgcn.graph import NodeGraph, splits
from dccgcn.models.baselines.gcn import GcnSettings
from dccgcn.models.layers import TwoLayerGcn
from dccgcn.models.receptive_field import ReceptiveField
from dccgcn.models.registry import METHODS
from dccgcn.models.torch_operator import TorchOperator
from dccgcn.models.training import seeded
from dccgcn.operators import normalise_rows, topology_operator


@dataclass(frozen=True)
class GcnBenchmark:
    """Milliseconds are medians; ratios are medians of the ratios of neighbouring rounds."""

    dataset: str
    hidden: int
    labels: int
    threads: int
    rounds: int
    pyg_ms: float
    whole_graph_ms: float  # ours, computing every node as PyG does
    whole_graph_ratio: float
    receptive_field_ms: float  # ours, computing what the labelled nodes depend on: how `fit` trains
    receptive_field_ratio: float
    parity: float  # largest relative difference of loss and gradients to PyG's, dropout off
    nodes_in_field: tuple[int, int]  # inputs that the receptive field reads, of all nodes

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def bench_gcn(name: str, hidden: int, rounds: int, threads: int) -> GcnBenchmark:
    """Interleave epochs of the three forms, each on weights of its own, after comparing them on the same weights."""
    data = datasets.load(name)
    graph = data.graph
    split = data.splits.get("public") or splits.per_class(graph, 20, seed=0, small_classes="half")
    settings = METHODS["gcn"].published_settings(name, {"hidden": hidden})
    assert isinstance(settings, GcnSettings)
    with seeded(0):
        pyg = PygForm(graph, split.train, settings)
        ours = [OurForm(graph, split.train, settings, outputs) for outputs in (np.arange(graph.n), split.train)]
    for form in ours:
        form.copy_weights(pyg)
    parity = max(_difference(form, pyg) for form in ours)
    forms: list[OurForm | PygForm] = [pyg, *ours]
    optimisers = [_adam(form, settings) for form in forms]
    with seeded(1):
        times = [
            [_timed(form, optimiser, round_) for form, optimiser in zip(forms, optimisers, strict=True)]
            for round_ in range(rounds + 2)  # the first two warm up
        ]
    measured = np.array(times[2:]) * 1000
    typical = np.median(measured, axis=0)
    ratios = np.median(measured[:, :1] / measured, axis=0)
    return GcnBenchmark(
        dataset=name,
        hidden=hidden,
        labels=len(split.train),
        threads=threads,
        rounds=rounds,
        pyg_ms=float(typical[0]),
        whole_graph_ms=float(typical[1]),
        whole_graph_ratio=float(ratios[1]),
        receptive_field_ms=float(typical[2]),
        receptive_field_ratio=float(ratios[2]),
        parity=parity,
        nodes_in_field=(len(ours[1].inputs.layers[0].inputs), graph.n),
    )


class OurForm(nn.Module):
    """GCN as baselines.gcn trains it, with the logits of these nodes computed in every epoch."""

    def __init__(self, graph: NodeGraph, train: np.ndarray, settings: GcnSettings, outputs: np.ndarray) -> None:
        super().__init__()
        view = TorchOperator.of(topology_operator(graph, settings.normalisation))
        self.inputs, self.alpha = ReceptiveField.of(graph, settings.features, view, outputs), view.alpha
        self.channel = TwoLayerGcn(graph.d, settings.hidden, graph.c, settings.dropout, output_activation=False)
        self.train_in_outputs = torch.from_numpy(np.searchsorted(outputs, train))
        self.labels = torch.from_numpy(graph.labels[train])

    def loss(self, epoch: int) -> Tensor:
        logits = self.channel(self.inputs, self.alpha, (0, epoch, 0))
        return F.cross_entropy(logits[self.train_in_outputs], self.labels)

    def weights(self) -> list[nn.Parameter]:
        return [self.channel.theta1, self.channel.theta2]

    @torch.no_grad()
    def copy_weights(self, other: "PygForm") -> None:
        for mine, theirs in zip(self.weights(), other.weights(), strict=True):
            mine.copy_(theirs.T)

    def gradients(self) -> list[Tensor | None]:
        return [w.grad for w in self.weights()]


class PygForm(nn.Module):
    """Two GCNConv layers on dense features; without biases, which the project's GCN does not have."""

    def __init__(self, graph: NodeGraph, train: np.ndarray, settings: GcnSettings) -> None:
        super().__init__()
        x = normalise_rows(graph.features, settings.features)
        self.x = torch.from_numpy(x.toarray() if sp.issparse(x) else x)
        self.edge_index = torch.from_numpy(np.concatenate([graph.edges, graph.edges[:, ::-1]]).T.copy())
        self.conv1 = GCNConv(graph.d, settings.hidden, cached=True, bias=False)
        self.conv2 = GCNConv(settings.hidden, graph.c, cached=True, bias=False)
        self.dropout = settings.dropout
        self.nodes, self.labels = torch.tensor(train), torch.from_numpy(graph.labels[train])

    def loss(self, epoch: int) -> Tensor:
        x = F.dropout(self.x, self.dropout, self.training)
        x = self.conv1(x, self.edge_index).relu()
        x = F.dropout(x, self.dropout, self.training)
        return F.cross_entropy(self.conv2(x, self.edge_index)[self.nodes], self.labels)

    def weights(self) -> list[nn.Parameter]:
        return [self.conv1.lin.weight, self.conv2.lin.weight]  # (out, in)

    def gradients(self) -> list[Tensor | None]:
        return [None if w.grad is None else w.grad.T for w in self.weights()]


def _difference(ours: OurForm, pyg: PygForm) -> float:
    """Largest relative difference of loss and gradients, both computed without dropout."""
    found: list[list[Tensor]] = []
    for form in (ours, pyg):
        form.eval()
        form.zero_grad(set_to_none=True)
        value = form.loss(0)
        value.backward()
        found.append([value.detach(), *(g for g in form.gradients() if g is not None)])
        form.train()
    return max(float((a - b).abs().max() / b.abs().max().clamp(min=1e-12)) for a, b in zip(*found, strict=True))


def _adam(form: OurForm | PygForm, settings: GcnSettings) -> torch.optim.Optimizer:
    """Adam as either side uses it: fused in training.train_full_batch, as it comes in PyG's example."""
    first, second = form.weights()
    groups: list[dict[str, Any]] = [{"params": [first], "weight_decay": settings.weight_decay}, {"params": [second]}]
    return torch.optim.Adam(groups, lr=settings.lr, fused=isinstance(form, OurForm))


def _timed(form: OurForm | PygForm, optimiser: torch.optim.Optimizer, epoch: int) -> float:
    start = perf_counter()
    optimiser.zero_grad(set_to_none=True)
    form.loss(epoch).backward()
    optimiser.step()
    return perf_counter() - start
