"""Gradient boosting on own, neighbours' and two-hop features: what a data scientist would try on a large table.

boosting-hops  trees on [X V_0, M X V_1, M² X V_2] of logreg-hops
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from dccgcn.methods.base import Method, Task
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines.logreg import hop_features
from dccgcn.settings import Settings, count, rate


class BoostingSettings(Settings):
    """The defaults of scikit-learn. A tree needs 40 labels to split, so that few labels give one class to all nodes."""

    learning_rate: float = rate(0.1, "Weight of each tree.")
    n_iterations: int = count(100, "Trees of each class.")
    n_components: int = count(128, "Columns r that each block M^h X is reduced to; fewer features are not reduced.")


def fit(task: Task, s: BoostingSettings) -> Prediction:
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


METHOD = Method(name="boosting-hops", settings=BoostingSettings, fit=fit)
