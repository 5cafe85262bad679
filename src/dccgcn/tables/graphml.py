"""GraphML: one XML file with the nodes and the edges of a graph, as two tables."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from dccgcn.errors import DataFileError
from dccgcn.tables.frames import file_content
from dccgcn.tables.table import Table, plain_table

_WHOLE, _REAL = ("int", "long"), ("float", "double")


def is_graphml(path: Path) -> bool:
    """Whether a file is XML with a graphml element at its start."""
    try:
        with path.open("rb") as file:
            start = file.read(1000)
    except OSError:
        return False
    return start.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<") and b"<graphml" in start


def read_graphml(path: Path) -> tuple[Table, Table]:
    """The table of nodes, with their ids in the column "id", and the table of edges (source, target and attributes)."""
    content = file_content(path)
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise DataFileError(f"{path} defines XML entities, which are not read.", "Write the GraphML file again.")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise DataFileError(f"{path} is not a whole GraphML file ({error}).", "Write it again.") from None
    keys = {key.get("id"): key for key in root.iter() if _kind(key) == "key"}
    nodes = [{"id": one.get("id"), **_attributes(one, keys)} for one in root.iter() if _kind(one) == "node"]
    edges = [
        {"source": one.get("source"), "target": one.get("target"), **_attributes(one, keys)}
        for one in root.iter()
        if _kind(one) == "edge"
    ]
    name = path.name
    return (
        plain_table(pd.DataFrame(nodes, columns=None if nodes else ["id"], dtype=object), name),
        plain_table(pd.DataFrame(edges, columns=None if edges else ["source", "target"], dtype=object), name),
    )


def _kind(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]  # without the namespace


def _attributes(element: ElementTree.Element, keys: dict[str | None, ElementTree.Element]) -> dict[str, Any]:
    """The data of a node or an edge by the names that the keys give them. "id" is kept for the node's own id."""
    found = {}
    for data in element:
        key = keys.get(data.get("key"))
        if _kind(data) == "data" and key is not None and data.text is not None:
            name = key.get("attr.name") or str(key.get("id"))
            taken = ("id",) if _kind(element) == "node" else ("source", "target")
            found[f"{name}_attribute" if name in taken else name] = _typed(data.text, key.get("attr.type"))
    return found


def _typed(text: str, kind: str | None) -> Any:
    try:
        return int(text) if kind in _WHOLE else float(text) if kind in _REAL else text
    except ValueError:
        return text
