"""DCC-GCN on 24 nodes: a graph, settings and models."""

import numpy as np
import torch

from dccgcn.graph import NodeGraph
from dccgcn.networks.dcc.method import build_operators, classify
from dccgcn.networks.dcc.model import DccGcn
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.networks.training import seeded

N, C = 24, 3
TRAIN = np.array([0, 2, 3, 7, 11, 12, 16, 20])


def small_graph(seed=0, order=None):
    """24 nodes with real-valued features, so that no two neighbours tie; order permutes them."""
    rng = np.random.default_rng(seed)
    order = np.arange(N) if order is None else order
    x, edges, weights = rng.normal(size=(N, 7)), rng.integers(0, N - 1, (26, 2)), rng.uniform(0.5, 2, 26)
    labels = np.arange(N) % C
    place = np.argsort(order)  # where each node went
    return NodeGraph(x[order], place[edges], labels[order], edge_weights=weights)


def settings_of(**options):
    return DccSettings.of({"hidden1": 6, "hidden2": 4, "k": 2, "dropout": 0.0, "epochs": 4, **options})


def random_model(graph, s, seed=0):
    """Parameters away from where they start, so that no term of the loss is special."""
    with seeded(seed):
        model = DccGcn(graph.n, graph.d, graph.c, s)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter += (1.0 if "theta" in name else 0.1 if "bias" in name else 0.4) * torch.randn_like(parameter)
    return model


def torn_model(graph, s):
    """The first random model whose channels agree on some nodes only and let a labelled node be calibrated."""
    operators = build_operators(graph, s)
    for seed in range(100):
        model = random_model(graph, s, seed)
        prediction = classify(graph, operators, model)
        low = ~prediction.channels_agree[TRAIN]
        if 0.2 < prediction.channels_agree.mean() < 0.8 and (
            low.any() if not s.calibration else prediction.corrected[TRAIN].any()
        ):
            return model.train()
    raise AssertionError("no such model")


def doubled(model):
    return {name: p.detach().double().requires_grad_(p.requires_grad) for name, p in model.named_parameters()}
