"""Views of the nodes: representations that depend on the graph alone, each made once and cached on the graph.

    own         U = X V, centred, V the leading right singular vectors of X
    hop1, hop2  M U and M² U, M = D^-1 A
    propagated  p(S) X in its leading directions, S the topology                                      (C1)
    structure   p(N²) alone in its leading directions                                                 (C1)
    similar     p(S) X in its leading directions, S the feature graph                                 (C1)
    sizes       log(1 + degree), log(1 + Σ|x|), and their means over the neighbours

Of texts that were read by their meaning, own, hops, propagated and similar of their vectors stand beside those of the
features; their names begin with ``meaning.``.

Of several relations each has its own hops, propagated, structure and degree; hops and degrees of a directed one are
apart for both directions.

``view_specs`` lists them; a new view is a line there and a case in ``_make``. ``fitted`` are the projections of an
earlier training, for a graph that has grown since.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dccgcn.concord.loo_ridge import LooRidge
from dccgcn.concord.settings import ConcordSettings
from dccgcn.errors import Finding
from dccgcn.features import (
    Embedding,
    Matrix,
    NumericColumns,
    Operator,
    columns_to_standardise,
    knn_operator,
    mean_operator,
    neighbour_mean,
    normalise_rows,
    scale_to_unit_rows,
    standardised,
    times,
    topology_operator,
    weight_columns,
)
from dccgcn.features import embedding as spectral
from dccgcn.graph import NodeGraph
from dccgcn.kernels import spmm
from dccgcn.progress import Progress
from dccgcn.runtime import row_count, row_mean, stages_of, threads_for

TOPOLOGY, FEATURES = "topology", "features"  # keys of operators
SIMILAR, JOINT, LABELS = "similar", "joint", "labels"  # names of channels
MEANING = "meaning."  # prefix of the views of vectors
_WAYS = ("out", "in")  # of a directed relation
N_OWN = 128  # columns of own, hop1 and hop2; features with no more columns are used as they are, standardised
_ALPHA = 0.05  # weight of a node itself in propagation filters
_N_STEPS_FEATURES = 4
_LARGEST_SIZE = 1.5  # of the standardised columns of sizes
_NO_COMPONENTS = np.empty((0, 0), np.float32)
_CONSTANT = 1e-6  # standard deviation up to which a column is constant

Once = Callable[[Any, Callable[[], Any]], Any]  # once(key, build): the value of a key, built or found


def make_now(key: Any, build: Callable[[], Any]) -> Any:
    """A ``Once`` that keeps nothing."""
    return build()


@dataclass(frozen=True)
class ViewSpec:
    """How one view is made."""

    name: str
    kind: Literal["own", "hop", "propagated", "structure", "sizes"]
    relation: str = ""  # key of the operator; of a hop the prefix of its direction
    n_steps: int = 0
    n_components: int = N_OWN
    k: int = 0  # of the operator, if it is the feature graph
    source: str = ""  # of what: features, or MEANING

    def is_joined(self, layout: "Layout") -> bool:
        """Whether the joint channel has it: views of the main source, and those of the edges alone."""
        return self.source == layout.main or self.kind in ("structure", "sizes")

    @property
    def is_spectral(self) -> bool:
        """Whether it is weighted by (C2), and its head by neighbour mutual information (C4)."""
        return self.kind in ("propagated", "structure")


@dataclass(frozen=True, eq=False)
class Projections:
    """The views, and what maps features to them."""

    embeddings: dict[str, Embedding]  # by name, as specified
    idf: np.ndarray | None  # (d,) weights of the feature columns
    numeric: NumericColumns | None  # columns that are standardised


@dataclass(frozen=True, eq=False)
class Precomputed:
    """All that does not depend on labels."""

    layout: "Layout"
    specs: Sequence[ViewSpec]
    operators: dict[str, Operator]
    projections: Projections
    regressor: LooRidge  # on own and hop1 (C8)
    feature_mean: sp.csr_array  # mean over the neighbours in the feature graph; nodes without any keep their own
    empty: Callable[[tuple[int, ...]], np.ndarray]  # a float32 array to fill, in the scratch folder if there is one
    kept: Callable[[Matrix], Matrix]  # the matrix itself, or its copy in the scratch folder

    @property
    def findings(self) -> list[Finding]:
        return [finding for operator in self.operators.values() for finding in operator.findings]


@dataclass(frozen=True)
class Layout:
    """Which graphs there are, by the prefix of their views' names; the empty one is that of a single kind of edges."""

    relations: Sequence[str] = ("",)  # of propagated, structure and labels
    directions: Sequence[str] = ("",)  # of hop1, hop2 and sizes
    sources: Sequence[str] = ("",)  # of own, hops, propagated and similar

    @classmethod
    def of(cls, relations: Iterable[str], directed: bool, has_vectors: bool) -> "Layout":
        names = [f"{name}." for name in relations]
        sources = ("", MEANING) if has_vectors else ("",)
        if not names:
            return cls(sources=sources)
        return cls(names, [f"{name}{way}." for name in names for way in _WAYS] if directed else names, sources)

    @property
    def main(self) -> str:
        """The source that predictions are smoothed, joined and fitted again on."""
        return self.sources[-1]

    def channel_names(self, s: ConcordSettings, n: int) -> list[str]:
        """Names of all channels that a graph of n nodes may have."""
        return [*(spec.name for spec in view_specs(s, n, self)), JOINT, *(f"{r}{LABELS}" for r in self.relations)]


