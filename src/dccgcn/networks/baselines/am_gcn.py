"""AM-GCN (Wang et al., KDD 2020): attention over embeddings specific to topology and features, and common.

Z_T and Z_F come from one GCN each on the topology and on the kNN graph, Z_CT and Z_CF from one GCN that both graphs
share; Z_C = (Z_CT + Z_CF)/2. The output is softmax(W Σ_i a_i Z_i + b) with attention a over (Z_T, Z_F, Z_C).
Loss: CE + β (HSIC(Z_T, Z_CT) + HSIC(Z_F, Z_CF))/2 + θ ‖S_T - S_F‖²/n², S the Gram matrices of the unit rows of Z_C*.

AM-GCN's losses on the Gram matrices K = Z Zᵀ of embeddings, without forming n × n matrices.

Their rank is at most the width h of an embedding, so h × h products suffice:
    tr(R K1 R K2) with the centring R = RR is ‖(R Z1)ᵀ (R Z2)‖²,
    ‖A Aᵀ - B Bᵀ‖² is ‖Aᵀ A‖² + ‖Bᵀ B‖² - 2 ‖Aᵀ B‖²      (all norms Frobenius).
"""

from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from dccgcn.features import Operator, Scaling, exact_knn, knn_operator, normalise_rows, scaling, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods import Method, Prediction, Task
from dccgcn.networks.autograd import FeatureMatrix, dropout_key, relu_dropout
from dccgcn.networks.layers import TorchOperator
from dccgcn.networks.training import Network, fit_network
from dccgcn.settings import Settings, count, rate, share, weight


class AmGcnSettings(Settings):
    """The released settings for Citeseer, the nearest to Cora; k is 5 for all other graphs."""

    hidden1: int = count(768, "Width of the first layer of each GCN.")
    hidden2: int = count(256, "Width of the second layer, the embeddings.")
    attention: int = count(16, "Width of the attention's hidden layer.")
    dropout: float = share(0.5, "Share of hidden units dropped in training; features are not.")
    k: int = count(7, "Neighbours of each node in the feature graph.")
    feature_edges: Literal["later", "either"] = Field(
        "later",
        description="Feature graph: u and v are adjacent if v comes later in the table and is among u's k nearest, as "
        "in the released files; or if either is among the other's k nearest.",
    )
    lr: float = rate(5e-4, "Learning rate of Adam.")
    weight_decay: float = weight(5e-3, "L2 penalty on all parameters.")
    epochs: int = count(25, "Training epochs; the released code reports the one that is best on the test nodes.")
    beta: float = weight(5.5e-3, "Weight of the independence of specific and common embeddings.")
    theta: float = weight(1e-3, "Weight of the agreement of the two common embeddings.")
    features: Scaling = scaling("raw")

    @property
    def neighbours(self) -> int:
        return self.k


def later_neighbours(graph: NodeGraph, k: int) -> Operator:
    """The released feature graph: about half of the kNN graph; the published settings are tuned to it."""

    def build() -> Operator:
        found = exact_knn(graph.features, k).indices
        rows, nth = np.nonzero(found > np.arange(graph.n)[:, None])
        later = sp.csr_array((np.ones(len(rows), np.float32), (rows, found[rows, nth])), shape=(graph.n, graph.n))
        return Operator.of(sp.csr_array(later + later.T), "row")

    return graph.cached(("later neighbours", k), build)


class Embeddings(NamedTuple):
    """Embeddings of all nodes, (n, hidden2) each, and logits, (n, c)."""

    topology: Tensor
    features: Tensor
    common_t: Tensor
    common_f: Tensor
    logits: Tensor


class GcnWithBias(nn.Module):
    """S relu(S X W1 + b1) W2 + b2, initialised uniformly within ±1/√width, as in the first GCN for PyTorch.

    Shapes: X (n, features) → (n, hidden2).
    """

    def __init__(self, features: int, hidden1: int, hidden2: int) -> None:
        super().__init__()
        self.w1, self.b1 = _uniform(features, hidden1), _uniform(hidden1)
        self.w2, self.b2 = _uniform(hidden1, hidden2), _uniform(hidden2)

    def forward(self, xw: Tensor, operator: TorchOperator, p: float, key: int) -> Tensor:
        """xw is X w1: features are not dropped, so one product serves both graphs."""
        h = relu_dropout(operator.propagate(xw) + self.b1, p, key)
        return operator.propagate(h @ self.w2) + self.b2


