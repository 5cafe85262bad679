"""GCN with pseudo-labels (Lee, ICML Workshop 2013) as in Section 5.2 and Table 6 of the DCC-GCN paper.

Eq. 13: Loss = L_s + α L_p, the cross-entropies of the labelled and of 100 pseudo-labelled nodes, α = 0.3 after epoch
100 and 0 before. The pseudo-labelled nodes are either the most confident of one GCN, or random nodes on which the two
channels of DCC-GCN agree.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field, field_validator
from torch import Tensor

from dccgcn.features import topology_operator
from dccgcn.methods import Method, Prediction, Task
from dccgcn.networks.baselines import gcn
from dccgcn.networks.baselines.self_training import candidate_mask
from dccgcn.networks.dcc import method as dcc
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.settings import count, weight


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


def fit(task: Task, s: PseudoLabelSettings) -> Prediction:
    """Choose pseudo-labels, then train GCN on Eq. 13."""
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


METHOD = Method(name="pseudo-labels", settings=PseudoLabelSettings, fit=fit)
