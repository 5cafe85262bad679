"""Estimated memory and time of a run, from the views that it makes."""

from dccgcn.concord.channels import MOST_NUMBERS
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.views import FEATURES, N_OWN, layout_of, view_specs
from dccgcn.features import N_BLOCKS, OVERSAMPLING, SMALL_GRAM
from dccgcn.graph import NodeGraph
from dccgcn.kernels import BUFFER_BYTES
from dccgcn.methods import PROCESS_BYTES, Cost, graph_size, sparse_remedy
from dccgcn.runtime import stages_of

# per second on one core; measured on graphs of 2,000 to 20,000 nodes
_PROPAGATION = 4e9  # multiply-adds of sparse products
_ORTHOGONALISATION = 2.5e10
_PREDICTION = 1e9
_N_EVALUATIONS = 12  # of a loss with neighbour mutual information
_N_TRAININGS = 6  # of each head: all labels, and five folds
_N_SPREADING = 50  # steps of labels and of smoothed predictions
_N_SMOOTHED = 3  # arrays of a smoothing
_N_POOLED = 10  # arrays of the pool, its refits and what they are made from
_N_VECTORS = 3  # arrays of the size of the vectors of texts: they, their unit rows, and a copy to compare
_N_BASES = 4  # arrays of the right singular vectors at once; measured with 200,000 and 400,000 columns


def concord_cost(graph: NodeGraph, settings: ConcordSettings) -> Cost:
    """Truncated SVDs of all views, then heads, smoothed predictions and refits."""
    size, is_staged = graph_size(graph, settings.neighbours), stages_of(graph.cache) is not None
    n_products = 2 * N_BLOCKS
    propagation = orthogonalisation = prediction = 0.0
    widest = 2.0 * N_OWN  # own or a hop, and what it is made from
    columns = 0
    largest_basis = 0.0  # numbers of right singular vectors, a row for each feature
    for spec in view_specs(settings, graph.n, layout_of(graph)):
        structural = spec.kind == "structure"
        if spec.is_spectral or (spec.kind == "own" and size.d > SMALL_GRAM):
            nnz_x, width_x = (size.n, size.n) if structural else (size.nnz, size.d)
            nnz = (
                size.nnz_features if spec.relation.endswith(FEATURES) else size.nnz_topology * (2 if structural else 1)
            )
            width = min(spec.n_components + OVERSAMPLING, size.n, width_x)
            propagation += n_products * width * (2 * nnz_x + spec.n_steps * nnz)
            orthogonalisation += N_BLOCKS * 4 * width**2 * (size.n + width_x)
            # a product, two buffers or another array, of the structural view the blocks of the Krylov space; products
            # with the other blocks are in the scratch folder, if there is one
            buffers = max(width, 2 * min(width, BUFFER_BYTES / 4 / size.n))
            arrays = 1 + (N_BLOCKS if structural else 0) + (0 if is_staged else N_BLOCKS - 1)
            widest = max(widest, arrays * width + buffers)
            largest_basis = max(largest_basis, 0 if structural else width * width_x)
        n_columns = 4 if spec.kind == "sizes" else min(spec.n_components, size.d if not structural else size.n)
        n_evaluations = _N_EVALUATIONS if spec.is_spectral and settings.mi_weight else 1
        prediction += n_evaluations * 2 * n_columns * size.n * size.c
        columns += n_columns
    spreading = _N_TRAININGS * _N_SPREADING * (size.nnz_topology + size.nnz_features) * size.c
    refits = (settings.n_refits + 1) * 4 * N_OWN * size.n * size.c + N_OWN**2 * size.n
    seconds = (
        size.knn_seconds
        + propagation / _PROPAGATION
        + orthogonalisation / _ORTHOGONALISATION
        + (prediction + spreading + refits) / _PREDICTION
    )
    # float32 numbers per node: the largest SVD, or predictions that are smoothed side by side, and those of the pool
    smoothed = _N_SMOOTHED * min(_N_TRAININGS * size.c, max(size.c, MOST_NUMBERS / size.n)) + _N_POOLED * size.c
    n_bytes = PROCESS_BYTES + 12 * size.nnz + 20 * len(graph.edges) + 4 * _N_BASES * largest_basis
    if graph.vectors is not None:
        n_bytes += _N_VECTORS * graph.vectors.nbytes
    if is_staged:
        n_bytes += max(size.knn_bytes, 4 * max(widest, smoothed) * size.n)
    else:
        kept = 20 * (size.nnz_topology + size.nnz_features) + 4 * columns * size.n
        predicted = smoothed + _predicted_columns(graph, settings)
        n_bytes += max(size.knn_bytes, kept + 4 * max(widest, predicted) * size.n)
    remedy = sparse_remedy(graph) or (
        f"Use fewer features or singular vectors (--set n_components={settings.n_components // 2}), or a simpler "
        "method such as ssgc."
    )
    return Cost(n_bytes, seconds, remedy)


def _predicted_columns(graph: NodeGraph, settings: ConcordSettings) -> int:
    """Columns of the weighted spectral views, and of the predictions of all channels."""
    names, sources = layout_of(graph).channel_names(settings, graph.n), len(layout_of(graph).sources)
    return 2 * settings.n_components * sources + settings.n_structural + len(names) * graph.c


def scratch_bytes(graph: NodeGraph, settings: ConcordSettings) -> float:
    """Disk space: views, weighted views, predictions, three matrices for each of both graphs, weighted features."""
    size = graph_size(graph, settings.neighbours)
    columns = sum(
        spec.n_components if spec.is_spectral else min(spec.n_components, size.d)
        for spec in view_specs(settings, graph.n, layout_of(graph))
    )
    columns += settings.n_structural + 16 + _predicted_columns(graph, settings)
    entries = 3 * (size.nnz_topology + size.nnz_features) + size.nnz
    return 4.0 * columns * size.n + 8.0 * entries
