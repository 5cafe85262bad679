"""load_model: read the model of a saved run; Model: classify new nodes with it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn.api.result import Result
from dccgcn.artifacts.model_io import read_run
from dccgcn.errors import DccgcnError, GraphError
from dccgcn.graph import NodeGraph
from dccgcn.io.columns import find
from dccgcn.io.frames import Source, read_table
from dccgcn.io.tables import Tables, UnknownIds, read_edges, read_ids
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
        ids = read_ids(table, find(table, columns.id, "id, as at training"))
        findings = [*table.findings]
        with table.named_in_errors():
            features = self.tables.encoder.transform(table.frame)
        findings += self.tables.encoder.filled(table)
        pairs, weights = np.empty((0, 2), np.int64), None
        if edges is not None:
            edge_table = read_table(edges, "edges", encoding)
            for role, name in (("source", columns.source), ("target", columns.target), ("weight", columns.weight)):
                if name is not None:
                    find(edge_table, name, f"{role}, as at training")
            findings += edge_table.findings
            pairs, weights = read_edges(edge_table, columns, [*graph.ids.tolist(), *ids], unknown_ids, findings)
        return append_nodes(graph, features, pairs, ids=ids, edge_weights=weights, findings=findings)

    def predict(self, nodes: "NodeGraph | Source", edges: "Source | None" = None) -> pd.DataFrame:
        """Classify new nodes without training again.

        Parameters
        ----------
        nodes : NodeGraph, path or DataFrame
            What ``append_nodes`` made of ``result.graph``, or a table as for ``read``.
        edges : path or DataFrame, optional
            With a table of nodes: as for ``read``.

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
        frame = prediction_frame(graph, predict_new(self.result, graph))
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
    return Model(Result.from_run(run), tables)