def view_specs(s: ConcordSettings, n: int, layout: Layout) -> list[ViewSpec]:
    """All views of a graph of n nodes, in the order of concatenation."""
    n_steps, width, k = s.n_steps_topology, s.n_components, s.k_for(n)
    specs: list[ViewSpec] = []
    for p in layout.sources:
        specs.append(ViewSpec(f"{p}own", "own", source=p))
        specs += [ViewSpec(f"{p}{way}hop{i}", "hop", way, i, source=p) for i in (1, 2) for way in layout.directions]
        specs += [
            ViewSpec(f"{p}{r}propagated", "propagated", r + TOPOLOGY, n_steps, width, source=p)
            for r in layout.relations
        ]
    specs += [ViewSpec(f"{r}structure", "structure", r + TOPOLOGY, n_steps, s.n_structural) for r in layout.relations]
    for p in layout.sources:
        specs.append(ViewSpec(p + SIMILAR, "propagated", p + FEATURES, _N_STEPS_FEATURES, width, k, p))
    return [*specs, ViewSpec("sizes", "sizes")]


def layout_of(graph: NodeGraph) -> Layout:
    return Layout.of(graph.relations, graph.directed, graph.vectors is not None)


def scaled_graph(graph: NodeGraph, fitted: Projections | None = None) -> tuple[NodeGraph, Projections]:
    """The graph with numeric columns at mean 0 and variance 1, so that none dominates the cosine; idf of the others.

    Its labels may be those of an earlier run.
    """
    numeric = fitted.numeric if fitted else columns_to_standardise(graph, N_OWN)
    if numeric is not None:
        graph = graph.cached(("standardised", numeric.mean.tobytes()), partial(_standardised_graph, graph, numeric))
    if fitted:
        return graph, fitted
    idf = None if graph.d <= N_OWN else graph.cached(("idf",), partial(spectral.idf, graph.features))
    return graph, Projections({}, idf, numeric)


def _standardised_graph(graph: NodeGraph, numeric: NumericColumns) -> NodeGraph:
    return _with_other_features(graph, standardised(graph.features, numeric))


def _with_other_features(graph: NodeGraph, features: Any) -> NodeGraph:
    stages = stages_of(graph.cache)
    return graph.with_features(features, stages.child(features) if stages else None)


def channel_operators(
    graph: NodeGraph, settings: ConcordSettings, idf: np.ndarray | None, progress: Progress | None = None
) -> dict[str, Operator]:
    """S of the topology, of each relation if there are several, and of the feature graph of each source."""
    operators = {
        f"{name}.{TOPOLOGY}": graph.cached(("topology", name), partial(_symmetric_operator, matrix))
        for name, matrix in graph.relations.items()
    }
    k = settings.k_for(graph.n)
    operators = operators or {TOPOLOGY: topology_operator(graph, "symmetric")}
    operators[FEATURES] = knn_operator(graph, k, "symmetric", progress, idf)
    if graph.vectors is not None:
        of_vectors = graph.cached(("vectors",), partial(_with_other_features, graph, graph.vectors))
        operators[MEANING + FEATURES] = knn_operator(of_vectors, k, "symmetric", progress)
    return operators


def _symmetric_operator(adjacency: sp.csr_array) -> Operator:
    return Operator.of(sp.csr_array(adjacency.maximum(adjacency.T)), "symmetric")


