"""Self-training, co-training, their union and their intersection (Li, Han & Wu, AAAI 2018): GCN with more labels.

t_k = ⌊3 η |L_k| / |L|⌋ nodes are given class k, with η = n / (mean degree)²: a label reaches some (mean degree)² nodes
through two layers, so η labels reach all. Self-training takes the nodes that a first GCN assigns to class k with the
highest probability; co-training those with the largest Σ_{v ∈ L_k} P_uv, where P = (D - A + αI)^-1 are the absorption
probabilities of a random walk. GCN is then trained again on given labels and pseudo-labels alike.

As in the released code, a node that is chosen for two classes is a label of each.
"""

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from dccgcn.methods.base import Method, Task
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines import gcn
from dccgcn.networks.baselines.laplacian import Components, conjugate_gradients, shifted_laplacian
from dccgcn.networks.baselines.pseudo_label_utils import (
    candidate_mask,
    fit_gcn,
    predicted_confidence,
    pseudo_label_finding,
    pseudo_labels_per_class,
    top_k_mask,
    training_mask,
)
from dccgcn.settings import rate

Choice = Literal["self-training", "co-training", "union", "intersection"]


class SelfTrainingSettings(gcn.GcnSettings):
    """GCN's, and the number of pseudo-labels."""

    eta_factor: float = rate(3.0, "Number of pseudo-labels, in multiples of n / (mean degree)^2.")


class CoTrainingSettings(SelfTrainingSettings):
    """Those of self-training and of the random walk."""

    alpha: float = rate(1e-6, "Absorption of the random walk, (D - A + alpha I)^-1.")


def fit(task: Task, settings: SelfTrainingSettings, *, choice: Choice) -> Prediction:
    """Choose pseudo-labels in one of the four ways, and train GCN on them too."""
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
