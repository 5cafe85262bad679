"""Predictions by class: counts and trust of each class, and what helps to find the nodes of a rare one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import DccgcnError, Finding
from dccgcn.graph import NodeGraph, Split
from dccgcn.methods import Prediction
from dccgcn.quality.metrics import average_precision, recall_at
from dccgcn.quality.trust import predicted_nodes, trusted_nodes
from dccgcn.text import did_you_mean, first_few

RARE = 0.1  # share of the labels below which a class is rare
N_RANKED = 100  # nodes listed for a rare class
_LEAST_LABELS = 5  # of a rare class, without which its share of the labels says little
_LEAST_EXPECTED = 3  # predictions of a class, from its share of the labels, without which none is no surprise


def are_random(counts: np.ndarray) -> bool:
    """Whether labels look drawn at random: not if a second class has as many as the largest one, or one fewer.

    ``counts``: labels of each class, (classes,).
    """
    return bool((counts >= counts.max() - 1).sum() < 2)


@dataclass(frozen=True)
class ClassRow:
    """The labels and predictions of one class, or of all."""

    name: str
    labels: int  # in training
    predicted: int
    trusted: int  # of the predictions
    agreed: int | None  # predictions on which the channels agree; None without channels
    confidence: float | None  # mean of the predictions: the expected accuracy where it is a trust; None without any
    precision: float | None  # on the test nodes; None without any of the class
    recall: float | None


def class_table(graph: NodeGraph, split: Split, prediction: Prediction) -> tuple[list[ClassRow], ClassRow]:
    """A row for each class, and one for all of them. Counts are of the nodes that are predicted."""
    y_pred, trusted, mask = prediction.y_pred, trusted_nodes(graph, split, prediction), predicted_nodes(graph, split)
    labels, truth = graph.labels[split.train], graph.labels[split.test]
    is_right = y_pred[split.test] == truth

    def row(name: str, k: int | None) -> ClassRow:
        nodes = np.flatnonzero(mask if k is None else mask & (y_pred == k))
        agree = prediction.channels_agree
        return ClassRow(
            name=name,
            labels=len(labels) if k is None else int((labels == k).sum()),
            predicted=len(nodes),
            trusted=int(trusted.is_trusted[nodes].sum()),
            agreed=None if agree is None else int(agree[nodes].sum()),
            confidence=_mean(trusted.confidence[nodes]),
            precision=_mean(is_right if k is None else is_right[y_pred[split.test] == k]),
            recall=_mean(is_right if k is None else is_right[truth == k]),
        )

    return [row(str(name), k) for k, name in enumerate(graph.classes)], row("all", None)


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def missing_classes(graph: NodeGraph, split: Split, prediction: Prediction) -> list[int]:
    """Classes with training labels that are predicted nowhere although some predictions were to be expected."""
    rows, every = class_table(graph, split, prediction)
    return [
        k
        for k, row in enumerate(rows)
        if row.labels and not row.predicted and row.labels / every.labels * every.predicted >= _LEAST_EXPECTED
    ]


def class_findings(graph: NodeGraph, split: Split, prediction: Prediction) -> Iterator[Finding]:
    """A warning that names the missing classes, and one for each class that is predicted far too seldom."""
    yield from _never_predicted(graph, split, prediction)
    rows, every = class_table(graph, split, prediction)
    if not are_random(np.array([row.labels for row in rows if row.labels])):
        return
    for row in rows:
        share = row.labels / every.labels
        if row.labels >= _LEAST_LABELS and 0 < row.predicted < share * every.predicted / 2:
            name = row.name
            text = f"Class {first_few([name])} has {share:.1%} of the labels, but only {row.predicted:,} of "
            text += f"{every.predicted:,} predictions. If the labels were drawn at random, give its share (--set "
            text += f"'class_prior={{{name}: {share:.2g}}}'), or rank the nodes by its probability (Result.ranking)."
            yield Finding("warning", "seldom-predicted", text)


def _never_predicted(graph: NodeGraph, split: Split, prediction: Prediction) -> Iterator[Finding]:
    missing, n_labels = missing_classes(graph, split, prediction), len(split.train)
    if missing:
        labels = np.bincount(graph.labels[split.train], minlength=graph.c)
        listed = ", ".join(
            f"{first_few([str(graph.classes[k])])} ({labels[k]} of {n_labels} labels)" for k in missing[:5]
        )
        one = len(missing) == 1
        text = f"{'Class' if one else f'{len(missing)} classes:'} {listed} {'is' if one else 'are'} never predicted"
        remedy = "Label more of them, or rank the nodes by the probability of the class (Result.ranking)."
        yield Finding("warning", "never-predicted", f"{text}. {remedy}")


def rare_classes(graph: NodeGraph, split: Split) -> list[int]:
    """Classes with less than a tenth of the training labels, if fewer than half of all classes are so."""
    labels = np.bincount(graph.labels[split.train], minlength=graph.c)
    rare = [k for k in range(graph.c) if 0 < labels[k] < RARE * len(split.train)]
    return rare if len(rare) < graph.c / 2 or graph.c == 2 else []


def ranked_classes(graph: NodeGraph, split: Split, prediction: Prediction) -> list[int]:
    """Classes whose nodes have to be looked for: those never predicted, then the rare ones."""
    return list(dict.fromkeys([*missing_classes(graph, split, prediction), *rare_classes(graph, split)]))


def rank_nodes(graph: NodeGraph, split: Split, prediction: Prediction, k: int) -> np.ndarray:
    """The predicted nodes by falling probability of class k."""
    nodes = np.flatnonzero(predicted_nodes(graph, split))
    return nodes[np.argsort(-class_rank(prediction, k)[nodes], kind="stable")]


def class_rank(prediction: Prediction, k: int) -> np.ndarray:
    """(n,) larger where class k is more probable. Where trust caps the probabilities, the method's own decide."""
    before = prediction.probabilities if prediction.uncorrected is None else prediction.uncorrected
    keys = np.stack([before[:, k], prediction.probabilities[:, k]])
    order = np.lexsort(keys)
    is_larger = (np.diff(keys[:, order]) != 0).any(axis=0)
    rank = np.zeros(len(order), dtype=np.int64)
    rank[order[1:]] = np.cumsum(is_larger)
    return rank


