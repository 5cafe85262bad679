"""MLP: Z = relu(X W0) W1, that is GCN with S = I. What the features alone can do."""

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field

from dccgcn.baselines import gcn
from dccgcn.graph import NodeGraph
from dccgcn.kernels import Pattern
from dccgcn.method import Method
from dccgcn.outcome import Outcome
from dccgcn.settings import Settings, count, rate, share, weight
from dccgcn.training import Progress
from dccgcn.views import Scaling, View


class MlpSettings(Settings):
    """GCN's settings, but for the graph."""

    hidden: int = count(16, "Width of the hidden layer.")
    dropout: float = share(0.5, "Share of features and hidden units dropped in training.")
    lr: float = rate(0.01, "Learning rate of Adam.")
    weight_decay: float = weight(5e-4, "L2 penalty on the first layer.")
    epochs: int = count(200, "Training epochs.")
    features: Scaling = Field("row", description="Feature rows as given, divided by their sum, or of unit length.")


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: MlpSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Outcome:
    """Train on the labels of the nodes in ``train`` and classify all nodes."""
    s = gcn.GcnSettings(**settings.model_dump())
    return gcn.fit_on(_without_edges(graph.n), graph, train, s, seed, progress, validation)


def _without_edges(n: int) -> View:
    """Every node sees itself alone."""
    identity = sp.eye_array(n, dtype=np.float32, format="csr")
    return View(sp.csr_array((n, n), dtype=np.float32), identity, Pattern.of(identity), torch.ones(n))


METHOD = Method(
    name="mlp",
    summary="The features alone, GCN without edges.",
    reference="Kipf & Welling, ICLR 2017",
    settings=MlpSettings,
    fit=fit,
)
