"""What users hold: Result and run, Model and load_model, NodeClassifier."""

from dccgcn.api.estimator import NodeClassifier
from dccgcn.api.model import Model, load_model
from dccgcn.api.result import Result, run

__all__ = ["Model", "NodeClassifier", "Result", "load_model", "run"]
