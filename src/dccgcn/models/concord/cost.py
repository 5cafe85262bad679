"""Estimated memory and time of a run, from the embeddings and members that it builds."""

from dccgcn.graph import NodeGraph
from dccgcn.models.concord.ensemble import N_FOLDS
from dccgcn.models.concord.members import member_layout
from dccgcn.models.concord.precompute import STRUCTURE, embedding_specs, idf_weights
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import N_KRYLOV, OVERSAMPLING
from dccgcn.models.resources import PROCESS_BYTES, Cost, graph_size, sparse_remedy

# per second on one core; measured on graphs of 2,000 to 20,000 nodes
_PROPAGATION = 4e9  # multiply-adds of sparse products
_ORTHOGONALISATION = 2.5e10
_PREDICTION = 1e9


def concord_cost(graph: NodeGraph, settings: ConcordSettings) -> Cost:
    """Truncated SVDs of all embeddings, then predictions of all members in each fold and round."""
    size = graph_size(graph, settings.neighbours)
    specs = embedding_specs(settings, graph.n, 1.0, idf_weights(graph, settings) is not None)  # 1: longest filters
    n_feature_graphs = len({spec.operator for spec in specs} - {"topology"})
    n_products = 2 * (N_KRYLOV + 1)
    propagation = orthogonalisation = svd = 0.0
    for spec in specs:
        structural = spec.name == STRUCTURE
        nnz_x, columns = (size.n, size.n) if structural else (size.nnz, size.d)
        nnz = size.nnz_topology if spec.operator == "topology" else size.nnz_features
        width = min(spec.n_components + OVERSAMPLING, size.n, columns)
        propagation += n_products * width * (2 * nnz_x + spec.n_steps * nnz)
        orthogonalisation += N_KRYLOV * 4 * width**2 * (size.n + columns)
        svd = max(svd, (8 + N_KRYLOV * (2 if structural else 1)) * width)
    n_members, n_trainings = len(member_layout(specs)), settings.n_rounds + 1 + N_FOLDS
    smoothing = settings.n_smoothing * (size.nnz_topology + size.nnz_features) / 2
    predictions = n_trainings * n_members * size.c * (2 * settings.n_components * size.n + smoothing)
    seconds = (
        n_feature_graphs * size.knn_seconds
        + propagation / _PROPAGATION
        + orthogonalisation / _ORTHOGONALISATION
        + predictions / _PREDICTION
    )
    # float32 numbers per node: the largest SVD, all embeddings with their copies, predictions with those of all folds
    embeddings = sum((3 if spec.channel else 1) * spec.n_components for spec in specs)
    per_node = svd + embeddings + (3 * n_members + 4 * 4 * N_FOLDS) * size.c
    n_bytes = PROCESS_BYTES + n_feature_graphs * size.bytes + 4 * per_node * size.n
    remedy = sparse_remedy(graph) or (
        f"Use fewer features or singular vectors (--set n_components={settings.n_components // 2}), or a simpler "
        "method such as ssgc."
    )
    return Cost(n_bytes, seconds, remedy)
