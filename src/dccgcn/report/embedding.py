"""Each channel's embedding and the final one, in two dimensions."""

import numpy as np

from dccgcn.methods.prediction import Prediction
from dccgcn.report.layout import in_unit_square
from dccgcn.report.tsne import tsne

FINAL = ("joint", "output")  # names of the embedding that the final prediction is computed from


def final_embedding(prediction: Prediction) -> np.ndarray | None:
    """The embedding that the final prediction is computed from, where the method keeps it."""
    return next((prediction.embeddings[name] for name in FINAL if name in prediction.embeddings), None)


def project(prediction: Prediction, nodes: np.ndarray) -> dict[str, np.ndarray]:
    """(len(nodes), 2) positions in [0, 1] by name, by t-SNE. The final embedding comes last.

    Without a final embedding, the logarithms of the probabilities are used.
    """
    chosen = {name: rows[nodes] for name, rows in prediction.embeddings.items() if name not in FINAL}
    final = final_embedding(prediction)
    chosen["final"] = np.log(np.maximum(prediction.probabilities[nodes], 1e-6)) if final is None else final[nodes]
    return {name: _positions(rows) for name, rows in chosen.items()}


def _positions(rows: np.ndarray) -> np.ndarray:
    if len(rows) < 4 or np.ptp(rows, axis=0).max() == 0:  # too few nodes, or all alike
        return np.full((len(rows), 2), 0.5)
    return in_unit_square(tsne(rows))
