"""Small runs that several tests use."""

from dataclasses import replace

import numpy as np

from dccgcn.graph import NodeGraph
from dccgcn.methods.prediction import Prediction
from dccgcn.workflow.result import Result

# a network that trains within a second
QUICK = ["--method", "dcc-gcn", "--set", "epochs=5", "--set", "hidden1=16", "--set", "hidden2=8"]
SHORT = {
    "epochs": 4, "most_epochs": 4, "calibration_epochs": 3, "patience": 2, "alpha_after": 2, "stages": 2, "clusters": 5,
    "steps": 5, "confident": 0.5, "calibrate_from": 0.5, "walks": 5, "dcc": {"epochs": 3},
}  # fmt: skip


def short(method, **options):
    """Settings with which the method ends within a fraction of a second."""
    every = {**SHORT, **options}
    return method.settings.of({name: value for name, value in every.items() if name in method.settings.model_fields})


def words_graph() -> NodeGraph:
    """40 nodes with a few words each, edges at random and three classes."""
    rng = np.random.default_rng(0)
    words = np.eye(40)[:, rng.permutation(40)[:12]] + (rng.random((40, 12)) < 0.15)
    return NodeGraph(words, rng.integers(0, 39, (70, 2)), np.arange(40) % 3)


def toy(n=60, c=3, seed=0, names=None, ids=None) -> NodeGraph:
    """A ring of communities, one for each class."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) * c // n
    features = np.eye(c)[truth] + rng.normal(scale=0.3, size=(n, c))
    edges = [(i, (i + 1) % n) for i in range(n)] + [(i, (i + 2) % n) for i in range(n)]
    names = names or [f"class {k}" for k in range(c)]
    return NodeGraph(features, edges, [names[k] for k in truth], ids=ids, classes=names, name="toy")


def dual(result: Result, seed=0) -> Result:
    """The result of a method that fills every field."""
    rng = np.random.default_rng(seed)
    p = result.prediction.probabilities
    first, second = (_noisy(p, rng) for _ in range(2))
    agree = first.argmax(1) == second.argmax(1)
    prediction = Prediction(
        p,
        {"topology": first, "feature": second},
        channels_agree=agree,
        uncorrected=p,
        corrected=~agree,
        trust=np.where(agree, 0.9, 0.4).astype(np.float32),
        promised=True,
        channel_weights={"topology": 0.7, "feature": 0.3},
        embeddings={"topology": first, "feature": second, "joint": p},
    )
    return replace(result, prediction=prediction)


def _noisy(p, rng):
    q = p * rng.uniform(0.2, 1, size=p.shape)
    return (q / q.sum(axis=1, keepdims=True)).astype(np.float32)
