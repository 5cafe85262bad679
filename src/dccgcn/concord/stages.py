"""A run whose operators and views are kept in a scratch folder: memory-mapped, and found again after a kill."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dccgcn import __version__
from dccgcn.concord.cost import scratch_bytes
from dccgcn.concord.loo_ridge import LooRidge
from dccgcn.concord.settings import ConcordSettings
from dccgcn.errors import Finding
from dccgcn.features import Embedding, NumericColumns, Operator
from dccgcn.graph import NodeGraph
from dccgcn.runtime import digest_of, format_bytes, open_stages

STORED = {kind.__name__: kind for kind in (Finding, NumericColumns, Operator, Embedding, LooRidge)}


@contextmanager
def staged(graph: NodeGraph, settings: ConcordSettings, folder: Path) -> Iterator[NodeGraph]:
    """The graph with its stages in a folder, which is removed when the block ends without an error.

    Stages depend on features, edges, settings and version, not on the labels.
    """
    relations = [part for name, matrix in graph.relations.items() for part in (name, matrix)]
    inputs = graph.features, graph.edges, graph.weights, graph.directed, *relations
    identity = digest_of(__version__, settings.model_dump_json(), *inputs)
    needed = scratch_bytes(graph, settings)
    note = Finding("note", "scratch", f"Operators and views were kept in {folder}: about {format_bytes(needed)}.")
    with open_stages(folder, identity, needed, STORED) as stages:
        yield graph.with_findings((*graph.findings, note)).with_cache(stages)
