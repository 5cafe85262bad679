"""What users hold: Result and run, Model and load_model, NodeClassifier."""

from typing import TYPE_CHECKING, Any

from dccgcn.api.model import Model, load_model
from dccgcn.api.result import Result, run

if TYPE_CHECKING:
    from dccgcn.api.estimator import NodeClassifier

__all__ = ["Model", "NodeClassifier", "Result", "load_model", "run"]


def __getattr__(name: str) -> Any:
    if name == "NodeClassifier":  # scikit-learn is slow to import
        from dccgcn.api.estimator import NodeClassifier

        return NodeClassifier
    raise AttributeError(f"module 'dccgcn.api' has no attribute {name!r}")