def rare_class_scores(graph: NodeGraph, split: Split, prediction: Prediction) -> list[dict[str, Any]]:
    """For each ranked class among the test nodes: average precision, and recall at as many nodes as belong to it."""
    rows = []
    for k in ranked_classes(graph, split, prediction):
        is_member, score = graph.labels[split.test] == k, class_rank(prediction, k)[split.test]
        if n := int(is_member.sum()):
            rows.append(
                {
                    "class": str(graph.classes[k]),
                    "test_nodes": n,
                    "share": n / len(split.test),
                    "average_precision": average_precision(is_member, score),
                    "recall_at_k": recall_at(is_member, score, n),
                    "k": n,
                }
            )
    return rows


@dataclass(frozen=True)
class ClassBalance:
    """What accuracy hides on the test nodes: how far guessing comes, and how the smallest class fares."""

    majority: float  # accuracy of always predicting the most frequent class of the test nodes
    smallest: str  # the class with fewest labels of those among the test nodes
    recall: float  # share of its test nodes that are predicted as it
    average_precision: float  # of the test nodes ranked by its probability


def class_balance(graph: NodeGraph, split: Split, prediction: Prediction) -> ClassBalance | None:
    """None without test nodes."""
    truth = graph.labels[split.test]
    if len(truth) == 0:
        return None
    labels = np.bincount(graph.labels[graph.labelled], minlength=graph.c)
    k = min(np.unique(truth), key=labels.__getitem__)
    is_member, score = truth == k, class_rank(prediction, k)[split.test]
    return ClassBalance(
        majority=float(np.bincount(truth).max() / len(truth)),
        smallest=str(graph.classes[k]),
        recall=float((prediction.y_pred[split.test][is_member] == k).mean()),
        average_precision=average_precision(is_member, score),
    )


def ranking(graph: NodeGraph, split: Split, prediction: Prediction, name: Any) -> pd.DataFrame:
    """The predicted nodes by falling probability of one class."""
    names = [str(known) for known in graph.classes]
    if str(name) not in names:
        raise DccgcnError(
            f"There is no class {name!r}.{did_you_mean(str(name), names)}", f"Classes: {first_few(names)}."
        )
    k = names.index(str(name))
    nodes = rank_nodes(graph, split, prediction, k)
    columns: dict[str, Any] = {"class": str(name), "rank": np.arange(1, len(nodes) + 1), "node_id": graph.ids[nodes]}
    if graph.names is not None:
        columns["name"] = graph.names[nodes]
    predicted = np.array(names, dtype=object)[prediction.y_pred[nodes]]
    return pd.DataFrame({**columns, "probability": prediction.probabilities[nodes, k], "prediction": predicted})


def rankings(graph: NodeGraph, split: Split, prediction: Prediction) -> pd.DataFrame | None:
    """The first nodes of each class that is rare or never predicted; None if there is no such class."""
    chosen = ranked_classes(graph, split, prediction)
    found = [ranking(graph, split, prediction, graph.classes[k]).head(N_RANKED) for k in chosen]
    return pd.concat(found, ignore_index=True) if found else None
