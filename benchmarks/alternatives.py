"""What else one would take for a large graph: a few lines of SciPy and scikit-learn each, on one graph and split.

label propagation    labels spread by personalised PageRank, as in scikit-network and many recipes
propagated features  S² X (SGC), then logistic regression
fastrp               random projections of the topology's powers (FastRP, Chen et al. 2019), then logistic regression
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from benchmarks.memory import peak_mb, reset_peak
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split

_TELEPORT, _N_STEPS = 0.1, 20  # of label propagation
_N_COMPONENTS = 128  # of FastRP
_WEIGHTS = (0.0, 1.0, 1.0)  # of the powers 1 to 3 of the random walk


@dataclass(frozen=True)
class Measured:
    """One method on one graph."""

    method: str
    seconds: float
    cpu_s: float
    peak_mb: float  # of the process, the graph included
    accuracy: float  # on the test nodes

    def __str__(self) -> str:
        return f"{self.method} {self.seconds:,.1f} s, {self.peak_mb:,.0f} MB, {100 * self.accuracy:.1f} %"


def measure_alternatives(graph: NodeGraph, split: Split) -> list[Measured]:
    """Each method in turn; operators are built anew by each."""
    return [_measure(name, graph, split) for name in METHODS]


def _measure(name: str, graph: NodeGraph, split: Split) -> Measured:
    reset_peak()
    start, cpu = perf_counter(), process_time()
    y_pred = METHODS[name](graph, split)
    seconds, cpu = perf_counter() - start, process_time() - cpu
    return Measured(name, seconds, cpu, peak_mb(), float((y_pred == graph.labels)[split.test].mean()))


def label_propagation(graph: NodeGraph, split: Split) -> np.ndarray:
    """P ← (1-a) D⁻¹A P + a Y."""
    walk = _random_walk(graph)
    y = np.zeros((graph.n, graph.c), np.float32)
    y[split.train, graph.labels[split.train]] = 1
    p = y
    for _ in range(_N_STEPS):
        p = (1 - _TELEPORT) * (walk @ p) + _TELEPORT * y
    return np.asarray((p / np.maximum(p.sum(axis=0), 1e-12)).argmax(axis=1))


def propagated_features(graph: NodeGraph, split: Split) -> np.ndarray:
    """Logistic regression on S² X, S = D^-1/2 (A + I) D^-1/2, X dense."""
    loops = sp.csr_array(graph.adjacency + sp.eye_array(graph.n, dtype=np.float32))
    root = sp.diags_array(1 / np.sqrt(np.asarray(loops.sum(axis=1)).reshape(-1)))
    s = sp.csr_array(root @ loops @ root, dtype=np.float32)
    x = np.asarray(graph.features.toarray() if sp.issparse(graph.features) else graph.features, np.float32)
    return _logistic_regression(s @ (s @ x), graph, split)


def fastrp(graph: NodeGraph, split: Split) -> np.ndarray:
    """Logistic regression on Σ_k w_k W^k R, W the random walk and R sparse random signs; rows of unit length."""
    walk = _random_walk(graph)
    rng = np.random.default_rng(0)
    current = rng.choice(np.array([-1, 0, 1], np.float32), (graph.n, _N_COMPONENTS), p=[1 / 6, 2 / 3, 1 / 6])
    total = np.zeros_like(current)
    for weight in _WEIGHTS:
        current = walk @ current
        norm = np.linalg.norm(current, axis=1, keepdims=True)
        total += np.float32(weight) * current / np.where(norm > 0, norm, 1)
    return _logistic_regression(total, graph, split)


METHODS: dict[str, Callable[[NodeGraph, Split], np.ndarray]] = {
    "label propagation": label_propagation,
    "propagated features": propagated_features,
    "fastrp": fastrp,
}


def _random_walk(graph: NodeGraph) -> sp.csr_array:
    """D⁻¹ A."""
    degree = np.asarray(graph.adjacency.sum(axis=1)).reshape(-1)
    return sp.csr_array(sp.diags_array(1 / np.maximum(degree, 1e-12)) @ graph.adjacency, dtype=np.float32)


def _logistic_regression(z: np.ndarray, graph: NodeGraph, split: Split) -> np.ndarray:
    """Classes of all nodes, (n,), by scikit-learn with C = 10."""
    model = LogisticRegression(C=10, max_iter=300).fit(z[split.train], graph.labels[split.train])
    return np.asarray(model.predict(z))
