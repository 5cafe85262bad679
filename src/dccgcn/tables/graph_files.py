"""Files that hold nodes and edges: GraphML and GML."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from dccgcn.errors import DataFileError
from dccgcn.tables.table import Table, plain_table

_TOKEN = re.compile(r'"([^"]*)"|(\[|\])|#[^\n]*|([^\s\[\]"]+)')


def is_graph(start: bytes) -> bool:
    """Whether a file that starts so is GraphML or GML."""
    start = start.lstrip(b"\xef\xbb\xbf \r\n\t")[:2000]
    is_gml = re.match(rb"(?:[A-Z]\w*\s+(?:\"[^\"]*\"|\S+)\s+|#[^\n]*\n\s*)*graph\s*\[", start) is not None
    return is_gml or (start.startswith(b"<") and b"<graphml" in start)


def is_graph_file(source: Any) -> bool:
    """Whether a source is a file of GraphML or GML."""
    try:
        return isinstance(source, str | os.PathLike) and is_graph(Path(source).open("rb").read(2000))
    except OSError:
        return False


def read_graph_file(path: Path) -> tuple[Table, Table]:
    """The table of nodes, with their ids in the column "id", and the table of edges (source, target and attributes)."""
    content = path.read_bytes()
    parts = _graphml(content, path) if content.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<") else _gml(content, path)
    own = (["id"], ["source", "target"])
    nodes, edges = (
        plain_table(pd.DataFrame(rows, columns=None if rows else names, dtype=object), path.name)
        for rows, names in zip(parts, own, strict=True)
    )
    return nodes, edges


def _gml(content: bytes, path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Nodes and edges of GML; what it calls the label of a node is its name."""
    tokens = (match for match in _TOKEN.finditer(content.decode("utf-8", "replace")) if match.lastindex)
    try:
        graph = dict(_entries(tokens, depth=0))["graph"]
        nodes = [dict(value) for key, value in graph if key == "node"]
        edges = [dict(value) for key, value in graph if key == "edge"]
        for node in nodes:
            node |= {"name": node.pop("label")} if "label" in node else {}
    except (KeyError, TypeError, ValueError) as error:
        raise DataFileError(f"{path} is not a whole GML file ({error!r}).", "Write it again.") from None
    return nodes, edges


def _entries(tokens: Iterator[re.Match[str]], depth: int) -> list[tuple[str, Any]]:
    """The keys and values up to the end of a list. A value in brackets is a list of its own."""
    entries: list[tuple[str, Any]] = []
    for token in tokens:
        if token[2] == "]":
            return entries
        value = next(tokens, None)
        if value is None or token[3] is None or depth > 10:
            raise ValueError(f"after {token[0][:40]!r}")
        text = value[1] if value[1] is not None else value[3]
        entries.append(
            (token[3], _entries(tokens, depth + 1) if value[2] == "[" else _typed(text, "double" if value[3] else None))
        )
    if depth:
        raise ValueError("at its end")
    return entries


def _graphml(content: bytes, path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Nodes and edges of GraphML."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise DataFileError(f"{path} defines XML entities, which are not read.", "Write the GraphML file again.")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise DataFileError(f"{path} is not a whole GraphML file ({error}).", "Write it again.") from None
    keys = {key.get("id"): key for key in root.iter() if _tag(key) == "key"}
    nodes, edges = (
        [
            {**{name: element.get(name) for name in own}, **_attributes(element, keys, own)}
            for element in root.iter()
            if _tag(element) == tag
        ]
        for tag, own in (("node", ("id",)), ("edge", ("source", "target")))
    )
    return nodes, edges


def _tag(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]  # without the namespace


def _attributes(
    element: ElementTree.Element, keys: dict[str | None, ElementTree.Element], own: Sequence[str]
) -> dict[str, Any]:
    """The data of a node or an edge by the names that the keys give them; names of its own columns are changed."""
    attributes = {}
    for data in element:
        key = keys.get(data.get("key"))
        if _tag(data) == "data" and key is not None and data.text is not None:
            name = key.get("attr.name") or str(key.get("id"))
            attributes[f"{name}_attribute" if name in own else name] = _typed(data.text, key.get("attr.type"))
    return attributes


def _typed(text: str, kind: str | None) -> Any:
    try:
        if kind in ("int", "long") or (kind and re.fullmatch(r"-?\d+", text)):
            return int(text)
        return float(text) if kind in ("float", "double") else text
    except ValueError:
        return text
