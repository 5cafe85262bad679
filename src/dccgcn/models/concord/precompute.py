"""What depends on the graph alone, not on labels: operators, embeddings, leave-one-out regressors.

Everything fitted is cached on the graph. ``fitted`` is the projection of an earlier training, for a graph that has
grown since.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

import numpy as np

from dccgcn.errors import Finding
from dccgcn.graph import NodeGraph
from dccgcn.models.concord import spectral_features as spectral
from dccgcn.models.concord.loo_ridge import LooRidge
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import Embedding, Filter
from dccgcn.operators import (
    NumericColumns,
    Operator,
    knn_operator,
    normalise_rows,
    numeric_columns_of,
    standardised,
    topology_operator,
    weight_columns,
)
from dccgcn.runtime.threads import threads_for

CHANNELS = ("topology", "features")
FEATURES_IDF = "features.idf"
STRUCTURE = "topology.structure"
NODE, NEIGHBOURS = "node", "neighbours"  # regressors of the refit (C10); no member uses them
PROPAGATED = "propagated"  # the regressor of all members' embeddings


@dataclass(frozen=True)
class EmbeddingSpec:
    """How one embedding (C1, C2) is made. Names of members' embeddings begin with their channel."""

    name: str
    filter: Literal["ssgc", "identity", "neighbours", "two-hop"]
    operator: str  # key of the operator that it filters on
    n_steps: int
    alpha: float
    idf: bool  # columns weighted by idf
    n_components: int
    k: int = 0  # of the operator, if it is a feature graph

    @property
    def channel(self) -> str | None:
        channel = self.name.partition(".")[0]
        return channel if channel in CHANNELS else None


@dataclass(frozen=True, eq=False)
class Projections:
    """The embeddings, and what maps features to them."""

    embeddings: dict[str, Embedding]  # by name, as specified
    idf: np.ndarray | None  # (d,) weights of the feature columns
    numeric: NumericColumns | None  # columns that are standardised


@dataclass(frozen=True, eq=False)
class Precomputed:
    """All inputs of the ensemble that do not depend on labels."""

    specs: Sequence[EmbeddingSpec]
    operators: dict[str, Operator]
    projections: Projections
    regressors: dict[str, LooRidge]  # NODE; NEIGHBOURS: node and neighbours; PROPAGATED: all of the members

    @property
    def findings(self) -> list[Finding]:
        """Findings of the operators, the last of each code."""
        operators = reversed(self.operators.values())
        return list({finding.code: finding for operator in operators for finding in operator.findings}.values())


def standardised_graph(graph: NodeGraph, numeric: NumericColumns | None) -> NodeGraph:
    """The graph with numeric columns at mean 0 and variance 1, so that none dominates the cosine.

    Its labels may be those of an earlier run.
    """
    if numeric is None:
        return graph
    key = ("standardised", numeric.mean.tobytes())
    return graph.cached(key, lambda: graph.with_features(standardised(graph.features, numeric)))


def idf_weights(graph: NodeGraph, settings: ConcordSettings) -> np.ndarray | None:
    """(d,) idf of the columns; None where it is switched off or features are not counts."""
    return graph.cached(("idf",), partial(spectral.idf, graph.features)) if settings.idf else None


def channel_operators(graph: NodeGraph, settings: ConcordSettings, idf: np.ndarray | None) -> dict[str, Operator]:
    """S of each channel, and of the feature graph by idf-weighted cosine."""
    k = settings.k_for(graph.n)
    operators = {
        "topology": topology_operator(graph, "symmetric"),
        "features": knn_operator(graph, k, "symmetric"),
    }
    if idf is not None:
        operators[FEATURES_IDF] = knn_operator(graph, k, "symmetric", weights=idf)
    return operators


def total_nnz(operators: Mapping[str, Operator]) -> int:
    """Entries of both channels' operators."""
    return sum(operators[name].matrix.nnz for name in CHANNELS)