def mean_matrices(graph: NodeGraph) -> dict[str, sp.csr_array]:
    """M of each direction of each relation, by its prefix."""
    if not graph.relations:
        return {"": mean_operator(graph)}
    found: dict[str, sp.csr_array] = {}
    for name, matrix in graph.relations.items():
        ways = {f"{name}.out.": matrix, f"{name}.in.": matrix.T} if graph.directed else {f"{name}.": matrix}
        found |= {way: neighbour_mean(sp.csr_array(adjacency)) for way, adjacency in ways.items()}
    return found


def total_nnz(operators: Mapping[str, Operator]) -> int:
    """Entries of all operators."""
    return sum(operator.matrix.nnz for operator in operators.values())


def precompute(
    graph: NodeGraph,
    settings: ConcordSettings,
    fitted: Projections | None = None,
    progress: Progress | None = None,
) -> Precomputed:
    """All views: fitted and cached on the graph, or projected as at an earlier training."""

    def once(key: Any, build: Callable[[], Any]) -> Any:
        return build() if fitted else graph.cached(("concord", key), build)

    source, by = make_source(graph, settings, fitted, once, progress)
    return make_views(source, settings, layout_of(graph), by, bool(fitted), once, progress)


def make_source(
    graph: NodeGraph, settings: ConcordSettings, fitted: Projections | None, once: Once, progress: Progress | None
) -> tuple["ViewInputs", Projections]:
    """What the views of a graph are made from, and the scaling of its features."""
    scaled, by = scaled_graph(graph, fitted)
    operators, stages = channel_operators(scaled, settings, by.idf, progress), stages_of(graph.cache)
    source = ViewInputs(
        x={
            "": once("features", lambda: unit_features(scaled, by.idf)),
            **({} if graph.vectors is None else {MEANING: once("vectors", partial(unit_vectors, graph.vectors))}),
        },
        operators=operators,
        means=once("means", lambda: mean_matrices(graph)),
        mean_of_all=partial(mean_operator, graph),
        log_sizes=lambda: once("sizes", lambda: log_sizes(graph, source.means.values())),
        component_sizes=lambda relation: once(
            ("component sizes", relation), lambda: component_sizes(graph, operators[relation])
        ),
        feature_mean=once(
            ("feature mean", settings.k),
            lambda: _mean_or_self(operators[layout_of(graph).main + FEATURES].adjacency),
        ),
        empty=stages.empty if stages else partial(np.empty, dtype=np.float32),
        kept=stages.keep if stages else spectral.as_it_is,
    )
    return source, by


def make_views(
    source: "ViewInputs",
    settings: ConcordSettings,
    layout: Layout,
    by: Projections,
    is_fitted: bool,
    once: Once,
    progress: Progress | None = None,
) -> Precomputed:
    """All views of the rows of ``source``, each made by ``once``; ``is_fitted``: projected as ``by`` says."""
    specs = view_specs(settings, row_count(source.n), layout)
    embeddings: dict[str, Embedding] = {}
    with threads_for(total_nnz(source.operators)):
        for number, spec in enumerate(specs):
            known = by.embeddings.get(spec.name) if is_fitted else None
            own = embeddings.get(f"{spec.source}own")
            embeddings[spec.name] = once(spec, partial(_make, spec, source, own, known))
            if progress:
                progress("views", number + 1, len(specs))
        used = [spec for spec in specs if spec.source == layout.main and _is_regressed_on(spec)]
        regressor = once(tuple(used), lambda: LooRidge.fit(*(embeddings[spec.name].z for spec in used)))
    projections = replace(by, embeddings=embeddings)
    return Precomputed(
        layout, specs, dict(source.operators), projections, regressor, source.feature_mean, source.empty, source.kept
    )


def _is_regressed_on(spec: ViewSpec) -> bool:
    """Whether the view is own or hop1, on which predictions are fitted again (C8)."""
    return spec.kind == "own" or (spec.kind == "hop" and spec.n_steps == 1)


@dataclass(frozen=True, eq=False)
class ViewInputs:
    """What views are made from: all rows, or a block of them."""

    x: Mapping[str, Any]  # by source: (n, d) features, standardised and weighted
    operators: Mapping[str, Operator]
    means: Mapping[str, sp.csr_array]  # M by prefix
    mean_of_all: Callable[[], sp.csr_array]  # M of all relations together
    log_sizes: Callable[[], Matrix]  # (n, 2 or more)
    component_sizes: Callable[[str], np.ndarray]  # by relation: of each node's connected component, (n,)
    feature_mean: sp.csr_array  # as in Precomputed
    empty: Callable[[tuple[int, ...]], np.ndarray]  # as in Precomputed
    kept: Callable[[Matrix], Matrix]  # as in Precomputed

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.x[""].shape[0])


