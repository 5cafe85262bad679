"""One training epoch of GCN: the project's kernels, and PyG's layers as in PyG's own example."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from benchmarks.timing import interleave, largest_difference, median_ratio
from dccgcn import datasets
from dccgcn.features import normalise_rows, topology_operator
from dccgcn.graph import NodeGraph, splits
from dccgcn.methods.base import get_method
from dccgcn.networks.baselines.gcn import GcnSettings
from dccgcn.networks.layers import ReceptiveField, TorchOperator, TwoLayerGcn
from dccgcn.networks.training import seeded


def bench_gcn(name: str, hidden: int, rounds: int, threads: int) -> dict[str, Any]:
    """Compare the implementations on equal weights, then time their epochs in turn, each on its own weights.

    Ours is timed on all nodes as in PyG, and on the receptive field of the labelled nodes, as ``fit`` trains. Times are
    medians; ratios are medians over rounds. parity: largest relative difference of loss and gradients to PyG's,
    without dropout.
    """
    data = datasets.load(name)
    graph = data.graph
    split = data.splits.get("public") or splits.per_class(graph, 20, seed=0, small_classes="half")
    settings = get_method("gcn").published_settings(name, {"hidden": hidden})
    assert isinstance(settings, GcnSettings)
    with seeded(0):
        pyg = PygForm(graph, split.train, settings)
        ours = [OurForm(graph, split.train, settings, outputs) for outputs in (np.arange(graph.n), split.train)]
    for form in ours:
        form.copy_weights(pyg)
    reference = _loss_and_gradients(pyg)
    parity = max(largest_difference(_loss_and_gradients(form), reference) for form in ours)
    forms: list[OurForm | PygForm] = [pyg, *ours]
    with seeded(1):
        seconds = interleave([_epoch(form, settings) for form in forms], rounds)
    milliseconds = 1000 * np.median(seconds, axis=0)
    return dict(
        dataset=name,
        hidden=hidden,
        labels=len(split.train),
        threads=threads,
        rounds=rounds,
        pyg_ms=float(milliseconds[0]),
        whole_graph_ms=float(milliseconds[1]),
        whole_graph_ratio=median_ratio(seconds[:, 0], seconds[:, 1]),
        receptive_field_ms=float(milliseconds[2]),
        receptive_field_ratio=median_ratio(seconds[:, 0], seconds[:, 2]),
        parity=parity,
        nodes_in_field=(len(ours[1].inputs.layers[0].inputs), graph.n),  # its inputs, all nodes
    )


class OurForm(nn.Module):
    """GCN as in baselines.gcn, with the logits of the output nodes computed in every epoch."""

    def __init__(self, graph: NodeGraph, train: np.ndarray, settings: GcnSettings, outputs: np.ndarray) -> None:
        super().__init__()
        operator = TorchOperator.of(topology_operator(graph, settings.normalisation))
        self.inputs, self.alpha = ReceptiveField.of(graph, settings.features, operator, outputs), operator.alpha
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
        for ours, theirs in zip(self.weights(), other.weights(), strict=True):
            ours.copy_(theirs.T)

    def gradients(self) -> list[Tensor | None]:
        return [w.grad for w in self.weights()]


class PygForm(nn.Module):
    """Two GCNConv layers on dense features, without biases like the project's GCN."""

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


def _loss_and_gradients(form: OurForm | PygForm) -> list[Tensor]:
    """Loss and gradients of the weights, without dropout."""
    form.eval()
    form.zero_grad(set_to_none=True)
    value = form.loss(0)
    value.backward()
    form.train()
    return [value.detach(), *(g for g in form.gradients() if g is not None)]


def _epoch(form: OurForm | PygForm, settings: GcnSettings) -> Callable[[int], None]:
    """One training epoch with Adam: fused for ours as in train_full_batch, the default for PyG as in its example."""
    first, second = form.weights()
    groups: list[dict[str, Any]] = [{"params": [first], "weight_decay": settings.weight_decay}, {"params": [second]}]
    optimiser = torch.optim.Adam(groups, lr=settings.lr, fused=isinstance(form, OurForm))

    def epoch(number: int) -> None:
        optimiser.zero_grad(set_to_none=True)
        form.loss(number).backward()
        optimiser.step()

    return epoch
