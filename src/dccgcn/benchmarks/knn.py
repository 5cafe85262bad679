"""The exact feature graph against scikit-learn's brute force, with the same neighbours."""

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from dccgcn import datasets
from dccgcn.operators.exact_knn import exact_knn


@dataclass(frozen=True)
class KnnBenchmark:
    """Seconds are medians; the ratio is the median of the ratios of neighbouring rounds."""

    dataset: str
    k: int
    threads: int
    rounds: int
    ours_s: float
    scikit_learn_s: float
    ratio: float
    same_similarities: bool  # the k similarities of every node are the same
    same_neighbours: bool  # and so are its neighbours, once scikit-learn's are put under the tie rule
    tied: float  # share of the nodes whose k-th neighbour the tie rule decides

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def bench_knn(name: str, k: int, rounds: int, threads: int) -> KnnBenchmark:
    """Interleave both searches on a dataset's features; compare what they find."""
    features = sp.csr_array(datasets.load(name).graph.features)
    exact_knn(features[: k + 2], k)  # compile
    times = []
    for _ in range(rounds):
        start = perf_counter()
        found = exact_knn(features, k)
        middle = perf_counter()
        brute_force(features, k)
        times.append((middle - start, perf_counter() - middle))
    measured = np.array(times)
    expected, ranked = under_tie_rule(features, k)
    return KnnBenchmark(
        dataset=name,
        k=k,
        threads=threads,
        rounds=rounds,
        ours_s=float(np.median(measured[:, 0])),
        scikit_learn_s=float(np.median(measured[:, 1])),
        ratio=float(np.median(measured[:, 1] / measured[:, 0])),
        same_similarities=bool(np.allclose(found.similarity, ranked, atol=1e-6)),
        same_neighbours=bool((found.indices == expected).all()),
        tied=float(found.tied.mean()),
    )


def brute_force(features: sp.csr_array, k: int) -> np.ndarray:
    """Distances to the k nearest others, as one gets them from scikit-learn."""
    search = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute", n_jobs=-1).fit(features)
    return np.asarray(search.kneighbors()[0])


def under_tie_rule(features: sp.csr_array, k: int, block: int = 512) -> tuple[np.ndarray, np.ndarray]:
    """All similarities by a plain dense product, ranked by (similarity, position); rows of zeros stay out."""
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
        some = norm[start : start + block] > 0
        indices[start : start + block][some] = order[some]
        similarity[start : start + block][some] = np.take_along_axis(cosine, order, axis=1)[some]
    return indices, similarity
