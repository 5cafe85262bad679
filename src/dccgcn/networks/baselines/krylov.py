"""Truncated Krylov network (Luan et al., NeurIPS 2019): one wide layer on features at many propagation steps.

H = tanh([X, SX, …, S^(m-1) X] W + b), Z = H V + c. The layer's input is constant, so its rows are computed once for
the nodes in the loss; for all nodes it is never formed, since [X, SX, …] W = X W_0 + S (X W_1 + S (X W_2 + …)).
"""

from functools import partial

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field
from torch import Tensor, nn

from dccgcn.features import Normalisation, normalise_rows, topology_operator
from dccgcn.methods import Method, Task
from dccgcn.networks.autograd import FeatureMatrix
from dccgcn.networks.layers import TorchOperator
from dccgcn.networks.training import Network, NetworkSettings, fit_network
from dccgcn.settings import count, rate, share, weight

_UNITS = 256  # hidden units at a time where all nodes are classified, to bound memory


class KrylovSettings(NetworkSettings):
    """The paper tunes settings per dataset and label rate; these are its row for Cora, 0.5 %, no validation."""

    hidden: int = count(128, "Width of the hidden layer.")
    blocks: int = count(18, "Number m of blocks X, SX, …, S^(m-1) X.")
    dropout: float = share(0.76, "Share of hidden units dropped in training.")
    lr: float = rate(3.3e-3, "Learning rate of Adam.")
    weight_decay: float = weight(1e-4, "L2 penalty on all parameters.")
    epochs: int = count(200, "Maximum number of training epochs.")
    normalisation: Normalisation = Field("row", description="How A + I is normalised.")


def krylov_rows(matrix: sp.csr_array, x: sp.csr_array | np.ndarray, nodes: np.ndarray, blocks: int) -> Tensor:
    """[X, SX, …, S^(m-1) X] for some nodes, (nodes, blocks·d)."""
    power = sp.eye_array(matrix.shape[0], dtype=np.float32, format="csr")[nodes]
    rows = []
    for _ in range(blocks):
        block = power @ x
        rows.append(block.toarray() if sp.issparse(block) else block)
        power = power @ matrix
    return torch.as_tensor(np.concatenate(rows, axis=1, dtype=np.float32))


class Krylov(Network):
    """The network on one graph. Shapes: rows of the Krylov matrix (rows, blocks·d) → (rows, c)."""

    def __init__(self, task: Task, s: KrylovSettings) -> None:
        super().__init__()
        graph = task.graph
        self.operator, self.blocks = topology_operator(graph, s.normalisation), s.blocks
        self.x = normalise_rows(graph.features, s.features)
        self.hidden = nn.Linear(s.blocks * graph.d, s.hidden)
        self.output = nn.Linear(s.hidden, graph.c)
        self.dropout = nn.Dropout(s.dropout)
        for layer in (self.hidden, self.output):  # as in the released code, by the width of the output
            for p in layer.parameters():
                nn.init.uniform_(p, -(layer.out_features**-0.5), layer.out_features**-0.5)

    def inputs_of(self, nodes: np.ndarray) -> Tensor:
        return krylov_rows(self.operator.matrix, self.x, nodes, self.blocks)

    def forward(self, rows: Tensor) -> Tensor:
        return self.output(self.dropout(torch.tanh(self.hidden(rows))))

    @torch.no_grad()
    def classify_all(self, n: int) -> Tensor:
        operator, x = TorchOperator.of(self.operator), FeatureMatrix.of(self.x)
        logits = self.output.bias.expand(n, -1)
        for units in torch.arange(self.hidden.out_features).split(_UNITS):
            h = torch.zeros(n, len(units))
            for w in reversed(self.hidden.weight[units].T.split(x.shape[1])):  # W_(m-1) first; (d, units) each
                h = x.times(w) + operator.propagate(h)
            logits = logits + torch.tanh(h + self.hidden.bias[units]) @ self.output.weight[:, units].T
        return logits


METHOD = Method(name="krylov", settings=KrylovSettings, fit=partial(fit_network, Krylov))
