"""What to do next: nodes to label, and findings about the graph and the run."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dccgcn.report.nodes import shown_ids
from dccgcn.report.schema import LabelSuggestion, ReportFinding
from dccgcn.tables import csv_text
from dccgcn.workflow import FEATURE_NEIGHBOURS, Result, active_learning, examine

MAX_SUGGESTIONS = 20
_BEFORE_A_RUN = ("cost", "memory")  # findings that only help before a run


def nodes_to_label(result: Result) -> list[active_learning.Suggestion]:
    """The nodes whose labels would help most: those of ``dccgcn label-next``."""
    count = min(MAX_SUGGESTIONS, int(result.is_predicted.sum()))
    return active_learning.suggest_labels(result.graph, result.prediction, result.split.train, count) if count else []


def label_suggestions(
    result: Result, chosen: Sequence[active_learning.Suggestion]
) -> tuple[list[LabelSuggestion], str]:
    """The nodes to label, each with a reason; as a list and as CSV."""
    frame = pd.DataFrame({"node_id": [s.node_id for s in chosen], "reason": [s.reason for s in chosen]})
    ids = shown_ids(result.graph, np.array([s.position for s in chosen], dtype=np.int64))
    return [LabelSuggestion(id=i, reason=s.reason) for i, s in zip(ids, chosen, strict=True)], csv_text(frame)


def findings(result: Result) -> list[ReportFinding]:
    """The doctor's findings about the graph with its training labels, then those of the run that are new."""
    graph, train = result.graph, result.split.train
    labels = np.full(graph.n, -1)
    labels[train] = graph.labels[train]
    trained = graph.with_codes(labels)
    found = [
        ReportFinding(level=f.level, code=f.code, text=f.text, meaning=f.meaning)
        for f in examine(trained, k=result.settings.neighbours or FEATURE_NEIGHBOURS)
        if f.code not in _BEFORE_A_RUN
    ]
    codes = {finding.code for finding in found}
    new = [f for f in result.findings if f.code not in codes]
    return found + [ReportFinding(level=f.level, code=f.code, text=f.text, meaning="") for f in new]
