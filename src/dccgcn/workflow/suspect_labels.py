"""Training labels of a fit that its own held-out predictions contradict, as a table and as a finding."""

from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import Finding
from dccgcn.graph import NodeGraph
from dccgcn.methods import Prediction
from dccgcn.quality import suspect_labels
from dccgcn.text import first_few

_LEAST = 2  # labels of a class, for one to be predicted from another
CODE = "suspect-labels"


def suspect_frame(graph: NodeGraph, train: np.ndarray, prediction: Prediction) -> pd.DataFrame:
    """The suspect labels, most suspect first; empty if the method keeps no held-out predictions.

    Columns: node_id; name, if nodes have names; label; prediction (held out); probability_label and
    probability_prediction; channels_against, the weight of the channels that predict another class than the label.
    """
    y = graph.labels[train]
    enough = np.bincount(y, minlength=graph.c)[y] >= _LEAST
    held_out = {name: p[enough] for name, p in prediction.held_out.items()}
    names = np.array([str(name) for name in graph.classes], dtype=object)
    columns: dict[str, object] = {"node_id": graph.ids[:0]}
    if held_out and enough.any():
        found = suspect_labels(held_out, prediction.channel_weights, y[enough])
        nodes = train[enough][found.positions]
        columns = {"node_id": graph.ids[nodes]}
        if graph.names is not None:
            columns["name"] = graph.names[nodes]
        columns |= {
            "label": names[graph.labels[nodes]],
            "prediction": names[found.predicted],
            "probability_label": found.p_given,
            "probability_prediction": found.p_predicted,
            "channels_against": found.against,
        }
    return pd.DataFrame(columns)


def suspect_findings(graph: NodeGraph, train: np.ndarray, prediction: Prediction) -> list[Finding]:
    """One note if any label is suspect; none if labels cannot be predicted from one another on this graph."""
    if any(finding.code == "uninformative" for finding in prediction.findings):
        return []
    frame = suspect_frame(graph, train, prediction)
    if frame.empty:
        return []
    shown = [
        f"{_name(row)} ({row.label}; held out {row.prediction}, {row.probability_prediction:.0%})"
        for row in frame.itertuples()
    ]
    text = (
        f"{len(frame)} of {len(train)} labels look wrong: without its own label, the other labels clearly predict "
        f"another class. {first_few(shown)}. Check them; many may be right."
    )
    return [Finding("note", CODE, text)]


def _name(row: Any) -> str:
    """The node's name and id, or its id alone."""
    return f"{row.name} ({row.node_id})" if getattr(row, "name", "") else str(row.node_id)
