"""load_model: read the model of a saved run; Model: classify new nodes with it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn.api.result import Result
from dccgcn.artifacts.model_io import read_run
from dccgcn.errors import DccgcnError, GraphError
from dccgcn.graph import NodeGraph
from dccgcn.io.columns import NUMERIC, decimal_points, find_column
from dccgcn.io.frames import Source, read_table
from dccgcn.io.options import Decimal, UnknownIds
from dccgcn.io.parse import read_edges, read_ids
from dccgcn.io.table import unescaped_cells
from dccgcn.io.tables import Tables
from dccgcn.workflow.inductive import append_nodes, predict_new
from dccgcn.workflow.run import prediction_frame


@dataclass(frozen=True, eq=False)
class Model:
    """A saved run: its Result, and the way to classify new nodes.

    ``load_model`` makes it.

    Attributes
    ----------
    result : Result
        Of the training graph.
    tables : Tables or None
        How its nodes were read, if they came from tables.
    """

    result: Result
    tables: Tables | None = None

    def read(
        self,
        nodes: Source,
        edges: "Source | None" = None,
        *,
        unknown_ids: UnknownIds = "error",
        encoding: str = "utf-8",
        decimal: Decimal = ".",
    ) -> NodeGraph:
        """Read new nodes from tables with the columns of training.

        Parameters
        ----------
        nodes : path or DataFrame
            One row per new node. A label column is not needed.
        edges : path or DataFrame, optional
            Between new nodes, or new and training nodes. Omitted: only the features of the new nodes are used.
        unknown_ids : {"error", "drop"}
            What to do with edges to unknown ids.
        encoding : str
            Of text files.
        decimal : {".", ","}
            The decimal sign of numbers in text.

        Returns
        -------
        NodeGraph
            The training nodes, then the new ones.
        """
        graph = self.result.graph
        if self.tables is None:
            raise DccgcnError(
                f"The model of {graph.name!r} was not trained on tables, so it cannot read any.",
                "Train it with --nodes and --edges, or use dccgcn.append_nodes and Model.predict in Python.",
            )
        columns = self.tables.columns
        table = read_table(nodes, "nodes", encoding)
        if table.frame.empty:
            raise GraphError(f"{table.name} has no rows.", "Give a row for each new node.")
        ids = read_ids(table, find_column(table, columns.id, "id, as at training"))
        findings = [*table.findings]
        table = decimal_points(
            table, [c for c, role in columns.features.items() if role in NUMERIC and c in table.frame], decimal
        )
        with table.named_in_errors():
            features = self.tables.encoder.transform(table.frame)
        findings += self.tables.encoder.imputation_findings(table)
        pairs, weights = np.empty((0, 2), np.int64), None
        if edges is not None:
            edge_table = read_table(edges, "edges", encoding)
            for role, name in (("source", columns.source), ("target", columns.target), ("weight", columns.weight)):
                if name is not None:
                    find_column(edge_table, name, f"{role}, as at training")
            findings += edge_table.findings
            edge_table = decimal_points(edge_table, [columns.weight] if columns.weight else [], decimal)
            pairs, weights = read_edges(edge_table, columns, [*graph.ids.tolist(), *ids], unknown_ids, findings)
        name = columns.name if columns.name in table.frame else None
        names = None if name is None else unescaped_cells(table, name)
        return append_nodes(graph, features, pairs, ids=ids, edge_weights=weights, findings=findings, names=names)

    def predict(
        self,
        nodes: "NodeGraph | Source",
        edges: "Source | None" = None,
        *,
        probabilities: bool = False,
        abstain_below: float | None = None,
    ) -> pd.DataFrame:
        """Classify new nodes without training again.

        Parameters
        ----------
        nodes : NodeGraph, path or DataFrame
            What ``append_nodes`` made of ``result.graph``, or a table as for ``read``.
        edges : path or DataFrame, optional
            With a table of nodes: as for ``read``.
        probabilities : bool
            Add a column ``probability_<class>`` for each class.
        abstain_below : float, optional
            Add a column ``abstain``: yes where trust is below this number.

        Returns
        -------
        DataFrame
            One row per new node, in the columns of ``Result.to_frame`` up to ``prediction_<channel>``.
        """
        graph = nodes if isinstance(nodes, NodeGraph) else self.read(nodes, edges)
        old = self.result.graph
        if graph.classes != old.classes or graph.ids[: old.n].tolist() != old.ids.tolist():
            raise GraphError(
                "The graph does not start with the nodes and classes of training.",
                "Make it with append_nodes(model.result.graph, …).",
            )
        frame = prediction_frame(graph, predict_new(self.result, graph), probabilities, abstain_below)
        return frame.iloc[old.n :].reset_index(drop=True)


def load_model(folder: str | Path) -> Model:
    """Load the model of a run that ``Result.save`` or ``dccgcn fit … --out`` wrote.

    Parameters
    ----------
    folder : str or Path
        Refused if a file in it is missing, incomplete, altered, or of another format.

    Returns
    -------
    Model

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from dccgcn import NodeGraph, append_nodes, load_model, run
    >>> graph = NodeGraph(np.eye(4) + 0.1, [(0, 1), (2, 3)], ["a", None, "b", None])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run(graph).save(folder)
    ...     model = load_model(folder)
    >>> model.predict(append_nodes(graph, [[0.1, 1.1, 0.1, 0.1]], [(4, 0)]))["prediction"].tolist()
    ['a']
    """
    run, tables = read_run(folder)
    return Model(Result.from_run(run, tables), tables)
