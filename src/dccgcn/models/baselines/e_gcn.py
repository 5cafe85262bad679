"""E-GCN (our reading) of Qin, Zeng, Wu & Tang, Applied Intelligence 2021: the topology refined by estimated labels.

The paper's equations and code are not public, so this is our reading of its abstract, not a reproduction:

1. Train GCN. Soft labels Q are its probabilities, given labels clamped.
2. An edge's weight becomes w_uv ((1 - a) + a cos(q_u, q_v)). The cosine, since q_u·q_v is small wherever GCN is unsure,
   and the self-loops, of weight 1, would then drown the neighbours.
3. The most confident nodes are joined to those of them with the most similar soft labels (each among the k nearest of
   the other), with weight cos(q_u, q_v). Never two given labels: all of a class have the same q, and nodes that learn
   from one another's features need not learn from their own, which is all that others have.
4. Train again on the new graph, and repeat.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from sklearn.preprocessing import normalize

from dccgcn.errors import Finding
from dccgcn.graph import NodeGraph
from dccgcn.models.base import Method
from dccgcn.models.baselines import gcn
from dccgcn.models.baselines.pseudo_label_utils import given
from dccgcn.models.prediction import Prediction
from dccgcn.models.training import Progress
from dccgcn.operators import Operator, exact_knn
from dccgcn.settings import count

OUR_READING = Finding(
    "note", "our-reading", "E-GCN's equations are not public: this is our reading of it, not a reproduction."
)


class EGcnSettings(gcn.GcnSettings):
    """GCN's, and those of our reading."""

    rounds: int = count(2, "How often the topology is refined.")
    agreement: float = Field(
        0.5, ge=0, le=1, description="Share of an edge's weight that depends on how well the labels of its ends agree."
    )
    confident: float = Field(
        0.1, ge=0, le=1, description="Share of the nodes, the most confident, that new edges may join; 0: no new edges."
    )
    k: int = count(3, "Most new edges of a node.")


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: EGcnSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """GCN and the refinement of its graph in turn."""
    s = settings
    prediction = gcn.fit(graph, train, s, seed, progress, validation)
    for _ in range(s.rounds):
        q = prediction.probabilities.copy()
        q[train] = given(graph, train)[train]
        adjacency = sp.csr_array(reweighted(graph.adjacency, q, s.agreement) + joined(q, train, s.confident, s.k))
        prediction = gcn.fit_on(Operator.of(adjacency, s.normalisation), graph, train, s, seed, progress, validation)
    return replace(prediction, findings=(*prediction.findings, OUR_READING))


def reweighted(adjacency: sp.csr_array, q: np.ndarray, agreement: float) -> sp.csr_array:
    """The given edges with weights w_uv ((1 - a) + a cos(q_u, q_v))."""
    entries = sp.coo_array(adjacency)
    weights = entries.data * ((1 - agreement) + agreement * cosine(q, entries.row, entries.col))
    return sp.csr_array((weights.astype(np.float32), (entries.row, entries.col)), shape=adjacency.shape)


def joined(q: np.ndarray, train: np.ndarray, confident: float, k: int) -> sp.csr_array:
    """New edges between confident nodes that are among each other's k nearest by soft label, weight cos(q_u, q_v).

    Not between two nodes of ``train``.
    """
    nodes = np.argsort(-q.max(axis=1), kind="stable")[: int(confident * len(q))]
    nodes.sort()  # of equally similar nodes the first is taken
    k = min(k, len(nodes) - 1)
    if k < 1:
        return sp.csr_array(2 * (len(q),), dtype=np.float32)
    found = exact_knn(q[nodes], k).indices
    u, v = np.repeat(nodes, k), nodes[found.reshape(-1)]
    apart = ~(np.isin(u, train) & np.isin(v, train))
    u, v = u[apart], v[apart]
    directed = sp.csr_array((cosine(q, u, v).astype(np.float32), (u, v)), shape=2 * (len(q),))
    return sp.csr_array(directed.minimum(directed.T))  # mutual: a one-sided rule would make hubs of some nodes


def cosine(q: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """cos(q_u, q_v) of pairs of nodes."""
    unit = normalize(q)
    return np.einsum("ek,ek->e", unit[u], unit[v])


METHOD = Method(
    name="e-gcn",
    summary="E-GCN (our reading): GCN and its topology, refined in turn by estimated labels.",
    reference="after Qin et al., Applied Intelligence 2021",
    settings=EGcnSettings,
    fit=fit,
)
