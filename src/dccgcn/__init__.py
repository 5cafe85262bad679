"""dccgcn: classify the nodes of a graph from a handful of labels, and say which answers to trust."""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

# libgomp's threads spin while they wait; on a busy machine that makes two threads slower than one.
# It reads this when it is loaded, so it has to be set before torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dccgcn.artifacts.model_io import load_model
    from dccgcn.datasets import load, load_dataset
    from dccgcn.errors import DccgcnError, Finding
    from dccgcn.graph import NodeGraph
    from dccgcn.graph.splits import Split, by_rate, per_class
    from dccgcn.io.tables import read_tables
    from dccgcn.models.prediction import Prediction
    from dccgcn.workflow.estimator import NodeClassifier
    from dccgcn.workflow.inductive import grown
    from dccgcn.workflow.result import Result, run

_HOME = {
    "DccgcnError": "errors",
    "Finding": "errors",
    "NodeClassifier": "workflow.estimator",
    "NodeGraph": "graph",
    "Prediction": "prediction",
    "Result": "workflow.result",
    "Split": "graph.splits",
    "by_rate": "graph.splits",
    "grown": "workflow.inductive",
    "load": "datasets",
    "load_dataset": "datasets",
    "load_model": "artifacts.model_io",
    "per_class": "graph.splits",
    "read_tables": "io.tables",
    "run": "workflow.result",
}

__all__ = [
    "DccgcnError",
    "Finding",
    "NodeClassifier",
    "NodeGraph",
    "Prediction",
    "Result",
    "Split",
    "by_rate",
    "grown",
    "load",
    "load_dataset",
    "load_model",
    "per_class",
    "read_tables",
    "run",
]


def __getattr__(name: str) -> Any:
    # torch takes seconds to load, so nothing is imported before it is asked for
    if name in _HOME:
        return getattr(import_module(f"dccgcn.{_HOME[name]}"), name)
    if not name.startswith("_") and find_spec(f"dccgcn.{name}"):  # dccgcn.datasets, without an import of its own
        return import_module(f"dccgcn.{name}")
    raise AttributeError(f"module 'dccgcn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
