"""DGCN (Zhuang & Ma, WWW 2018): one network on two graphs, trained to agree.

Z_A = softmax(σ(S relu(S X W0) W1)) on the topology and Z_P, the same with P for S and the same weights, on the graph of
co-occurrence: P = D^-1/2 PPMI D^-1/2, PPMI_ij = max(0, log(F_ij ΣF / (F_i· F_·j))), where F counts how often two nodes
are on one random walk. Loss: Σ_labelled ‖Z_A - Y‖² + λ(t) Σ_all ‖Z_A - Z_P‖². Z_A is the prediction.
"""

import math
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from dccgcn.features import Scaling, normalise_rows, scaling, topology_operator
from dccgcn.methods import Method, Prediction, Task
from dccgcn.networks.autograd import FeatureMatrix, Pattern, dropout_key, relu_dropout, spmm
from dccgcn.networks.layers import TorchOperator
from dccgcn.networks.training import Network, fit_network
from dccgcn.settings import Settings, count, rate, share, weight

_OPTIMISERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}


class DgcnSettings(Settings):
    """The settings of the released code, which are the same for all of its graphs."""

    hidden: int = count(32, "Width of the hidden layer.")
    dropout: float = share(0.1, "Share of hidden units dropped in training.")
    optimiser: Literal["sgd", "adam"] = Field("sgd", description="Plain gradient descent, or Adam.")
    lr: float = rate(0.05, "Learning rate.")
    weight_decay: float = weight(0.0, "L2 penalty on both layers.")
    epochs: int = count(300, "Training epochs.")
    features: Scaling = scaling("raw")
    supervised: Literal["squared", "cross-entropy"] = Field(
        "squared",
        description="Loss of the labelled nodes: their probabilities' squared errors summed, or cross-entropy.",
    )
    output_activation: bool = Field(True, description="ReLU before the softmax too, as released.")
    walks: int = count(100, "Random walks from each node, self-loops included.")
    walk_length: int = Field(2, ge=2, description="Nodes on each walk, including the first.")
    consistency: float = weight(15.0, "Final weight of the consistency loss, times the share of labelled nodes.")
    ramp_up: int = count(120, "Epochs until that weight is reached.")


class Dgcn(Network):
    """Z = σ(S relu(S X W0) W1), with weights that both graphs share. Shapes: X (n, d) → (nodes, c)."""

    def __init__(self, task: Task, s: DgcnSettings) -> None:
        super().__init__()
        graph, self.s, self.seed, self.optimiser = task.graph, s, task.seed, _OPTIMISERS[s.optimiser]
        topology = TorchOperator.of(topology_operator(graph, "symmetric"))
        loops = topology_operator(graph, "none").matrix
        counts = cooccurrence_counts(loops, s.walks, s.walk_length, np.random.default_rng(task.seed))
        p = symmetric_normalise(ppmi(counts))
        self.graphs = ((topology.pattern, topology.alpha), (Pattern.of(p), torch.as_tensor(p.data)))
        self.x = FeatureMatrix.of(normalise_rows(graph.features, s.features))
        self.consistency = s.consistency * len(task.train) / graph.n
        self.w0 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(graph.d, s.hidden)))
        self.w1 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(s.hidden, graph.c)))

    def logits(self, which: int, epoch: int = 0) -> Tensor:
        """Of all nodes on one of the two graphs, with the dropout of an epoch, (n, c)."""
        pattern, values = self.graphs[which]
        drop, key = self.s.dropout if self.training else 0.0, dropout_key(self.seed, epoch, which)
        h = relu_dropout(spmm(pattern, values, self.x.times(self.w0)), drop, key)
        z = spmm(pattern, values, h @ self.w1)
        return z.relu() if self.s.output_activation else z

    def forward(self, nodes: Tensor) -> Tensor:
        return self.logits(0)[nodes]

    def loss(self, nodes: Tensor, labels: Tensor, epoch: int) -> Tensor:
        a, b = self.logits(0, epoch), self.logits(1, epoch)
        z_a, z_p = a.softmax(1), b.softmax(1)
        if self.s.supervised == "squared":
            supervised = (z_a[nodes] - F.one_hot(labels, a.shape[1])).square().sum()
        else:
            supervised = F.cross_entropy(a[nodes], labels, reduction="sum")
        return supervised + ramp_up(epoch, self.consistency, self.s.ramp_up) * (z_a - z_p).square().sum()

    def predict(self, n: int) -> Prediction:
        logits = [self.logits(which) for which in (0, 1)]
        z_a, z_p = (z.softmax(1).cpu().numpy() for z in logits)
        channels = {"topology": z_a, "ppmi": z_p}
        return Prediction(z_a, channels=channels, embeddings={"output": logits[0].cpu().numpy()})


def cooccurrence_counts(matrix: sp.csr_array, walks: int, length: int, rng: np.random.Generator) -> sp.csr_array:
    """F: how often two nodes are on one walk, over all pairs of positions, (n, n); equal nodes count once a pair."""
    n, degree = matrix.shape[0], np.diff(matrix.indptr)
    positions = [np.repeat(np.arange(n), walks)]
    for _ in range(length - 1):
        current = positions[-1]
        positions.append(matrix.indices[matrix.indptr[current] + rng.integers(0, degree[current])])
    counts = sp.csr_array((n, n))
    for first, second in combinations(positions, 2):
        pairs = sp.csr_array((np.ones(len(first)), (first, second)), shape=(n, n))
        counts = counts + pairs + pairs.T - sp.diags_array(pairs.diagonal())
    return sp.csr_array(counts)


def ppmi(counts: sp.csr_array) -> sp.csr_array:
    """max(0, log(F_ij ΣF / (F_i· F_·j))) where F_ij > 0."""
    entries = sp.coo_array(counts)
    totals = np.asarray(counts.sum(axis=1)).reshape(-1)  # F is symmetric: the sums of the columns too
    information = np.log(entries.data * totals.sum() / (totals[entries.row] * totals[entries.col]))
    positive = information > 0
    return sp.csr_array((information[positive], (entries.row[positive], entries.col[positive])), shape=counts.shape)


def symmetric_normalise(matrix: sp.csr_array) -> sp.csr_array:
    """D^-1/2 M D^-1/2; a row of zeros stays one."""
    degree = np.asarray(matrix.sum(axis=1)).reshape(-1)
    scale = sp.diags_array(1 / np.sqrt(np.where(degree > 0, degree, 1)))
    result = sp.csr_array(scale @ matrix @ scale, dtype=np.float32)
    result.sort_indices()
    return result


def ramp_up(epoch: int, final: float, length: int) -> float:
    """λ(t): from e^-5 of the final weight up to it."""
    return final * math.exp(-5 * (1 - min(epoch, length) / length) ** 2)


METHOD = Method(name="dgcn", settings=DgcnSettings, fit=partial(fit_network, Dgcn))