def embedding_specs(s: ConcordSettings, n: int, q: float, with_idf: bool) -> list[EmbeddingSpec]:
    """All embeddings of a graph of n nodes at scarcity q, in the order of concatenation."""
    rank, k = s.n_components, s.k_for(n)
    long, features = (s.n_steps_topology, s.alpha), (s.n_steps_features, s.alpha)
    adaptive = spectral.adaptive_filter(s.n_steps_topology, s.alpha, q, s.adaptive_steps)
    specs = [
        EmbeddingSpec("topology.plain", "ssgc", "topology", *long, False, rank),
        EmbeddingSpec("features.plain", "ssgc", "features", *features, False, rank, k),
        EmbeddingSpec("topology.adaptive", "ssgc", "topology", *adaptive, with_idf, rank),
        EmbeddingSpec(NODE, "identity", "topology", 0, 1.0, with_idf, rank),
        EmbeddingSpec(NEIGHBOURS, "neighbours", "topology", 1, 0.0, with_idf, rank),
    ]
    if with_idf:
        specs.append(EmbeddingSpec(FEATURES_IDF, "ssgc", FEATURES_IDF, *features, True, rank, k))
    if s.n_structural:
        specs.append(EmbeddingSpec(STRUCTURE, "two-hop", "topology", *long, False, s.n_structural))
    return specs


def precompute(graph: NodeGraph, settings: ConcordSettings, q: float, fitted: Projections | None = None) -> Precomputed:
    """All inputs at scarcity q: fitted and cached on the graph, or projected as at an earlier training."""
    numeric = fitted.numeric if fitted else numeric_columns_of(graph)
    graph = standardised_graph(graph, numeric)
    idf = fitted.idf if fitted else idf_weights(graph, settings)
    operators = channel_operators(graph, settings, idf)
    specs = embedding_specs(settings, graph.n, q, idf is not None)

    @cache
    def unit_features(weighted: bool) -> Any:
        return normalise_rows(weight_columns(graph.features, idf if weighted else None), "unit")

    def make(spec: EmbeddingSpec) -> Embedding:
        apply_filter = _filter(spec, operators)
        if fitted and spec.name == STRUCTURE:
            return spectral.project_structural(apply_filter, graph.n, fitted.embeddings[spec.name])
        if fitted:
            return spectral.project(apply_filter, unit_features(spec.idf), fitted.embeddings[spec.name])
        if spec.name == STRUCTURE:
            return spectral.fit_structural(apply_filter, graph.component, spec.n_components)
        return spectral.fit_svd(apply_filter, unit_features(spec.idf), spec.n_components)

    def once(key: Any, build: Any) -> Any:
        return build() if fitted else graph.cached(("concord", key), build)

    parts = {
        NODE: [spec for spec in specs if spec.name == NODE],
        NEIGHBOURS: [spec for spec in specs if spec.name in (NODE, NEIGHBOURS)],
        PROPAGATED: [spec for spec in specs if spec.channel],
    }
    with threads_for(total_nnz(operators)):
        embeddings = {spec.name: once(spec, partial(make, spec)) for spec in specs}
        regressors = {
            name: once(tuple(used), partial(LooRidge.fit, *(embeddings[spec.name].z for spec in used)))
            for name, used in parts.items()
        }
    return Precomputed(specs, operators, Projections(embeddings, idf, numeric), regressors)


def _filter(spec: EmbeddingSpec, operators: Mapping[str, Operator]) -> Filter:
    """p of (C1)."""
    if spec.filter == "identity":
        return spectral.identity_filter
    operator = operators[spec.operator]
    if spec.filter == "neighbours":
        return partial(spectral.neighbour_filter, operator=operator)
    polynomial = spectral.ssgc_filter if spec.filter == "ssgc" else spectral.two_hop_filter
    return partial(polynomial, operator=operator, n_steps=spec.n_steps, alpha=spec.alpha)
