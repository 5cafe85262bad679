"""What is known of a benchmark graph before its files are read."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["citation", "co-author", "co-purchase", "social", "web", "grid"]


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset."""

    path: str  # below the data folder
    url: str | None  # public address, if there is one
    sha256: str


@dataclass(frozen=True)
class DatasetInfo:
    """One benchmark graph. The counts are checked whenever it is loaded."""

    name: str
    title: str
    kind: Kind  # what its edges are
    description: str
    source: str
    format: Literal["embedded", "planetoid", "am-gcn", "citation-full", "citation-partial", "graph-npz"]
    files: tuple[DataFile, ...]
    classes: int
    features: int
    nodes: int
    pairs: int  # unique undirected pairs u < v, without self-loops
    isolated: int
    zero_rows: int | None  # None: unknown, hence not checked
    paper_edges: int | None = None  # as the paper's Table 1 counts: raw lines, duplicates and self-loops included
    directed: bool = False  # whether the files give each edge from its source to its target
