"""What to do next: nodes to label, and findings about the graph and the run."""

from typing import Any

import numpy as np
import pandas as pd

from dccgcn.artifacts.report.nodes import shown_ids
from dccgcn.artifacts.report.schema import ReportFinding, Suggestion
from dccgcn.io.write import csv_text
from dccgcn.workflow.active_learning import suggest_labels
from dccgcn.workflow.doctor import FEATURE_NEIGHBOURS, examine
from dccgcn.workflow.run import Run

MAX_SUGGESTIONS = 20
_BEFORE_A_RUN = ("cost", "memory")  # findings that only help before a run


def label_suggestions(run: Run, shown: np.ndarray) -> tuple[list[Suggestion], str]:
    """The nodes of the page whose labels would help most, each with a reason; as a list and as CSV."""
    candidates = shown[run.is_predicted[shown]]
    count = min(MAX_SUGGESTIONS, len(candidates))
    chosen = suggest_labels(run.graph, run.prediction, run.split.train, count, candidates) if count else []
    frame = pd.DataFrame({"node_id": [s.node_id for s in chosen], "reason": [s.reason for s in chosen]})
    ids = shown_ids(run.graph, np.array([s.position for s in chosen], dtype=np.int64))
    return [Suggestion(id=i, reason=s.reason) for i, s in zip(ids, chosen, strict=True)], csv_text(frame)


def findings(run: Run) -> list[ReportFinding]:
    """The doctor's findings about the graph with its training labels, then those of the run that are new."""
    graph = run.graph
    labels: list[Any] = [None] * graph.n
    for node in run.split.train:
        labels[node] = graph.classes[graph.labels[node]]
    trained = graph.with_labels(labels, classes=graph.classes)
    found = [
        ReportFinding(level=f.level, code=f.code, text=f.text, meaning=f.meaning)
        for f in examine(trained, k=run.settings.neighbours or FEATURE_NEIGHBOURS)
        if f.code not in _BEFORE_A_RUN
    ]
    codes = {finding.code for finding in found}
    new = [f for f in run.findings if f.code not in codes]
    return found + [ReportFinding(level=f.level, code=f.code, text=f.text, meaning="") for f in new]
