"""The benchmark graphs, by name."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dccgcn.datasets import readers
from dccgcn.datasets.catalogue import DATASETS, FOLDER_VARIABLE, DataFile, DatasetInfo, data_folder, describe, fetch
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.graph import NodeGraph, Split

__all__ = [
    "DATASETS",
    "FOLDER_VARIABLE",
    "DataFile",
    "Dataset",
    "DatasetInfo",
    "data_folder",
    "describe",
    "fetch",
    "load",
    "load_dataset",
    "synthetic_graph",
]


@dataclass(frozen=True)
class Dataset:
    """A benchmark graph, the splits published with it, and its catalogue entry."""

    graph: NodeGraph
    splits: dict[str, Split]
    info: DatasetInfo
    directed_edges: np.ndarray | None = None  # (m, 2) source and target, unique; None where the files have no direction


def load_dataset(name: str, folder: str | Path | None = None) -> Dataset:
    """Read a benchmark graph; files that are not in the data folder are downloaded.

    Parameters
    ----------
    name : str
        A key of ``DATASETS``, such as "cora".
    folder : path, optional
        The data folder. Default: the environment variable DCCGCN_DATA, else a per-user cache.

    Returns
    -------
    Dataset

    Raises
    ------
    DccgcnError, DataFileError
        If there is no such dataset, or a file is missing, altered or cannot be downloaded.

    Examples
    --------
    >>> load_dataset("cora").graph
    NodeGraph('cora': 2,708 nodes, 5,278 edges, 1,433 features, 7 classes, 2,708 labelled)
    """
    info = describe(name)
    paths = [fetch(file, folder) for file in info.files]
    splits: list[Split] = []
    directed_edges = None
    match info.format:
        case "embedded":
            graph, public = readers.read_cora()
            splits = [public]
        case "planetoid":
            stem = paths[0].name.split(".")[1]
            classes = readers.CORA_CLASSES if stem == "cora" else None
            graph, public = readers.read_planetoid(paths[0].parent, stem, name, classes)
            splits = [public]
        case "am-gcn":
            graph, splits = readers.read_am_gcn(paths[0], name)
        case "citation-full":
            graph = readers.read_citation_full(paths[0], name)
        case "citation-partial":
            graph, splits = readers.read_citation_partial(paths[0], name)
        case "graph-npz":
            graph = readers.read_graph(paths[0], name)
            directed_edges = readers.read_directed_edges(paths[0]) if info.directed else None
    return Dataset(graph, {split.kind: split for split in splits}, info, directed_edges)


load = load_dataset  # the short name
