"""Logistic regression on a node's own features, and on those of its neighbourhood.

logreg       softmax(X W + b)
logreg-hops  softmax([X V_0, M X V_1, M² X V_2] W + b) with M = D^-1 A, without self-loops

V_h (d, r) are the leading right singular vectors of M^h X, or the identity where there are at most r features.
W and b minimise C Σ_train cross-entropy + ½ ‖W‖²; of two classes, the first has the logit 0.

Scaling: columns are standardised if they are few or numeric, and each block is divided by its root mean square. Else
they are words or categories, and all rows of X and of each block are scaled to unit length.

Gradient boosting on own, neighbours' and two-hop features: what a data scientist would try on a large table.

boosting-hops  trees on [X V_0, M X V_1, M² X V_2] of logreg-hops
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from dccgcn.features import (
    NumericColumns,
    block_krylov_svd,
    columns_to_standardise,
    mean_operator,
    normalise_rows,
    standardised,
)
from dccgcn.graph import NodeGraph
from dccgcn.methods import Method, Prediction, Task
from dccgcn.settings import Settings, count, rate

N_HOPS = 3  # M^0, M^1, M^2
_MAX_ITERATIONS = 1000
_FEW = 128  # features, of which all are standardised


class LogregSettings(Settings):
    """C = 10 was preferred to 1 on development splits of nine graphs: it gains three to six points on amazon-photo from
    5 labels per class on, and costs up to two on Citeseer."""

    C: float = rate(10.0, "Weight C of the cross-entropy against the penalty ½ ‖W‖².")


class LogregHopsSettings(LogregSettings):
    """The settings of logreg and the width of the blocks."""

    n_components: int = count(128, "Columns r that each block M^h X is reduced to; fewer features are not reduced.")


def fit(task: Task, settings: LogregSettings) -> Prediction:
    """Logistic regression on X. Deterministic; validation nodes are not used."""
    graph = task.graph
    numeric = columns_to_standardise(graph, _FEW)
    return _fit_head(scaled_features(graph, numeric), _moments(numeric), graph, task.train, settings.C)


def fit_hops(task: Task, settings: LogregHopsSettings) -> Prediction:
    """Logistic regression on [X V_0, M X V_1, M² X V_2]. Deterministic; validation nodes are not used."""
    return _fit_head(*hop_features(task.graph, settings.n_components), task.graph, task.train, settings.C)


def predict_new(model: Mapping[str, np.ndarray], graph: NodeGraph, settings: LogregSettings) -> Prediction:
    """Classify a graph with appended nodes, with the weights, moments and V_h of training."""
    numeric = NumericColumns(model["columns"], model["mean"], model["deviation"]) if "columns" in model else None
    if "vectors" in model:
        blocks = hop_feature_blocks(graph, numeric, model["vectors"])
        return _classify(join_blocks(blocks, model.get("scale")), model)
    return _classify(scaled_features(graph, numeric), model)


def scaled_features(graph: NodeGraph, numeric: NumericColumns | None) -> Any:
    """X with these columns standardised, or, without any, with rows of unit length, (n, d)."""
    return normalise_rows(graph.features, "unit") if numeric is None else standardised(graph.features, numeric)


def hop_features(graph: NodeGraph, r: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """[X V_0, M X V_1, M² X V_2], scaled, (n, 3r), and the moments and V_h that they are made with."""
    numeric = columns_to_standardise(graph, _FEW)
    vectors = graph.cached(("logreg-hops", r), lambda: hop_vectors(graph, scaled_features(graph, numeric), r))
    blocks = hop_feature_blocks(graph, numeric, vectors)
    scale = None if numeric is None else np.sqrt(np.square(blocks).mean(axis=(1, 2)))  # (3,)
    state = {**_moments(numeric), "vectors": vectors, **({} if scale is None else {"scale": scale})}
    return join_blocks(blocks, scale), state


def hop_vectors(graph: NodeGraph, x: Any, r: int) -> np.ndarray:
    """V_h for all h, (3, d, min(r, d))."""
    if graph.d <= r:
        return np.stack([np.eye(graph.d, dtype=np.float32)] * N_HOPS)
    mean = mean_operator(graph)
    transposed = sp.csr_array(mean.T)
    width = min(r, graph.n)
    vectors = np.zeros((N_HOPS, graph.d, width), dtype=np.float32)
    for hop in range(N_HOPS):

        def matmul(m: np.ndarray, hop: int = hop) -> np.ndarray:
            return _apply(mean, x @ m, hop)

        def transposed_matmul(m: np.ndarray, hop: int = hop) -> np.ndarray:
            return np.asarray(x.T @ _apply(transposed, m, hop))

        v = block_krylov_svd(matmul, transposed_matmul, x.shape, width)
        vectors[hop, :, : v.shape[1]] = v  # fewer where the rank is lower
    return vectors


def hop_feature_blocks(graph: NodeGraph, numeric: NumericColumns | None, vectors: np.ndarray) -> np.ndarray:
    """X V_0, M X V_1 and M² X V_2, (3, n, r)."""
    x, mean = scaled_features(graph, numeric), mean_operator(graph)
    return np.stack([_apply(mean, x @ v, hop) for hop, v in enumerate(vectors)])


def join_blocks(blocks: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Blocks side by side, each divided by its scale, or without scales with rows of unit length, (n, 3r)."""
    if scale is None:
        return np.hstack([normalise_rows(block, "unit") for block in blocks])
    return np.hstack(list(blocks / np.where(scale > 0, scale, 1)[:, None, None]))


