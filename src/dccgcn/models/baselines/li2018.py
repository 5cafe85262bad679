"""Self-training, co-training, their union and their intersection (Li, Han & Wu, AAAI 2018): GCN with more labels.

t_k = ⌊3 η |L_k| / |L|⌋ nodes are given class k, with η = n / (mean degree)²: a label reaches some (mean degree)² nodes
through two layers, so η labels reach all. Self-training takes the nodes that a first GCN puts into class k with the
highest probability; co-training those with the largest Σ_{v ∈ L_k} P_uv, where P = (D - A + αI)^-1 are the absorption
probabilities of a random walk. GCN is then trained again on given and guessed labels alike.

As in the released code, a node that two classes want counts as a label of each.
"""

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from dccgcn.graph import NodeGraph
from dccgcn.models.base import Method
from dccgcn.models.baselines import gcn
from dccgcn.models.baselines.laplacian import Components, absorbing, conjugate_gradients
from dccgcn.models.baselines.pseudo_label_utils import confidence, given, largest, quota, retrain, told, unknown
from dccgcn.models.prediction import Prediction
from dccgcn.models.training import Progress
from dccgcn.settings import rate

Choice = Literal["self-training", "co-training", "union", "intersection"]


class SelfTrainingSettings(gcn.GcnSettings):
    """GCN's, and how many labels are guessed."""

    eta_factor: float = rate(3.0, "Labels to guess, in multiples of n / (mean degree)^2.")


class CoTrainingSettings(SelfTrainingSettings):
    """The same, and the random walk's."""

    alpha: float = rate(1e-6, "Absorption of the random walk, (D - A + alpha I)^-1.")


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: SelfTrainingSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
    *,
    choice: Choice,
) -> Prediction:
    """Guess labels in one of the four ways, and train GCN on them too."""
    t = quota(graph, train, settings.eta_factor)
    free = unknown(graph, train, validation)
    guesses = []
    if choice != "co-training":
        first = gcn.fit(graph, train, settings, seed, progress, validation)
        guesses.append(largest(confidence(first.probabilities, free), t))
    if choice != "self-training":
        assert isinstance(settings, CoTrainingSettings)
        guesses.append(largest(absorption(graph, train, settings.alpha) * free[:, None], t))
    guessed = np.logical_and.reduce(guesses) if choice == "intersection" else np.logical_or.reduce(guesses)
    prediction = retrain(graph, given(graph, train) | guessed, settings, seed, progress, validation)
    return replace(prediction, findings=(*prediction.findings, told(guessed)))


def absorption(graph: NodeGraph, train: np.ndarray, alpha: float) -> np.ndarray:
    """Σ_{v ∈ L_k} P_uv for each node and class, (n, c); exactly 0 where no label of the class can be reached."""
    y = given(graph, train)
    components = Components.find(graph.adjacency, train, y[train])
    mean = components.mean(y)  # what P makes of it is itself over α
    rest = conjugate_gradients(absorbing(graph.adjacency, alpha), y - mean)
    return np.where(components.present, mean / alpha + rest, 0)


def _method(choice: Choice, summary: str, settings: type[SelfTrainingSettings]) -> Method:
    return Method(choice, summary, "Li et al., AAAI 2018", settings, partial(fit, choice=choice))


SELF_TRAINING = _method("self-training", "GCN, trained again with its most confident answers.", SelfTrainingSettings)
CO_TRAINING = _method("co-training", "GCN with labels from a random walk.", CoTrainingSettings)
UNION = _method("union", "GCN with what self-training or co-training labels.", CoTrainingSettings)
INTERSECTION = _method("intersection", "GCN with what self-training and co-training label.", CoTrainingSettings)
