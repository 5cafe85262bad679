"""M3S (Sun, Lin & Zhu, AAAI 2020): self-training in stages, pseudo-labels checked by clustering.

A stage trains GCN, takes the most confident nodes of each class (a part of Li et al.'s t_k), clusters the embeddings by
k-means, gives each cluster the class of the nearest centroid of labelled nodes, and keeps the pseudo-labels that agree
with their cluster, for all later stages. The embedding is GCN's output before the softmax, rows of unit length.
"""

from dataclasses import replace

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from dccgcn.methods.base import Method, Task
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines.li2018 import SelfTrainingSettings
from dccgcn.networks.baselines.pseudo_label_utils import (
    candidate_mask,
    fit_gcn,
    predicted_confidence,
    pseudo_label_finding,
    pseudo_labels_per_class,
    top_k_mask,
    training_mask,
)
from dccgcn.settings import count


class M3sSettings(SelfTrainingSettings):
    """Those of self-training, for all stages together, and of the clustering."""

    stages: int = count(5, "Stages of self-training.")
    clusters: int = count(200, "Clusters of the embeddings.")


def fit(task: Task, s: M3sSettings) -> Prediction:
    """Add pseudo-labels in stages, then train GCN a last time."""
    t = -(-pseudo_labels_per_class(task, s.eta_factor) // s.stages)  # rounded up
    candidates = candidate_mask(task)
    labels = given = training_mask(task)
    for _ in range(s.stages):
        stage = fit_gcn(task, labels, s)
        unlabelled = candidates & ~labels.any(axis=1)
        confident = top_k_mask(predicted_confidence(stage.probabilities, unlabelled), t)
        clustered = cluster_classes(stage.embeddings["output"], labels, s.clusters, task.seed)
        labels = labels | (confident & (clustered[:, None] == np.arange(task.graph.c)))
    prediction = fit_gcn(task, labels, s)
    return replace(prediction, findings=(*prediction.findings, pseudo_label_finding(labels & ~given)))


def cluster_classes(embeddings: np.ndarray, label_mask: np.ndarray, clusters: int, seed: int) -> np.ndarray:
    """Class of each node's cluster, (n,): the one whose labelled nodes have the centroid nearest to the cluster's."""
    x = normalize(embeddings).astype(np.float64)
    k = min(clusters, len(np.unique(x, axis=0)))
    with threadpool_limits(1):  # with several, the order of summation varies
        found = KMeans(k, n_init=1, random_state=seed).fit(x)
    counts = label_mask.sum(axis=0)
    centroids = label_mask.T @ x / np.maximum(counts, 1)[:, None]  # (c, width)
    distance = ((found.cluster_centers_[:, None] - centroids) ** 2).sum(axis=2)
    distance[:, counts == 0] = np.inf
    return distance.argmin(axis=1)[found.labels_]


METHOD = Method(name="m3s", settings=M3sSettings, fit=fit)
