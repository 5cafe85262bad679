"""NodeGraph, the one data object, and the splits drawn on it."""

from dccgcn.graph.node_graph import NodeGraph

__all__ = ["NodeGraph"]
