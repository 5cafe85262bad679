"""Self-training, co-training, their union and their intersection (Li, Han & Wu, AAAI 2018): GCN with more labels.

t_k = ⌊3 η |L_k| / |L|⌋ nodes are given class k, with η = n / (mean degree)²: a label reaches some (mean degree)² nodes
through two layers, so η labels reach all. Self-training takes the nodes that a first GCN puts into class k with the
highest probability; co-training those with the largest Σ_{v ∈ L_k} P_uv, where P = (D - A + αI)^-1 are the absorption
probabilities of a random walk. GCN is then trained again on given and guessed labels alike.

Guesses are an (n, c) mask, so that union and intersection are | and &. As in the released code, a node that two
classes want counts as a label of each.
"""

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import cg

from dccgcn.baselines import gcn
from dccgcn.errors import Finding
from dccgcn.graph import NodeGraph
from dccgcn.method import Method
from dccgcn.outcome import Outcome
from dccgcn.settings import rate
from dccgcn.training import Progress
from dccgcn.views import topology_view

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
) -> Outcome:
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
    outcome = retrain(graph, given(graph, train) | guessed, settings, seed, progress, validation)
    return replace(outcome, findings=(*outcome.findings, told(guessed)))


# What all systems that guess labels share


def given(graph: NodeGraph, train: np.ndarray) -> np.ndarray:
    """The training labels as an (n, c) mask."""
    mask = np.zeros((graph.n, graph.c), dtype=bool)
    mask[train, graph.labels[train]] = True
    return mask


def unknown(graph: NodeGraph, train: np.ndarray, validation: np.ndarray | None) -> np.ndarray:
    """(n,) mask of the nodes whose label may be guessed: a guess on a validation node would spoil what it measures."""
    mask = np.ones(graph.n, dtype=bool)
    mask[train] = False
    if validation is not None:
        mask[validation] = False
    return mask


def quota(graph: NodeGraph, train: np.ndarray, eta_factor: float) -> np.ndarray:
    """t_k for each class, (c,)."""
    eta = graph.n / max(graph.degree.mean(), 1) ** 2  # a label reaches at least its own node
    share = np.bincount(graph.labels[train], minlength=graph.c) / len(train)
    return np.floor(eta_factor * eta * share + 1e-9).astype(np.int64)


def confidence(probabilities: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Probability of each free node's predicted class, 0 elsewhere, (n, c)."""
    predicted = np.eye(probabilities.shape[1], dtype=bool)[probabilities.argmax(axis=1)]
    return np.where(predicted & free[:, None], probabilities, 0)


def largest(scores: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(n, c) mask of the t_k largest positive scores of each class, of equals the first."""
    chosen = np.zeros(scores.shape, dtype=bool)
    for k, most in enumerate(t):
        best = np.argsort(-scores[:, k], kind="stable")[:most]
        chosen[best[scores[best, k] > 0], k] = True
    return chosen


def retrain(
    graph: NodeGraph,
    known: np.ndarray,
    settings: gcn.GcnSettings,
    seed: int,
    progress: Progress | None,
    validation: np.ndarray | None,
) -> Outcome:
    """GCN on the labels of an (n, c) mask."""
    nodes, labels = np.nonzero(known)
    view = topology_view(graph, settings.normalisation)
    return gcn.fit_on(view, graph, nodes, settings, seed, progress, validation, labels=labels)


def told(guessed: np.ndarray) -> Finding:
    """How many labels were guessed."""
    nodes = int(guessed.any(axis=1).sum())
    if nodes == 0:
        return Finding("warning", "nothing-guessed", "No label was guessed: only the given ones were trained on.")
    return Finding("note", "guessed-labels", f"{nodes} nodes were trained on with guessed labels.")


def absorption(graph: NodeGraph, train: np.ndarray, alpha: float) -> np.ndarray:
    """Σ_{v ∈ L_k} P_uv for each node and class, (n, c); exactly 0 where no label of the class can be reached.

    D - A is singular but for the tiny α: constant vectors on a component are taken out and solved by hand (they are
    only divided by α), which leaves a well-conditioned system to conjugate gradients.
    """
    y = given(graph, train).astype(np.float64)
    size = np.bincount(graph.component)
    total = np.stack([np.bincount(graph.component, column) for column in y.T], axis=1)  # (components, c)
    mean = (total / size[:, None])[graph.component]
    a = graph.adjacency.astype(np.float64)
    diagonal = a.sum(axis=1) + alpha
    system = sp.csr_array(sp.diags_array(diagonal) - a)
    rest = [cg(system, column, rtol=1e-10, M=sp.diags_array(1 / diagonal))[0] for column in (y - mean).T]
    return np.where(total[graph.component] > 0, mean / alpha + np.stack(rest, axis=1), 0)


SELF_TRAINING = Method(
    name="self-training",
    summary="GCN, trained again with its most confident answers.",
    reference="Li et al., AAAI 2018",
    settings=SelfTrainingSettings,
    fit=partial(fit, choice="self-training"),
)
CO_TRAINING = Method(
    name="co-training",
    summary="GCN with labels from a random walk.",
    reference="Li et al., AAAI 2018",
    settings=CoTrainingSettings,
    fit=partial(fit, choice="co-training"),
)
UNION = Method(
    name="union",
    summary="GCN with what self-training or co-training labels.",
    reference="Li et al., AAAI 2018",
    settings=CoTrainingSettings,
    fit=partial(fit, choice="union"),
)
INTERSECTION = Method(
    name="intersection",
    summary="GCN with what self-training and co-training label.",
    reference="Li et al., AAAI 2018",
    settings=CoTrainingSettings,
    fit=partial(fit, choice="intersection"),
)
