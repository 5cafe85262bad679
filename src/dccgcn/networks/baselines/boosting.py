"""Gradient boosting on own, neighbours' and two-hop features: what a data scientist would try on a large table.

boosting-hops  trees on [X V_0, M X V_1, M² X V_2] of logreg-hops
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Method
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines.logreg import hop_features
from dccgcn.progress import Progress
from dccgcn.settings import Settings, count, rate


class BoostingSettings(Settings):
    """The defaults of scikit-learn. A tree needs 40 labels to split, so that few labels give one class to all nodes."""

    learning_rate: float = rate(0.1, "Weight of each tree.")
    n_iterations: int = count(100, "Trees of each class.")
    n_components: int = count(128, "Columns r that each block M^h X is reduced to; fewer features are not reduced.")


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: BoostingSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Fit the trees to the training labels. Validation nodes are not used: every tree counts."""
    rows, _ = hop_features(graph, settings.n_components)
    trees = HistGradientBoostingClassifier(
        learning_rate=settings.learning_rate, max_iter=settings.n_iterations, early_stopping=False, random_state=seed
    )
    trees.fit(rows[train], graph.labels[train])
    return Prediction(trees.predict_proba(rows).astype(np.float32))


METHOD = Method(name="boosting-hops", settings=BoostingSettings, fit=fit)
