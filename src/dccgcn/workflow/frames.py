"""Tables of predictions: one row per node."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dccgcn.errors import DccgcnError
from dccgcn.graph import NodeGraph
from dccgcn.methods import Prediction
from dccgcn.quality import TrustedNodes
from dccgcn.tables import csv_text

if TYPE_CHECKING:
    from dccgcn.workflow.result import Result


def prediction_frame(
    graph: NodeGraph,
    prediction: Prediction,
    trusted: TrustedNodes,
    probabilities: bool = False,
    abstain_below: float | None = None,
) -> pd.DataFrame:
    """One row per node: predicted class, its trust or probability, and what each channel predicts.

    probabilities: add a column for each class. abstain_below: add a column "abstain", yes where trust is below it.
    """
    if abstain_below is not None and not 0 <= abstain_below <= 1:
        raise DccgcnError(f"Trust is between 0 and 1, not {abstain_below}.", "Abstain below 0.9, for example.")
    names = np.array([str(name) for name in graph.classes], dtype=object)
    columns: dict[str, Any] = {"node_id": graph.ids}
    if graph.names is not None:
        columns["name"] = graph.names
    columns["prediction"] = names[prediction.y_pred]
    if prediction.trust is None:
        columns["probability"] = prediction.probabilities.max(axis=1)
    else:
        columns["trust"] = prediction.trust
        columns["trusted"] = np.where(trusted.is_trusted, "estimated" if trusted.basis == "estimate" else "yes", "no")
    if abstain_below is not None:
        columns["abstain"] = _yes_no(prediction.confidence < abstain_below)
    if prediction.channels_agree is not None:
        columns["channels_agree"] = _yes_no(prediction.channels_agree)
    if prediction.corrected is not None:
        columns["corrected"] = _yes_no(prediction.corrected)
    for channel, p in prediction.channels.items():
        columns[f"prediction_{channel}"] = names[p.argmax(axis=1)]
    if probabilities:
        columns |= {f"probability_{name}": prediction.probabilities[:, k] for k, name in enumerate(names)}
    return pd.DataFrame(columns)


def run_frame(result: "Result", probabilities: bool = False, abstain_below: float | None = None) -> pd.DataFrame:
    """``prediction_frame`` of all nodes with the role of each in the split and its given label."""
    graph, split = result.graph, result.split
    role = np.full(graph.n, "unlabelled", dtype=object)
    role[graph.labelled] = "unused"
    for part in ("train", "validation", "test"):
        role[getattr(split, part)] = part
    label = [str(graph.classes[code]) if code >= 0 else "" for code in graph.labels]
    frame = prediction_frame(graph, result.prediction, result.trusted, probabilities, abstain_below)
    return frame.assign(role=role, label=label)


def target_frame(result: "Result", probabilities: bool = False, abstain_below: float | None = None) -> pd.DataFrame:
    """``run_frame`` of the nodes to classify, as in predictions.csv."""
    frame, targets = run_frame(result, probabilities, abstain_below), result.graph.targets
    return frame if targets is None else frame[targets].reset_index(drop=True)


def run_csv(result: "Result", nodes: np.ndarray) -> str:
    """The rows of some nodes, as text in the form of predictions.csv."""
    return csv_text(run_frame(result).iloc[nodes], float_format="%.6f")


def _yes_no(mask: np.ndarray) -> np.ndarray:
    return np.where(mask, "yes", "no")
