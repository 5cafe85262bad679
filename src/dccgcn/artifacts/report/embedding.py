"""What the method sees, in two dimensions: each channel's embedding and the final one."""

import numpy as np
from sklearn.manifold import TSNE

from dccgcn.models.prediction import Prediction

FINAL = ("joined", "output")  # names under which methods keep the embedding behind their final answer


def final_embedding(prediction: Prediction) -> np.ndarray | None:
    """What is behind the final answer, where a method gives it."""
    return next((prediction.embeddings[name] for name in FINAL if name in prediction.embeddings), None)


def pictures(prediction: Prediction, nodes: np.ndarray, seed: int = 0) -> dict[str, np.ndarray]:
    """(len(nodes), 2) positions in [0, 1] by name, by t-SNE. The final answer comes last.

    A method without a final embedding is shown by the logarithms of its probabilities.
    """
    chosen = {name: rows[nodes] for name, rows in prediction.embeddings.items() if name not in FINAL}
    final = final_embedding(prediction)
    chosen["final"] = np.log(np.maximum(prediction.probabilities[nodes], 1e-6)) if final is None else final[nodes]
    return {name: _flat(rows, seed) for name, rows in chosen.items()}


def _flat(rows: np.ndarray, seed: int) -> np.ndarray:
    rows = np.asarray(rows, dtype=np.float32)
    if len(rows) < 4 or np.ptp(rows, axis=0).max() == 0:  # nothing to tell apart
        return np.full((len(rows), 2), 0.5)
    perplexity = min(30.0, (len(rows) - 1) / 3)
    start = "pca" if rows.shape[1] > 1 else "random"
    flat = TSNE(init=start, perplexity=perplexity, max_iter=400, random_state=seed).fit_transform(rows)
    low, high = flat.min(axis=0), flat.max(axis=0)
    return (flat - low) / np.maximum((high - low).max(), 1e-12)
