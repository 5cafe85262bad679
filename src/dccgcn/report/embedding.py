"""What the method sees, in two dimensions: each channel's embedding and the final one."""

import numpy as np
from sklearn.manifold import TSNE

from dccgcn.outcome import Outcome

FINAL = "joined"  # the name under which methods keep the embedding behind their final answer


def pictures(outcome: Outcome, nodes: np.ndarray, seed: int = 0) -> dict[str, np.ndarray]:
    """(len(nodes), 2) positions in [0, 1] by name, by t-SNE. The final answer comes last.

    A method without a final embedding is shown by the logarithms of its probabilities.
    """
    chosen = {name: rows[nodes] for name, rows in outcome.embeddings.items() if name != FINAL}
    if FINAL in outcome.embeddings:
        chosen["final"] = outcome.embeddings[FINAL][nodes]
    else:
        chosen["final"] = np.log(np.maximum(outcome.probabilities[nodes], 1e-6))
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