class AmGcn(Network):
    """Two specific GCNs, a common one, attention and the output layer.

    Shapes: X (n, d) → embeddings (n, hidden2), logits (nodes, c).
    """

    def __init__(self, task: Task, s: AmGcnSettings) -> None:
        super().__init__()
        graph, self.s, self.seed = task.graph, s, task.seed
        later = s.feature_edges == "later"
        knn = later_neighbours(graph, s.k) if later else knn_operator(graph, s.k, "row", task.progress)
        self.operators = TorchOperator.of(topology_operator(graph, "row")), TorchOperator.of(knn)
        self.x, self.findings = FeatureMatrix.of(normalise_rows(graph.features, s.features)), knn.findings
        self.specific_t, self.specific_f, self.common = (GcnWithBias(graph.d, s.hidden1, s.hidden2) for _ in range(3))
        self.attention = nn.Sequential(
            nn.Linear(s.hidden2, s.attention), nn.Tanh(), nn.Linear(s.attention, 1, bias=False)
        )
        self.output = nn.Linear(s.hidden2, graph.c)

    def embeddings(self, epoch: int = 0) -> Embeddings:
        """Of all nodes, with the dropout of an epoch of training."""
        p = self.s.dropout if self.training else 0.0
        keys = [dropout_key(self.seed, epoch, site) for site in range(4)]
        t, f = self.operators
        xw = self.x.times(self.common.w1)
        topology = self.specific_t(self.x.times(self.specific_t.w1), t, p, keys[0])
        features = self.specific_f(self.x.times(self.specific_f.w1), f, p, keys[1])
        common_t, common_f = self.common(xw, t, p, keys[2]), self.common(xw, f, p, keys[3])
        z = torch.stack([topology, features, (common_t + common_f) / 2], dim=1)  # (n, 3, hidden2)
        attended = (self.attention(z).softmax(1) * z).sum(1)
        return Embeddings(topology, features, common_t, common_f, self.output(attended))

    def forward(self, nodes: Tensor) -> Tensor:
        return self.embeddings().logits[nodes]

    def loss(self, nodes: Tensor, labels: Tensor, epoch: int) -> Tensor:
        s, z = self.s, self.embeddings(epoch)
        total = F.cross_entropy(z.logits[nodes], labels) + s.theta * gram_difference(z.common_t, z.common_f)
        if s.beta:
            total = total + s.beta / 2 * (hsic(z.topology, z.common_t) + hsic(z.features, z.common_f))
        return total

    def predict(self, n: int) -> Prediction:
        z = self.embeddings()
        embeddings = {"topology": z.topology, "features": z.features, "common": (z.common_t + z.common_f) / 2}
        arrays = {name: e.cpu().numpy() for name, e in embeddings.items()}
        return Prediction(z.logits.softmax(1).cpu().numpy(), embeddings=arrays, findings=self.findings)


def _uniform(*shape: int) -> nn.Parameter:
    bound = shape[-1] ** -0.5
    return nn.Parameter(nn.init.uniform_(torch.empty(shape), -bound, bound))


def hsic(z1: Tensor, z2: Tensor) -> Tensor:
    """(n-1)^-2 tr(R K1 R K2) with inner products as kernels: the squared norm of the cross-covariance.

    Shapes: (n, h), (n, h) → ().
    """
    covariance = (z1 - z1.mean(0)).T @ (z2 - z2.mean(0)) / max(len(z1) - 1, 1)
    return covariance.square().sum()


def gram_difference(z1: Tensor, z2: Tensor) -> Tensor:
    """Mean over all pairs of nodes of the squared difference of their cosines, after centring.

    Shapes: (n, h), (n, h) → ().
    """
    a, b = (F.normalize(z - z.mean(0), dim=1) for z in (z1, z2))
    total = (a.T @ a).square().sum() + (b.T @ b).square().sum() - 2 * (a.T @ b).square().sum()
    return total / len(a) ** 2


METHOD = Method(name="am-gcn", settings=AmGcnSettings, fit=partial(fit_network, AmGcn))
