"""Fit the coefficients of Concord's confidence (C14) on development splits, and test them on held-out graphs.

    python scripts/fit_confidence.py [--splits 8]

Prints the coefficients for src/dccgcn/models/concord/confidence.py, and for each graph the calibration error and the
AUROC with coefficients fitted on the other graphs; then the mean trust, with the coefficients of the package, on graphs
whose features and edges are shuffled and carry no information.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from dccgcn import NodeGraph, by_rate, load, per_class
from dccgcn.evaluation.trust import auroc
from dccgcn.models.concord import method
from dccgcn.models.concord.confidence import COEFFICIENTS, confidence_features, p_uninformative, trust
from dccgcn.models.concord.ensemble import margin
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.precompute import NODE, PROPAGATED, precompute
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import scarcity

CELLS = [
    *(("cora", size) for size in (0.005, 0.01, 0.02, 20)),
    *(("citeseer", size) for size in (0.005, 0.01, 0.02, 20)),
    *(("pubmed", size) for size in (0.0003, 0.0005, 0.001, 20)),
    *((name, size) for name in ("acm", "flickr", "uai2010") for size in (5, 20)),
]
SHUFFLED = [(name, size) for name in ("cora", "citeseer", "acm") for size in (2, 5, 20)]
SAMPLE = 2000  # test nodes of each run, so that large graphs do not dominate
FIRST_SEED = 1000


@dataclass(frozen=True)
class Run:
    """Test nodes of one run."""

    features: np.ndarray  # (nodes, coefficients)
    margins: np.ndarray
    right: np.ndarray  # bool
    nu: float  # p_uninformative
    chance: float

    def trust(self, beta: np.ndarray) -> np.ndarray:
        return trust(self.features, self.nu, self.chance, beta.tolist())


def collect(name: str, size: float, splits: int) -> list[Run]:
    """Confidence features and correctness of test nodes on a few development splits."""
    graph, settings, runs = load(name).graph, ConcordSettings(), []
    for seed in range(FIRST_SEED, FIRST_SEED + splits):
        split = by_rate(graph, size, seed) if size < 1 else per_class(graph, int(size), seed, "half")
        given = Labels.given(split.train, graph.labels[split.train], graph.c)
        q, prior = scarcity(len(split.train) / graph.c, settings.scarcity_scale), np.ones(graph.c)
        inputs = precompute(graph, settings, q)
        state = method.self_train(method.build_members(inputs, q, settings), given, prior, settings, seed)
        output = method.combine(state, inputs, prior, settings)
        features = confidence_features(output, state, [inputs.regressors[NODE], inputs.regressors[PROPAGATED]])
        nu = p_uninformative(state.n_recovered, given.n_checkable, given.chance)
        right = output.f.argmax(axis=1) == graph.labels
        sample = np.random.default_rng(seed).permutation(split.test)[:SAMPLE]
        runs.append(Run(features[sample], margin(output.f)[sample], right[sample], nu, given.chance))
    return runs


def fit_beta(runs: list[Run]) -> np.ndarray:
    """The maximum-likelihood coefficients."""

    def loss(beta: np.ndarray) -> float:
        likelihoods = [np.where(run.right, p := run.trust(beta).astype(float), 1 - p) for run in runs]
        return -float(np.mean([np.log(np.maximum(p, 1e-6)).mean() for p in likelihoods]))

    return np.asarray(minimize(loss, list(COEFFICIENTS.values()), method="Nelder-Mead").x)


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error in 15 bins of equal mass."""
    bins = np.array_split(np.argsort(confidence), 15)
    return float(sum(abs(confidence[b].mean() - right[b].mean()) * len(b) for b in bins) / len(confidence))


def evaluate(run: Run, beta: np.ndarray) -> tuple[float, float, float]:
    """ECE and AUROC of the trust, and AUROC of the margin."""
    confidence = run.trust(beta)
    return calibration_error(confidence, run.right), auroc(confidence, run.right), auroc(run.margins, run.right)


def shuffled(graph: NodeGraph, seed: int) -> NodeGraph:
    """The same labels with the features and edges of other nodes."""
    rng = np.random.default_rng(seed)
    return NodeGraph(graph.features[rng.permutation(graph.n)], rng.permutation(graph.n)[graph.edges], graph.labels)


def on_shuffled(name: str, size: int, splits: int) -> tuple[float, float]:
    """Mean trust and accuracy on an uninformative graph."""
    results = []
    for seed in range(FIRST_SEED, FIRST_SEED + splits):
        graph = shuffled(load(name).graph, seed)
        split = per_class(graph, size, seed)
        prediction = method.fit(graph, split.train, ConcordSettings(), seed)
        right = prediction.y_pred == graph.labels
        results.append((prediction.trust[split.test].mean(), right[split.test].mean()))
    mean_trust, accuracy = np.mean(results, axis=0)
    return float(mean_trust), float(accuracy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=8)
    arguments = parser.parse_args()
    data = {}
    for name, size in CELLS:
        data[name, size] = collect(name, size, arguments.splits)
        print(name, size, f"accuracy {np.mean([run.right.mean() for run in data[name, size]]):.3f}", flush=True)
    held_out = []
    for name in dict(CELLS):
        beta = fit_beta([run for cell, runs in data.items() if cell[0] != name for run in runs])
        for cell in CELLS:
            if cell[0] == name:
                held_out.append(np.mean([evaluate(run, beta) for run in data[cell]], axis=0))
                print(*cell, "ECE {:.3f}, AUROC {:.3f}, of the margin {:.3f}".format(*held_out[-1]))
    print("mean of held-out graphs: ECE {:.3f}, AUROC {:.3f}, of the margin {:.3f}".format(*np.mean(held_out, axis=0)))
    beta = fit_beta([run for runs in data.values() for run in runs])
    for name, value in zip(COEFFICIENTS, beta, strict=True):
        print(f'    "{name}": {value:.3f},')
    for name, size in SHUFFLED:
        print("{}, shuffled, {} per class: trust {:.3f}, right {:.3f}".format(name, size, *on_shuffled(name, size, 4)))


if __name__ == "__main__":
    main()
