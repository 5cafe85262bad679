"""The examples in docstrings run."""

import doctest
from importlib import import_module

import pytest

MODULES = ["text", "palette", "graph.cells", "graph.node_graph", "graph.splits", "tables.read", "datasets"]
MODULES += ["quality.audit", "quality.paired"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    failed, tried = doctest.testmod(import_module(f"dccgcn.{name}"))
    assert failed == 0
    assert tried > 0
