"""E-GCN (our reading) of Qin, Zeng, Wu & Tang, Applied Intelligence 2021: the topology refined by estimated labels.

The paper's equations and code are not public, so this is our reading of its abstract, not a reproduction:

1. Train GCN. Soft labels Q are its probabilities, given labels clamped.
2. An edge's weight becomes w_uv ((1 - a) + a cos(q_u, q_v)). The cosine is used because q_u·q_v is small where GCN is
   uncertain; self-loops, of weight 1, would then outweigh the neighbours.
3. The most confident nodes get edges to those of them with the most similar soft labels (each among the k nearest of
   the other), with weight cos(q_u, q_v). Never between two training nodes: all of a class have the same q, and training
   nodes that propagate features to one another would overfit to them.
4. Train again on the new graph, and repeat.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from dccgcn.errors import Finding
from dccgcn.features import Operator, exact_knn
from dccgcn.methods import Method, Prediction, Task
from dccgcn.networks.baselines import gcn
from dccgcn.networks.baselines.self_training import training_mask
from dccgcn.settings import count, weight

OUR_READING = Finding(
    "note", "our-reading", "E-GCN's equations are not public: this is our reading of it, not a reproduction."
)


class EGcnSettings(gcn.GcnSettings):
    """GCN's, and those of the refinement."""

    rounds: int = count(2, "How often the topology is refined.")
    agreement: float = weight(
        0.5, "Share of an edge's weight that depends on how similar its ends' soft labels are.", most=1
    )
    confident: float = weight(0.1, "Share of the nodes, the most confident ones, that may get new edges.", most=1)
    k: int = count(3, "Maximum number of new edges of a node.")


def fit(task: Task, s: EGcnSettings) -> Prediction:
    """Train GCN and refine its graph, in turn."""
    graph, train = task.graph, task.train
    prediction = gcn.fit(task, s)
    for _ in range(s.rounds):
        q = prediction.probabilities.copy()
        q[train] = training_mask(task)[train]
        adjacency = reweight_edges(graph.adjacency, q, s.agreement) + new_edges(q, train, s.confident, s.k)
        operator = Operator.of(sp.csr_array(adjacency), s.normalisation)
        prediction = gcn.fit_on_operator(operator, task, s)
    return replace(prediction, findings=(*prediction.findings, OUR_READING))


def reweight_edges(adjacency: sp.csr_array, q: np.ndarray, agreement: float) -> sp.csr_array:
    """The given edges with weights w_uv ((1 - a) + a cos(q_u, q_v))."""
    entries = sp.coo_array(adjacency)
    weights = entries.data * ((1 - agreement) + agreement * cosine(q, entries.row, entries.col))
    return sp.csr_array((weights.astype(np.float32), (entries.row, entries.col)), shape=adjacency.shape)


def new_edges(q: np.ndarray, train: np.ndarray, confident: float, k: int) -> sp.csr_array:
    """New edges between confident nodes that are among each other's k nearest by soft label, weight cos(q_u, q_v).

    Not between two nodes of ``train``.
    """
    nodes = np.argsort(-q.max(axis=1), kind="stable")[: int(confident * len(q))]
    nodes.sort()  # ties go to the first node
    k = min(k, len(nodes) - 1)
    if k < 1:
        return sp.csr_array(2 * (len(q),), dtype=np.float32)
    found = exact_knn(q[nodes], k).indices
    u, v = np.repeat(nodes, k), nodes[found.reshape(-1)]
    allowed = ~(np.isin(u, train) & np.isin(v, train))
    u, v = u[allowed], v[allowed]
    directed = sp.csr_array((cosine(q, u, v).astype(np.float32), (u, v)), shape=2 * (len(q),))
    return sp.csr_array(directed.minimum(directed.T))  # mutual: a one-sided rule would create hubs


def cosine(q: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """cos(q_u, q_v) of pairs of nodes."""
    unit = normalize(q)
    return np.einsum("ek,ek->e", unit[u], unit[v])


METHOD = Method(name="e-gcn", settings=EGcnSettings, fit=fit)
