"""Files that hold nodes and edges: GraphML and GML, read by NetworkX."""

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from dccgcn.errors import DataFileError
from dccgcn.runtime import missing_extra
from dccgcn.tables.table import Table, plain_table

_GML = re.compile(rb"(?:[A-Z]\w*\s+(?:\"[^\"]*\"|\S+)\s+|#[^\n]*\n\s*)*graph\s*\[")


def is_graph(start: bytes) -> bool:
    """Whether a file that starts so is GraphML or GML."""
    start = start.lstrip(b"\xef\xbb\xbf \r\n\t")[:2000]
    return _GML.match(start) is not None or (start.startswith(b"<") and b"<graphml" in start)


def is_graph_file(source: Any) -> bool:
    """Whether a source is a file of GraphML or GML."""
    try:
        return isinstance(source, str | os.PathLike) and is_graph(Path(source).open("rb").read(2000))
    except OSError:
        return False


def read_graph_file(path: Path) -> tuple[Table, Table]:
    """The table of nodes, with their ids in the column "id", and the table of edges (source, target and attributes).

    What GML calls the label of a node is its name.
    """
    if find_spec("networkx") is None:
        raise missing_extra("networkx", "networkx", "A GraphML or GML file")
    import networkx as nx

    content, is_gml = path.read_bytes(), False
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise DataFileError(f"{path} defines XML entities, which are not read.", "Write the GraphML file again.")
    try:
        is_gml = _GML.match(content.lstrip(b"\xef\xbb\xbf \r\n\t")) is not None
        graph = nx.parse_gml(content.decode("utf-8-sig"), label="id") if is_gml else nx.parse_graphml(content)
    except Exception as error:  # a damaged file can raise nearly anything
        form = "GML" if is_gml else "GraphML"
        raise DataFileError(f"{path} is not a whole {form} file ({error}).", "Write it again.") from None
    renamed = {"label": "name"} if is_gml else {}
    nodes = [{"id": node, **_attributes(row, {"id"}, renamed)} for node, row in graph.nodes(data=True)]
    edges = [
        {"source": u, "target": v, **_attributes(row, {"source", "target"}, {})} for u, v, row in graph.edges(data=True)
    ]
    return _table(nodes, ["id"], path), _table(edges, ["source", "target"], path)


def _attributes(row: dict[str, Any], own: set[str], renamed: dict[str, str]) -> dict[str, Any]:
    """The attributes of a node or an edge; those that are called like columns of ours get other names."""
    return {f"{name}_attribute" if name in own else renamed.get(name, name): value for name, value in row.items()}


def _table(rows: list[dict[str, Any]], columns: list[str], path: Path) -> Table:
    return plain_table(pd.DataFrame(rows, columns=None if rows else columns, dtype=object), path.name)
