"""Pseudo-labels: methods that also train GCN on labels that they predicted.

Labels are an (n, c) mask, so that union and intersection are | and &; a node may have labels of two classes.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field, field_validator
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits
from torch import Tensor

from dccgcn.errors import Finding
from dccgcn.features import topology_operator
from dccgcn.methods import Method, Prediction, Task
from dccgcn.networks.baselines import gcn
from dccgcn.networks.baselines.label_propagation import Components, conjugate_gradients, shifted_laplacian
from dccgcn.networks.dcc import method as dcc
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.settings import count, rate, weight


def training_mask(task: Task) -> np.ndarray:
    """The training labels as an (n, c) mask."""
    mask = np.zeros((task.graph.n, task.graph.c), dtype=bool)
    mask[task.train, task.labels] = True
    return mask


def candidate_mask(task: Task) -> np.ndarray:
    """(n,) mask of the nodes that may get a pseudo-label: neither training nor validation nodes."""
    mask = np.ones(task.graph.n, dtype=bool)
    mask[task.train] = False
    if task.validation is not None:
        mask[task.validation] = False
    return mask


def pseudo_labels_per_class(task: Task, eta_factor: float) -> np.ndarray:
    """t_k = ⌊factor · η · share of class k among the labels⌋, η = n / (mean degree)², (c,) (Li et al., AAAI 2018)."""
    graph = task.graph
    eta = graph.n / max(graph.degree.mean(), 1) ** 2  # a label covers at least one node
    share = np.bincount(task.labels, minlength=graph.c) / len(task.labels)
    return np.floor(eta_factor * eta * share + 1e-9).astype(np.int64)


def predicted_confidence(probabilities: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Probability of the predicted class of each candidate node, 0 elsewhere, (n, c)."""
    predicted = np.eye(probabilities.shape[1], dtype=bool)[probabilities.argmax(axis=1)]
    return np.where(predicted & candidates[:, None], probabilities, 0)


