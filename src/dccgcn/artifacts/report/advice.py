"""What to do about the doubts: nodes to label next, and what was odd about graph and run."""

from typing import Any

import numpy as np
import pandas as pd

from dccgcn.io.write import csv_text
from dccgcn.workflow.active_learning import suggest_labels
from dccgcn.workflow.doctor import FEATURE_NEIGHBOURS, examine
from dccgcn.workflow.run import Run

MOST_TO_LABEL = 20
_BEFOREHAND = ("cost", "memory")  # of use before a run only


def to_label(result: Run, shown: np.ndarray) -> dict[str, Any]:
    """Nodes of the page whose labels would help most, each with a reason; as a list and as CSV."""
    pool = shown[result.is_predicted[shown]]
    count = min(MOST_TO_LABEL, len(pool))
    found = suggest_labels(result.graph, result.prediction, result.split.train, count, pool) if count else []
    frame = pd.DataFrame({"node_id": [s.node_id for s in found], "reason": [s.reason for s in found]})
    return {
        "label_next": [{"id": str(s.node_id), "reason": s.reason} for s in found],
        "label_next_csv": csv_text(frame),
    }


def oddities(result: Run) -> list[dict[str, str]]:
    """What the doctor says of the graph with the labels that were trained on, then what the run found beyond that."""
    graph, train = result.graph, result.split.train
    labels: list[Any] = [None] * graph.n
    for node in train:
        labels[node] = graph.classes[graph.labels[node]]
    seen = graph.with_labels(labels, classes=graph.classes)
    said = [
        {"level": c.level, "code": c.code, "text": c.text, "meaning": c.meaning}
        for c in examine(seen, k=result.settings.neighbours or FEATURE_NEIGHBOURS)
        if c.code not in _BEFOREHAND
    ]
    codes = {complaint["code"] for complaint in said}
    return said + [{**vars(finding), "meaning": ""} for finding in result.findings if finding.code not in codes]
