"""A map of a run's embeddings, for Figure 6."""

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors

from dccgcn.models.prediction import Prediction

_NEIGHBOURS = 10


def picture(prediction: Prediction, labels: np.ndarray, most: int, seed: int) -> dict[str, Any]:
    """t-SNE of the labelled nodes, at most so many of them, and how often neighbours on the map are of one class."""
    shown = np.flatnonzero(labels >= 0)
    shown = shown[:: max(1, -(-len(shown) // most))]
    x = embedding(prediction)[shown]
    if x.shape[1] > 50:  # as t-SNE's authors advise
        x = PCA(50, random_state=seed).fit_transform(x)
    perplexity = min(30.0, (len(x) - 1) / 3)
    init = "pca" if np.ptp(x, axis=0).any() else "random"  # of a network that answers the same for all nodes
    xy = TSNE(random_state=seed, init=init, perplexity=perplexity, n_jobs=1).fit_transform(x)
    return {"nodes": shown.tolist(), "xy": np.round(xy, 2).tolist(), "purity": purity(xy, labels[shown])}


def embedding(prediction: Prediction) -> np.ndarray:
    """What the final layer sees: the joined embedding where there is one, else all channels' side by side."""
    parts = prediction.embeddings
    if not parts:
        return prediction.probabilities
    return parts["joined"] if "joined" in parts else np.hstack(list(parts.values()))


def purity(xy: np.ndarray, labels: np.ndarray) -> float:
    """Share of each node's ten nearest on the map that are of its class, the mean over nodes."""
    k = min(_NEIGHBOURS, len(xy) - 1)
    near = NearestNeighbors(n_neighbors=k).fit(xy).kneighbors(return_distance=False)
    return float((labels[near] == labels[:, None]).mean())
