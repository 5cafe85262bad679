"""Reference predictions: every method on four small graphs, compared by hash with those of an earlier version.

    cd tests && python -m tools.golden [--write]

Hashes depend on the machine's BLAS and on its number of threads, so they are compared on the machine that wrote them,
before and after a change that must not change any result.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dccgcn import datasets
from dccgcn.errors import DccgcnError
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import per_class
from dccgcn.methods.base import ENTRIES, get_method
from dccgcn.methods.prediction import Prediction
from dccgcn.runtime.device import use_threads
from dccgcn.workflow.fitting import fit_and_measure
from helpers.small_cora import part_of

FILE = Path(__file__).parents[1] / "data" / "golden.json"
DIGITS = 5  # of the rounded values
SMALL: dict[str, Any] = {
    "epochs": 4, "calibration_epochs": 2, "most_epochs": 4, "hidden1": 16, "hidden2": 8, "clusters": 10, "stages": 1,
    "rounds": 1, "n_rounds": 1, "samples": 1,
}  # fmt: skip


def graphs() -> dict[str, NodeGraph]:
    """Words and citations, edges between classes, no features, and dense measurements with directed relations."""
    rng = np.random.default_rng(0)
    classes = np.arange(240) % 4
    follows, cites = ([(i, (i + step) % 240) for i in range(0, 240, every)] for step, every in ((4, 1), (1, 3)))
    rings = {"follows": follows, "cites": cites}
    edges = [edge for pairs in rings.values() for edge in pairs]
    dense = rng.normal(size=(4, 6))[classes] + rng.normal(size=(240, 6))
    names = [f"class {c}" for c in classes]
    heterophilous = datasets.synthetic_graph(300, 900, 60, 3, homophily=0.05)
    plain = datasets.synthetic_graph(300, 1500, 60, 3, seed=1)
    labels = [str(c) for c in plain.labels]
    return {
        "cora": part_of(datasets.load("cora"), 400).graph,
        "heterophilous": heterophilous,
        "featureless": NodeGraph(None, plain.edges, labels),
        "relations": NodeGraph(dense, edges, names).with_relations(rings, directed=True),
    }


def hashes() -> Iterator[tuple[str, dict[str, str]]]:
    """Method and graph, and the hash of each part of the prediction or the reason for which there is none."""
    for graph_name, graph in graphs().items():
        split = per_class(graph, 4, seed=0)
        for name, method in zip(ENTRIES, map(get_method, ENTRIES), strict=True):
            options = {key: value for key, value in SMALL.items() if key in method.settings.model_fields}
            if "dcc" in method.settings.model_fields:
                options["dcc"] = {key: SMALL[key] for key in ("epochs", "hidden1", "hidden2")}
            try:
                run = fit_and_measure(graph, split, method, method.published_settings("cora", options), seed=0)
                yield f"{name} on {graph_name}", _parts(run.prediction)
            except DccgcnError as error:
                yield f"{name} on {graph_name}", {"refused": error.what}


def _parts(prediction: Prediction) -> dict[str, str]:
    weights = prediction.channel_weights
    parts = {
        "probabilities": prediction.probabilities,
        "trust": prediction.trust,
        "weights": np.array([weights[name] for name in sorted(weights)]) if weights else None,
    }
    return {name: _hash(values) for name, values in parts.items() if values is not None}


def _hash(values: np.ndarray) -> str:
    rounded = np.round(np.asarray(values, dtype=np.float64), DIGITS) + 0.0  # no negative zero
    return hashlib.sha256(repr(rounded.shape).encode() + rounded.tobytes()).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Store the hashes instead of comparing them.")
    write = parser.parse_args().write
    use_threads(1)
    current = dict(hashes())
    if write:
        FILE.write_text(json.dumps(current, indent=1) + "\n", encoding="utf-8")
        return
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    changed = [name for name in {**stored, **current} if stored.get(name) != current.get(name)]
    for name in changed:
        print(f"{name}: {stored.get(name)} was stored, {current.get(name)} is predicted now")
    sys.exit(f"{len(changed)} of {len(current)} predictions have changed." if changed else None)


if __name__ == "__main__":
    main()