def _apply(matrix: sp.csr_array, h: Any, times: int) -> np.ndarray:
    for _ in range(times):
        h = matrix @ h
    return np.asarray(h, dtype=np.float32)


def _moments(numeric: NumericColumns | None) -> dict[str, np.ndarray]:
    return {} if numeric is None else {name: getattr(numeric, name) for name in ("columns", "mean", "deviation")}


def _fit_head(rows: Any, state: dict[str, np.ndarray], graph: NodeGraph, train: np.ndarray, c: float) -> Prediction:
    head = LogisticRegression(C=c, max_iter=_MAX_ITERATIONS).fit(rows[train].astype(np.float64), graph.labels[train])
    w, b = head.coef_, head.intercept_
    if graph.c == 2:  # scikit-learn gives the log-odds of the second class only
        w, b = np.vstack([np.zeros_like(w), w]), np.concatenate([[0.0], b])
    return _classify(rows, {"weight": w.T.astype(np.float32), "bias": b.astype(np.float32), **state})


def _classify(rows: Any, model: Mapping[str, np.ndarray]) -> Prediction:
    logits = np.asarray(rows @ model["weight"] + model["bias"], dtype=np.float32)  # (n, c)
    return Prediction(softmax(logits, axis=1), embeddings={"output": logits}, model=dict(model))


METHOD = Method(name="logreg", settings=LogregSettings, fit=fit, predict_new=predict_new)
HOPS = Method(name="logreg-hops", settings=LogregHopsSettings, fit=fit_hops, predict_new=predict_new)


class BoostingSettings(Settings):
    """The defaults of scikit-learn. A tree needs 40 labels to split, so that few labels give one class to all nodes."""

    learning_rate: float = rate(0.1, "Weight of each tree.")
    n_iterations: int = count(100, "Trees of each class.")
    n_components: int = count(128, "Columns r that each block M^h X is reduced to; fewer features are not reduced.")


def fit_boosting(task: Task, s: BoostingSettings) -> Prediction:
    """Fit the trees to the training labels. Validation nodes are not used: every tree counts."""
    rows, _ = hop_features(task.graph, s.n_components)
    trees = HistGradientBoostingClassifier(
        learning_rate=s.learning_rate,
        max_iter=s.n_iterations,
        early_stopping=False,
        random_state=task.seed,
    )
    trees.fit(rows[task.train], task.labels)
    return Prediction(trees.predict_proba(rows).astype(np.float32))


BOOSTING = Method(name="boosting-hops", settings=BoostingSettings, fit=fit_boosting)
