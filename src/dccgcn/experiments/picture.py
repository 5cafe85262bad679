"""A map of a run's embeddings, for Figure 6."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors

from dccgcn.experiments.rows import Picture
from dccgcn.models.prediction import Prediction

_NEIGHBOURS = 10


def embedding_map(prediction: Prediction, labels: np.ndarray, limit: int, seed: int) -> Picture:
    """t-SNE of at most `limit` labelled nodes, and how often neighbours on the map have the same class."""
    shown = np.flatnonzero(labels >= 0)
    shown = shown[:: max(1, -(-len(shown) // limit))]
    x = embedding(prediction)[shown]
    if x.shape[1] > 50:  # as t-SNE's authors recommend
        x = PCA(50, random_state=seed).fit_transform(x)
    perplexity = min(30.0, (len(x) - 1) / 3)
    init = "pca" if np.ptp(x, axis=0).any() else "random"  # a network may give all nodes the same embedding
    xy = TSNE(random_state=seed, init=init, perplexity=perplexity, n_jobs=1).fit_transform(x)
    return Picture(nodes=shown.tolist(), xy=np.round(xy, 2).tolist(), purity=purity(xy, labels[shown]))


def embedding(prediction: Prediction) -> np.ndarray:
    """Input of the final layer: the joint embedding if there is one, else those of all channels concatenated."""
    parts = prediction.embeddings
    if not parts:
        return prediction.probabilities
    return parts["joint"] if "joint" in parts else np.hstack(list(parts.values()))


def purity(xy: np.ndarray, labels: np.ndarray) -> float:
    """Share of each node's ten nearest nodes on the map that have its class, averaged over nodes."""
    k = min(_NEIGHBOURS, len(xy) - 1)
    near = NearestNeighbors(n_neighbors=k).fit(xy).kneighbors(return_distance=False)
    return float((labels[near] == labels[:, None]).mean())
