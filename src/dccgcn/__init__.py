"""dccgcn: classify the nodes of a graph from a handful of labels, and say which predictions can be trusted."""

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dccgcn.runtime.kernel_cache import prepare_kernel_cache

# libgomp's threads spin while they wait; on a busy machine that makes two threads slower than one.
# It reads this when it is loaded, so it has to be set before torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
prepare_kernel_cache(Path(__file__).parent)

__version__ = "0.2.0"

if TYPE_CHECKING:
    from dccgcn import datasets as datasets
    from dccgcn.datasets import load as load
    from dccgcn.datasets import load_dataset
    from dccgcn.errors import DccgcnError, Finding
    from dccgcn.graph import NodeGraph
    from dccgcn.graph.splits import Split, by_rate, per_class
    from dccgcn.methods.prediction import Prediction
    from dccgcn.store.model import load_model
    from dccgcn.tables.convert import from_igraph, from_networkx, from_pyg
    from dccgcn.tables.read import read_tables
    from dccgcn.workflow.active_learning import suggest_labels
    from dccgcn.workflow.estimator import NodeClassifier
    from dccgcn.workflow.inductive import append_nodes
    from dccgcn.workflow.result import Result
    from dccgcn.workflow.run import run

__all__ = [
    "DccgcnError",
    "Finding",
    "NodeClassifier",
    "NodeGraph",
    "Prediction",
    "Result",
    "Split",
    "append_nodes",
    "by_rate",
    "from_igraph",
    "from_networkx",
    "from_pyg",
    "load_dataset",
    "load_model",
    "per_class",
    "read_tables",
    "run",
    "suggest_labels",
]

_MODULE = {
    "DccgcnError": "errors",
    "Finding": "errors",
    "NodeClassifier": "workflow.estimator",
    "NodeGraph": "graph",
    "Prediction": "methods.prediction",
    "Result": "workflow.result",
    "Split": "graph.splits",
    "append_nodes": "workflow.inductive",
    "by_rate": "graph.splits",
    "from_igraph": "tables.convert",
    "from_networkx": "tables.convert",
    "from_pyg": "tables.convert",
    "load": "datasets",
    "load_dataset": "datasets",
    "load_model": "store.model",
    "per_class": "graph.splits",
    "read_tables": "tables.read",
    "run": "workflow.run",
    "suggest_labels": "workflow.active_learning",
}


def __getattr__(name: str) -> Any:
    # NumPy, SciPy and numba take a second to load, so nothing is imported before it is asked for
    if name == "datasets":
        return import_module("dccgcn.datasets")
    if name not in _MODULE:
        raise AttributeError(f"module 'dccgcn' has no attribute {name!r}")
    return getattr(import_module(f"dccgcn.{_MODULE[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__", "datasets"]
