"""The exact feature kNN graph: the project's search and scikit-learn's brute force."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from benchmarks.timing import interleave, median_ratio
from dccgcn import datasets
from dccgcn.features.exact_search import exact_knn


def bench_knn(name: str, k: int, rounds: int, threads: int) -> dict[str, Any]:
    """Time both searches in turn on a dataset's features, and compare their neighbours.

    Times are medians; the ratio is the median over rounds.
    """
    features = sp.csr_array(datasets.load(name).graph.features)
    exact_knn(features[: k + 2], k)  # compile
    searches = [lambda _: exact_knn(features, k), lambda _: brute_force(features, k)]
    seconds = interleave(searches, rounds, warm_up=0)
    found = exact_knn(features, k)
    expected, similarity = rank_with_tie_rule(features, k)
    return dict(
        dataset=name,
        k=k,
        threads=threads,
        rounds=rounds,
        ours_s=float(np.median(seconds[:, 0])),
        scikit_learn_s=float(np.median(seconds[:, 1])),
        ratio=median_ratio(seconds[:, 1], seconds[:, 0]),
        same_similarities=bool(np.allclose(found.similarity, similarity, atol=1e-6)),  # of the k neighbours
        same_neighbours=bool((found.indices == expected).all()),  # under the tie rule
        tied=float(found.tied.mean()),  # share of nodes whose k-th neighbour is decided by the tie rule
    )


def brute_force(features: sp.csr_array, k: int) -> np.ndarray:
    """Distances to the k nearest neighbours, by scikit-learn."""
    search = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute", n_jobs=-1).fit(features)
    return np.asarray(search.kneighbors()[0])


def rank_with_tie_rule(features: sp.csr_array, k: int, block: int = 512) -> tuple[np.ndarray, np.ndarray]:
    """The k most similar rows by a dense product, ties by position; rows of zeros have and are no neighbours."""
    x = features.astype(np.float64)
    norm = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).reshape(-1))
    unit = sp.csr_array(sp.diags_array(1 / np.where(norm > 0, norm, 1)) @ x)
    n = x.shape[0]
    indices, similarity = np.full((n, k), -1), np.zeros((n, k))
    for start in range(0, n, block):
        cosine = np.round((unit[start : start + block] @ unit.T).toarray(), 9)
        cosine[:, norm == 0] = -np.inf
        cosine[np.arange(len(cosine)), np.arange(start, start + len(cosine))] = -np.inf
        order = np.argsort(-cosine, axis=1, kind="stable")[:, :k]
        is_nonzero = norm[start : start + block] > 0
        indices[start : start + block][is_nonzero] = order[is_nonzero]
        similarity[start : start + block][is_nonzero] = np.take_along_axis(cosine, order, axis=1)[is_nonzero]
    return indices, similarity