def _make(spec: ViewSpec, source: ViewInputs, own: Embedding | None, known: Embedding | None) -> Embedding:
    """One view, fitted or projected as ``known`` was. ``own`` is the view that hops average."""
    x = source.x[spec.source]
    has_few_columns = x.shape[1] <= N_OWN
    match spec.kind:
        case "own":
            if has_few_columns:
                return _standard_columns(x, known)
            if known:
                return spectral.project(spectral.identity_filter, x, known)
            return spectral.fit_svd(spectral.identity_filter, x, spec.n_components)
        case "hop":
            assert own is not None
            h = x
            if not has_few_columns:
                h = times(h, own.components)
                h -= own.mean
            for _ in range(spec.n_steps):
                h = spmm(source.means[spec.relation], h)
            return _standard_columns(h, known) if has_few_columns else _unit_rows(h)
        case "sizes":
            sizes = source.log_sizes()
            sizes = np.hstack([sizes, spmm(source.mean_of_all(), sizes)])
            return _standard_columns(sizes, known, _LARGEST_SIZE)
    operator = source.operators[spec.relation]
    polynomial = spectral.two_hop_filter if spec.kind == "structure" else spectral.ssgc_filter
    apply_filter = polynomial(operator, spec.n_steps, _ALPHA)
    if spec.kind == "structure":
        if known:
            return spectral.project_structural(apply_filter, source.n, known)
        sizes = source.component_sizes(spec.relation)
        return spectral.fit_structural(apply_filter, sizes, spec.n_components, source.kept)
    if known:
        return spectral.project(apply_filter, x, known)
    return spectral.fit_svd(apply_filter, x, spec.n_components, source.kept)


def component_sizes(graph: NodeGraph, relation: Operator) -> np.ndarray:
    """(n,) nodes in each node's connected component by the edges of one relation."""
    component = connected_components(relation.adjacency, directed=False)[1] if graph.relations else graph.component
    return np.asarray(np.bincount(component)[component])


def log_sizes(graph: NodeGraph, means: Iterable[sp.csr_array]) -> Matrix:
    """(n, 2 or more) log degrees and log feature mass of each node."""
    mass = np.asarray(abs(graph.features).sum(axis=1), dtype=np.float64).reshape(-1)
    degrees = [np.diff(matrix.indptr) for matrix in means]
    return np.asarray(np.log1p(np.column_stack([*degrees, mass])), dtype=np.float32)


def _standard_columns(h: Matrix, known: Embedding | None, largest: float = math.inf) -> Embedding:
    """Columns of mean 0 and equal variance, rows of mean square 1; constant columns become 0."""
    if known is None:
        mean = row_mean(h)
        deviation = np.sqrt(row_mean(np.square(h - mean)))
        kept = deviation > _CONSTANT
        scale = np.divide(1, deviation, out=np.zeros_like(deviation), where=kept) / math.sqrt(max(1, kept.sum()))
        known = Embedding(h, _NO_COMPONENTS, mean.astype(np.float32), scale.astype(np.float32))
    return replace(known, z=np.clip((h - known.mean) * known.scale, -largest, largest))


def _unit_rows(h: Matrix) -> Embedding:
    none = np.empty(0, np.float32)
    return Embedding(scale_to_unit_rows(h), _NO_COMPONENTS, none, none)


def unit_features(graph: NodeGraph, idf: np.ndarray | None) -> Any:
    """X: tf-idf rows of unit length, or few columns as they are, dense."""
    if graph.d <= N_OWN:
        return _dense(graph.features)
    return normalise_rows(weight_columns(graph.features, idf), "unit")


def unit_vectors(vectors: np.ndarray) -> Matrix:
    """Rows of unit length, or few columns as they are."""
    return vectors if vectors.shape[1] <= N_OWN else np.asarray(normalise_rows(vectors, "unit"))


def _dense(x: Any) -> Matrix:
    return np.asarray(x.toarray() if sp.issparse(x) else x, dtype=np.float32)


def _mean_or_self(adjacency: sp.csr_array) -> sp.csr_array:
    """D^-1 A, with a self-loop where a node has no neighbour."""
    alone = (np.diff(adjacency.indptr) == 0).astype(np.float32)
    return sp.csr_array(neighbour_mean(adjacency) + sp.diags_array(alone), dtype=np.float32)
