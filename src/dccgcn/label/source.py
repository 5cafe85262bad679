"""What is labelled: a graph without labels, the labels and classes that came with it, and the rows of its table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.graph import MISSING_LABELS, NodeGraph, fingerprint, is_missing, spell_id, spell_label
from dccgcn.label.events import MAX_NAME, Annotations, Event, replay
from dccgcn.methods import get_method
from dccgcn.store import Model
from dccgcn.tables import Tables, is_graph_file, read_graph_file, read_table
from dccgcn.text import printable, truncate
from dccgcn.workflow import Result, run

MAX_CLASS_NAME = 60
MAX_CELLS, MAX_TEXT = 40, 2000  # of a row shown, and characters of a cell


@dataclass(frozen=True, eq=False)
class Source:
    """A graph to label. Classes and ids are text here, as in the log."""

    graph: NodeGraph
    classes: tuple[str, ...] = ()
    first_labels: Mapping[str, str] = field(default_factory=dict)  # by node
    rows: pd.DataFrame | None = None  # the table of nodes, in the order of the graph
    feature_names: Sequence[str] = ()
    method: str = "concord"
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    tables: Tables | None = None

    @classmethod
    def from_graph(cls, graph: NodeGraph, train: np.ndarray, classes: Sequence[str] = (), **options: Any) -> "Source":
        """The labels at some positions are the ones to start from; all others are not used."""
        names = [str(spell_label(name)) for name in graph.classes]
        ids = [spell_id(i) for i in graph.ids.tolist()]
        labels = {ids[node]: names[graph.labels[node]] for node in train if graph.labels[node] >= 0}
        if (longest := max(map(len, names), default=0)) > MAX_NAME:
            raise DccgcnError(f"A class has a name of {longest:,} characters.", f"Shorten it to {MAX_NAME:,}.")
        listed = tuple(dict.fromkeys([*names, *(class_name(name) for name in classes)]))
        tables = options.get("tables")
        if tables is not None:
            options = {"feature_names": tables.encoder.names, "rows": tables.rows, **options}
        return cls(graph, listed, labels, **options)

    @classmethod
    def from_model(cls, model: Model, nodes: Path | None = None, classes: Sequence[str] = ()) -> "Source":
        """The graph, training labels, method and settings of a saved run, and the rows of its table of nodes."""
        result, rows = model.result, None
        if nodes is not None:
            table = read_graph_file(nodes)[0] if is_graph_file(nodes) else read_table(nodes, "nodes")
            rows, n = table.frame.reset_index(drop=True), result.graph.n
            if len(rows) != n:
                text = f"{nodes} has {len(rows):,} rows, but the run {n:,} nodes."
                raise DataFileError(text, "Give the run's own table.")
        return cls.from_graph(
            result.graph,
            result.split.train,
            classes,
            rows=rows,
            method=result.method,
            settings=result.settings.model_dump(),
            seed=result.seed,
            tables=result.tables,
        )

    @cached_property
    def ids(self) -> list[str]:
        """The node ids as text."""
        return [spell_id(i) for i in self.graph.ids.tolist()]

    @cached_property
    def position(self) -> dict[str, int]:
        """Positions of the nodes by id."""
        return {node: position for position, node in enumerate(self.ids)}

    @property
    def fingerprint(self) -> str:
        """A hash of the nodes, so that a log of other nodes is noticed."""
        return fingerprint(self.graph)

    def replay(self, events: Iterable[Event]) -> Annotations:
        """The labels after these events, whose audits must be of predictions of this graph."""
        labels = replay(events, self.classes, self.first_labels)
        for audit in labels.audits:
            if audit.draw.population > self.graph.n or not audit.predictions.keys() <= self.position.keys():
                raise DataFileError("An audit of the log is of other nodes.", "Name another log with --log.")
        return labels

    def labelled_graph(self, labels: Annotations) -> NodeGraph:
        """The graph with the labels that people agree on."""
        listed: list[str | None] = [None] * self.graph.n
        for node, label in labels.labels.items():
            if node in self.position:
                listed[self.position[node]] = label
        return self.graph.with_labels(listed, classes=labels.classes)

    def fit(self, labels: Annotations) -> Result | None:
        """Classify all nodes from the labels; None with labels of fewer than two classes. Repeatable bit by bit."""
        graph = self.labelled_graph(labels)
        if len(np.unique(graph.labels[graph.labelled])) < 2:
            return None
        method, options = get_method(self.method), dict(self.settings)
        if "label_shares" in method.settings.model_fields:
            options["label_shares"] = "ignore"  # the nodes were chosen for their labels' sake
        return run(graph, None, method, method.published_settings(graph.name, options), self.seed)

    def row(self, node: int) -> tuple[list[tuple[str, str]], int]:
        """Cells of the node's row of the table, else its features; and how many more there are.

        A long row shows its texts first, then what is not zero.
        """
        if self.rows is not None:
            cells = [(str(name), value) for name, value in self.rows.iloc[node].items() if not is_missing(value)]
            texts = [(name, value) for name, value in cells if not _is_zero(value)]
            shown = cells if len(cells) <= MAX_CELLS else texts[:MAX_CELLS]
            return [(name, truncate(str(value), MAX_TEXT)) for name, value in shown], len(cells) - len(shown)
        features = self.graph.features
        row = features[[node]].toarray()[0] if sp.issparse(features) else features[node]
        largest = np.argsort(-np.abs(row), kind="stable")[: min(MAX_CELLS, np.count_nonzero(row))]
        names = self.feature_names if len(self.feature_names) == len(row) else [f"feature {j}" for j in range(len(row))]
        return [(names[j], f"{row[j]:.3g}") for j in largest], int(np.count_nonzero(row)) - len(largest)

    def title(self, node: int) -> str:
        """A short text that tells the node: its name, else its first cell of several words, else its id."""
        if self.graph.names is not None and str(self.graph.names[node]):
            return printable(str(self.graph.names[node])[:100])
        if self.rows is not None:
            for value in self.rows.iloc[node]:
                if isinstance(value, str) and len(value.split()) > 1:
                    return printable(value[:100])
        return printable(self.ids[node][:100])


def class_name(text: str) -> str:
    """The name of a class, checked: one line, not empty, not a spelling of "no label"."""
    name = " ".join(printable(text).split())
    if is_missing(name, MISSING_LABELS) or name == "-1":
        raise DccgcnError(f"{name!r} cannot be the name of a class: it means unlabelled.", "Choose another name.")
    if len(name) > MAX_CLASS_NAME:
        raise DccgcnError(f"The name of a class has more than {MAX_CLASS_NAME} characters.", "Shorten it.")
    return name


def _is_zero(value: Any) -> bool:
    return str(value) in {"0", "0.0"}
