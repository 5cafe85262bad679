"""M3S (Sun, Lin & Zhu, AAAI 2020): self-training in stages, each guess checked against a clustering.

A stage trains GCN, takes the most confident nodes of each class (a part of Li et al.'s t_k), clusters the embeddings by
k-means, gives each cluster the class of the nearest centroid of labelled nodes, and keeps the guesses that agree with
their cluster. What is kept is a label in all later stages. The embedding is GCN's output before the softmax, rows of
unit length.
"""

from dataclasses import replace

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from dccgcn.graph import NodeGraph
from dccgcn.models.base import Method
from dccgcn.models.baselines.li2018 import SelfTrainingSettings
from dccgcn.models.baselines.pseudo_label_utils import confidence, given, largest, quota, retrain, told, unknown
from dccgcn.models.prediction import Prediction
from dccgcn.models.training import Progress
from dccgcn.settings import count


class M3sSettings(SelfTrainingSettings):
    """Self-training's, which count for all stages together, and the clustering's."""

    stages: int = count(5, "Rounds of guessing.")
    clusters: int = count(200, "Clusters of the embeddings.")


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: M3sSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Guess in stages, then train GCN a last time."""
    s = settings
    t = -(-quota(graph, train, s.eta_factor) // s.stages)  # rounded up
    free = unknown(graph, train, validation)
    known = start = given(graph, train)
    for _ in range(s.stages):
        stage = retrain(graph, known, s, seed, progress, validation)
        guessed = largest(confidence(stage.probabilities, free & ~known.any(axis=1)), t)
        checked = cluster_classes(stage.embeddings["output"], known, s.clusters, seed)
        known = known | (guessed & (checked[:, None] == np.arange(graph.c)))
    prediction = retrain(graph, known, s, seed, progress, validation)
    return replace(prediction, findings=(*prediction.findings, told(known & ~start)))


def cluster_classes(embeddings: np.ndarray, known: np.ndarray, clusters: int, seed: int) -> np.ndarray:
    """Class of each node's cluster, (n,): that of the labelled nodes whose centroid is nearest to the cluster's."""
    x = normalize(embeddings).astype(np.float64)
    k = min(clusters, len(np.unique(x, axis=0)))
    with threadpool_limits(1):  # threads add in the order in which they finish
        found = KMeans(k, n_init=1, random_state=seed).fit(x)
    labels = known.sum(axis=0)
    centroids = known.T @ x / np.maximum(labels, 1)[:, None]  # (c, width)
    distance = ((found.cluster_centers_[:, None] - centroids) ** 2).sum(axis=2)
    distance[:, labels == 0] = np.inf
    return distance.argmin(axis=1)[found.labels_]


METHOD = Method(
    name="m3s",
    summary="Self-training in stages, checked by clusters.",
    reference="Sun, Lin & Zhu, AAAI 2020",
    settings=M3sSettings,
    fit=fit,
)