def top_k_mask(scores: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(n, c) mask of the t_k largest positive scores of each class k; ties go to the first node."""
    chosen = np.zeros(scores.shape, dtype=bool)
    for k, most in enumerate(t):
        best = np.argsort(-scores[:, k], kind="stable")[:most]
        chosen[best[scores[best, k] > 0], k] = True
    return chosen


def fit_gcn(task: Task, label_mask: np.ndarray, s: gcn.GcnSettings, patience: int | None = None) -> Prediction:
    """GCN trained on the labels of an (n, c) mask; patience as in ``gcn.fit_on_operator``."""
    nodes, labels = np.nonzero(label_mask)
    operator = topology_operator(task.graph, s.normalisation)
    return gcn.fit_on_operator(operator, replace(task, train=nodes), s, labels=labels, patience=patience)


def pseudo_label_finding(pseudo_labels: np.ndarray) -> Finding:
    """How many nodes of an (n, c) mask have pseudo-labels."""
    nodes = int(pseudo_labels.any(axis=1).sum())
    if nodes == 0:
        return Finding("warning", "no-pseudo-labels", "No node got a pseudo-label; only the given labels were used.")
    return Finding("note", "pseudo-labels", f"Training also used the pseudo-labels of {nodes} nodes.")


Choice = Literal["self-training", "co-training", "union", "intersection"]


class SelfTrainingSettings(gcn.GcnSettings):
    """GCN's, and the number of pseudo-labels."""

    eta_factor: float = rate(3.0, "Number of pseudo-labels, in multiples of n / (mean degree)^2.")


class CoTrainingSettings(SelfTrainingSettings):
    """The settings of self-training and of the random walk."""

    alpha: float = rate(1e-6, "Absorption of the random walk, (D - A + alpha I)^-1.")


def fit(task: Task, settings: SelfTrainingSettings, *, choice: Choice) -> Prediction:
    """Self-training, co-training, their union and their intersection (Li, Han & Wu, AAAI 2018): GCN with more labels.

    t_k = ⌊3 η |L_k| / |L|⌋ nodes are given class k, with η = n / (mean degree)²: a label reaches some (mean degree)²
    nodes through two layers, so η labels reach all. Self-training takes the nodes that a first GCN assigns to class k
    with the highest probability; co-training those with the largest Σ_{v ∈ L_k} P_uv, where P = (D - A + αI)^-1 are the
    absorption probabilities of a random walk. GCN is then trained again on given labels and pseudo-labels alike. As in
    the released code, a node that is chosen for two classes is a label of each.
    """
    t = pseudo_labels_per_class(task, settings.eta_factor)
    candidates = candidate_mask(task)
    masks = []
    if choice != "co-training":
        first = gcn.fit(task, settings)
        masks.append(top_k_mask(predicted_confidence(first.probabilities, candidates), t))
    if choice != "self-training":
        assert isinstance(settings, CoTrainingSettings)
        masks.append(top_k_mask(absorption(task, settings.alpha) * candidates[:, None], t))
    pseudo_labels = np.logical_and.reduce(masks) if choice == "intersection" else np.logical_or.reduce(masks)
    prediction = fit_gcn(task, training_mask(task) | pseudo_labels, settings)
    return replace(prediction, findings=(*prediction.findings, pseudo_label_finding(pseudo_labels)))


def absorption(task: Task, alpha: float) -> np.ndarray:
    """Σ_{v ∈ L_k} P_uv for each node and class, (n, c); exactly 0 where no label of the class can be reached."""
    graph, y = task.graph, training_mask(task)
    components = Components.find(graph.adjacency, task.train, y[task.train])
    mean = components.mean(y)  # an eigenvector of P with eigenvalue 1/α
    rest = conjugate_gradients(shifted_laplacian(graph.adjacency, alpha), y - mean)
    return np.where(components.class_present, mean / alpha + rest, 0)


def _method(choice: Choice, settings: type[SelfTrainingSettings]) -> Method:
    return Method(choice, settings, partial(fit, choice=choice))


SELF_TRAINING = _method("self-training", SelfTrainingSettings)
CO_TRAINING = _method("co-training", CoTrainingSettings)
UNION = _method("union", CoTrainingSettings)
INTERSECTION = _method("intersection", CoTrainingSettings)


class M3sSettings(SelfTrainingSettings):
    """The settings of self-training, for all stages together, and of the clustering."""

    stages: int = count(5, "Stages of self-training.")
    clusters: int = count(200, "Clusters of the embeddings.")


def fit_m3s(task: Task, s: M3sSettings) -> Prediction:
    """M3S (Sun, Lin & Zhu, AAAI 2020): self-training in stages, pseudo-labels checked by clustering.

    A stage trains GCN, takes the most confident nodes of each class (a part of Li et al.'s t_k), clusters the
    embeddings by k-means, gives each cluster the class of the nearest centroid of labelled nodes, and keeps the
    pseudo-labels that agree with their cluster, for all later stages. The embedding is GCN's output before the softmax,
    rows of unit length.
    """
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


M3S = Method(name="m3s", settings=M3sSettings, fit=fit_m3s)


class PseudoLabelSettings(gcn.GcnSettings):
    """GCN's, and those of Section 5.2."""

    choice: Literal["confident", "dual-channel"] = Field(
        "dual-channel",
        description="Pseudo-labelled nodes: the most confident of GCN, or random ones on which DCC-GCN agrees.",
    )
    added: int = count(100, "Number of pseudo-labelled nodes.")
    alpha: float = weight(0.3, "Weight of their cross-entropy, Eq. 13.")
    alpha_after: int = Field(100, ge=0, description="Epochs before the pseudo-labels count.")
    dcc: dict[str, Any] = Field(
        {}, validate_default=True, description="DCC-GCN's options; those that are not given are its defaults."
    )

    @field_validator("dcc")
    @classmethod
    def _complete(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return DccSettings.of(
            options
        ).model_dump()  # complete, so that a stored run names the defaults it was made with


def fit_pseudo_labels(task: Task, s: PseudoLabelSettings) -> Prediction:
    """GCN with pseudo-labels (Lee, ICML Workshop 2013) as in Section 5.2 and Table 6 of the DCC-GCN paper.

    Eq. 13: Loss = L_s + α L_p, the cross-entropies of the labelled and of 100 pseudo-labelled nodes, α = 0.3 after
    epoch 100 and 0 before. The pseudo-labelled nodes are either the most confident of one GCN, or random nodes on which
    the two channels of DCC-GCN agree.
    """
    graph, train = task.graph, task.train
    candidates = np.flatnonzero(candidate_mask(task))
    if s.choice == "confident":
        nodes, labels = most_confident(gcn.fit(task, s), candidates, s.added)
    else:
        dual = dcc.fit(replace(task, validation=None), DccSettings.of(s.dcc))
        nodes, labels = random_agreed(dual, candidates, s.added, task.seed)
    before = torch.cat([torch.full((len(train),), 1 / len(train)), torch.zeros(len(nodes))])
    after = before + torch.cat([torch.zeros(len(train)), torch.full((len(nodes),), s.alpha / max(1, len(nodes)))])

    def weights(epoch: int) -> Tensor:  # epochs count from 0 here, from 1 in the paper
        return after if epoch >= s.alpha_after else before

    all_nodes, all_labels = np.concatenate([train, nodes]), np.concatenate([task.labels, labels])
    operator = topology_operator(graph, s.normalisation)
    return gcn.fit_on_operator(operator, replace(task, train=all_nodes), s, labels=all_labels, weights=weights)


def most_confident(first: Prediction, candidates: np.ndarray, added: int) -> tuple[np.ndarray, np.ndarray]:
    """The candidate nodes with the highest probability, and their predicted classes, (added,) each."""
    order = np.argsort(-first.probabilities[candidates].max(axis=1), kind="stable")
    nodes = candidates[order[:added]]
    return nodes, first.y_pred[nodes]


def random_agreed(dual: Prediction, candidates: np.ndarray, added: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random candidate nodes on which the channels agree, and the class they agree on, (added,) each."""
    assert dual.channels_agree is not None
    high = candidates[dual.channels_agree[candidates]]
    nodes = np.random.default_rng(seed).permutation(high)[:added]
    return nodes, dual.channels["topology"].argmax(axis=1)[nodes]


PSEUDO_LABELS = Method(name="pseudo-labels", settings=PseudoLabelSettings, fit=fit_pseudo_labels)
