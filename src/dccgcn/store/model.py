"""load_model: read the model of a saved run; Model: classify new nodes with it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from dccgcn.errors import DccgcnError, GraphError
from dccgcn.graph import NodeGraph
from dccgcn.quality import trusted_nodes
from dccgcn.store.model_io import read_run
from dccgcn.tables import (
    ONE_KIND,
    Decimal,
    EdgeSources,
    OpenTable,
    TableSource,
    UnknownIds,
    check_same_table,
    find_column,
    open_edges,
    read_ids,
    read_relations,
    read_table,
    relation_name,
)
from dccgcn.text import first_few
from dccgcn.workflow import Result, append_nodes, check_new_ids, predict_new, prediction_frame

_HEADLESS = re.compile(r"c\d+")  # a column of a table without a header


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A saved run: its Result, and the way to classify new nodes.

    ``load_model`` makes it.

    Attributes
    ----------
    result : Result
        Of the training graph; ``result.tables`` says how its nodes were read, if they came from tables.
    """

    result: Result

    def __repr__(self) -> str:
        return f"Model({self.result.method!r} trained on {self.result.graph!r})"

    def read(
        self,
        nodes: TableSource,
        edges: "EdgeSources | None" = None,
        *,
        unknown_ids: UnknownIds = "error",
        encoding: str = "utf-8",
        decimal: Decimal = ".",
        text_model: str | None = None,
    ) -> NodeGraph:
        """Read new nodes from tables with the columns of training.

        Parameters
        ----------
        nodes : path or DataFrame
            One row per new node. A label column is not needed.
        edges : path or DataFrame, optional
            Between new nodes, or new and training nodes. Omitted: only the features of the new nodes are used. Of
            several relations: a list of paths that are called as at training, or a mapping.
        unknown_ids : {"error", "drop"}
            What to do with edges to unknown ids.
        encoding : str
            Of text files.
        decimal : {".", ","}
            The decimal sign of numbers in text.
        text_model : str, optional
            Folder with the table of token vectors of training, if it is not the one of the extra ``text``.

        Returns
        -------
        NodeGraph
            The training nodes, then the new ones.
        """
        graph = self.result.graph
        if self.result.tables is None:
            raise DccgcnError(
                f"The model of {graph.name!r} was not trained on tables, so it cannot read any.",
                "Train it with --nodes and --edges, or use dccgcn.append_nodes and Model.predict in Python.",
            )
        columns, encoder = self.result.tables.columns, self.result.tables.encoder
        table = read_table(nodes, "nodes", encoding)
        if columns.id not in table.frame and _HEADLESS.fullmatch(columns.id):
            table = read_table(nodes, "nodes", encoding, header=False)
        if table.frame.empty:
            raise GraphError(f"{table.name} has no rows.", "Give a row for each new node.")
        ids = read_ids(table, find_column(table, columns.id, "id, as at training"))
        check_new_ids(graph, ids)
        findings = [*table.findings]
        with table.named_in_errors():
            features, meaning = encoder.transform(table.frame, decimal), encoder.meaning
            vectors = None
            if meaning is not None:
                token_vectors = check_same_table(meaning.table, meaning.digest, text_model)
                vectors = meaning.vectors(table.frame, token_vectors)
        findings += encoder.imputation_findings(table, decimal)
        new_edges: Any = {}
        if edges is not None:
            edge_tables = self._edge_tables(edges, encoding)
            findings += [found for edge_table in edge_tables.values() for found in edge_table.findings]
            all_ids = [*graph.ids.tolist(), *ids]
            new_edges, _, errors = read_relations(edge_tables, columns.edges, all_ids, unknown_ids, decimal, findings)
            if errors:
                raise errors[0]
        name = columns.name if columns.name in table.frame else None
        names = None if name is None else table.frame[name].tolist()
        given: dict[str, Any] = {"ids": ids, "findings": findings, "names": names, "vectors": vectors}
        if graph.relations:
            return append_nodes(graph, features, new_edges, **given)
        found = new_edges.get(ONE_KIND, sp.coo_array((0, 0)))
        pairs = np.stack([found.row, found.col], axis=1).astype(np.int64)
        return append_nodes(graph, features, pairs, edge_weights=found.data, **given)

    def _edge_tables(self, edges: EdgeSources, encoding: str) -> dict[str, OpenTable]:
        """New tables of edges by relation, with the columns of training."""
        assert self.result.tables is not None
        known = self.result.tables.columns.edges
        given = open_edges(edges, encoding)
        ends = {columns.source for columns in known.values()}
        if all(map(_HEADLESS.fullmatch, ends)) and not any(ends & {*table.frame} for table in given.values()):
            given = open_edges(edges, encoding, header=False)
        if len(known) == 1 and len(given) == 1:
            given = dict(zip(known, given.values(), strict=True))  # one table as at training, whatever it is called
        elif len(given) == 1 and ONE_KIND in given:
            given = {relation_name(given[ONE_KIND]): given[ONE_KIND]}
        if unknown := [name for name in given if name not in known]:
            listed = "one, of all edges" if ONE_KIND in known else first_few(list(known), 12)
            example = f"--edges {next(iter(known)) or 'cites'}=FILE"
            raise GraphError(
                f"The model was not trained on tables of edges called {first_few(unknown)}.",
                f"Its tables of edges: {listed}. To say which relation a file holds: {example}.",
            )
        for name, table in given.items():
            for role, column in vars(known[name]).items():
                if column is not None:
                    find_column(table, column, f"{role}, as at training")
        return given

    def predict(
        self,
        nodes: "NodeGraph | TableSource",
        edges: "EdgeSources | None" = None,
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
        prediction = predict_new(self.result, graph)
        trusted = trusted_nodes(graph, self.result.split, prediction)
        frame = prediction_frame(graph, prediction, trusted, probabilities, abstain_below)
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
    return Model(read_run(folder))
