"""TrustRun: the evidence of Concord's predictions in one run, collected on development splits and kept in a file."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np

from dccgcn.datasets import load_dataset
from dccgcn.errors import DataFileError
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import per_class
from dccgcn.models.concord import method
from dccgcn.models.concord.confidence import Evidence, HeldOut, margin
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import scarcity
from dccgcn.models.concord.views import precompute

GRAPHS = (
    "cora", "citeseer", "acm", "uai2010", "wisconsin", "polblogs", "squirrel-filtered-directed",
    "fb100-amherst41-year", "minesweeper", "twitch-engb", "amazon-photo", "flickr", "twitch-de", "dblp", "pubmed",
    "facebook-pages",
)  # fmt: skip
SHUFFLED = ("cora", "citeseer", "acm", "polblogs")
VERSION = 1  # of the file of runs; one without a version is of the first
LABELS_PER_CLASS = (2, 5, 20)
FIRST_SEED, N_SPLITS, N_SPLITS_LARGE = 1000, 6, 4
LARGE = 7500  # nodes
SAMPLE = 3000  # test nodes of a run that are kept: of fewer, the calibration error would be mostly noise
_SHUFFLED = "-shuffled"


@dataclass(frozen=True, eq=False)
class TrustRun:
    """The test nodes of one run."""

    graph: str
    labels_per_class: int
    seed: int
    held_out: HeldOut
    evidence: Evidence
    right: np.ndarray  # (nodes,) bool
    pool_margin: np.ndarray  # (nodes,)

    @property
    def is_shuffled(self) -> bool:
        return self.graph.endswith(_SHUFFLED)

    @property
    def group(self) -> str:
        """Graphs that are left out together."""
        return "twitch" if self.graph.startswith("twitch") else self.graph.removesuffix(_SHUFFLED)

    def sample(self, size: int) -> "TrustRun":
        few = replace(self.evidence, e=self.evidence.e[:size], log_odds=self.evidence.log_odds[:size])
        return replace(self, evidence=few, right=self.right[:size], pool_margin=self.pool_margin[:size])


def collect(graph: NodeGraph, name: str, labels_per_class: int, seed: int) -> TrustRun:
    """The evidence of one run of Concord, on a random sample of the test nodes."""
    settings, split = ConcordSettings(), per_class(graph, labels_per_class, seed, "half")
    given = Labels.of(split.train, graph.labels[split.train], graph.c)
    q = scarcity(given.per_class, settings.scarcity_scale)
    inputs = precompute(graph, settings)
    state = method.stack(method.build_members(inputs, q, settings), given, settings, seed)
    f = method.smooth_and_refit(state, inputs, settings, None)
    evidence = method.collect_evidence(state, inputs, f)
    test = np.random.default_rng(seed).permutation(split.test)[:SAMPLE]
    right = f.argmax(axis=1)[test] == graph.labels[test]
    kept = Evidence(evidence.e[test], evidence.log_odds[test], evidence.mean_confidence)
    return TrustRun(name, labels_per_class, seed, state.held_out, kept, right, margin(state.pooled)[test])


def collect_all(path: Path) -> None:
    """All runs, written after every graph."""
    runs: list[TrustRun] = []
    for name in (*GRAPHS, *(graph + _SHUFFLED for graph in SHUFFLED)):
        graph = load_dataset(name.removesuffix(_SHUFFLED)).graph
        if name.endswith(_SHUFFLED):
            graph = shuffled(graph)
        n_splits = N_SPLITS_LARGE if graph.n > LARGE or name.endswith(_SHUFFLED) else N_SPLITS
        for k in LABELS_PER_CLASS:
            runs += [collect(graph, name, k, FIRST_SEED + i) for i in range(n_splits)]
        accuracy = np.mean([run.right.mean() for run in runs if run.graph == name])
        print(f"{name}: {accuracy:.1%} right", flush=True)
        write_runs(runs, path)


def shuffled(graph: NodeGraph) -> NodeGraph:
    """The same graph with its labels in random order, so that nothing depends on them."""
    labels, known = graph.labels.copy(), graph.labelled
    labels[known] = np.random.default_rng(7).permutation(labels[known])
    return graph.with_labels(labels)


def write_runs(runs: Sequence[TrustRun], path: Path) -> None:
    """One npz without pickles: numbers of each run, and its nodes one run after the other."""
    evidence = [run.evidence for run in runs]
    np.savez_compressed(
        path,
        version=np.array(VERSION),
        graph=np.array([run.graph for run in runs]),
        labels_per_class=np.array([run.labels_per_class for run in runs]),
        seed=np.array([run.seed for run in runs]),
        held_out=np.array([astuple(run.held_out) for run in runs]),
        mean_confidence=np.array([e.mean_confidence for e in evidence]),
        n_nodes=np.array([len(run.right) for run in runs]),
        e=np.concatenate([e.e for e in evidence]).astype(np.float16),
        log_odds=np.concatenate([e.log_odds for e in evidence]).astype(np.float16),
        right=np.concatenate([run.right for run in runs]),
        pool_margin=np.concatenate([run.pool_margin for run in runs]).astype(np.float16),
    )


def read_runs(path: Path) -> list[TrustRun]:
    with np.load(path, allow_pickle=False) as file:
        data = dict(file)
    if (version := int(data.get("version", 1))) != VERSION:
        raise DataFileError(f"{path} is of format {version}, and this reads format {VERSION}.", "Collect it again.")
    ends = np.cumsum(data["n_nodes"])[:-1]
    e, log_odds, right, margins = (np.split(data[name], ends) for name in ("e", "log_odds", "right", "pool_margin"))
    return [
        TrustRun(
            str(data["graph"][i]),
            int(data["labels_per_class"][i]),
            int(data["seed"][i]),
            HeldOut(float(h), int(m), float(g)),
            Evidence(e[i].astype(float), log_odds[i].astype(float), float(data["mean_confidence"][i])),
            right[i],
            margins[i].astype(float),
        )
        for i, (h, m, g) in enumerate(data["held_out"])
    ]
