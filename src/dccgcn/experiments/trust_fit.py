"""Fit the constants of Concord's trust (C11, C12), and judge them on graphs that they were not fitted to.

    python -m dccgcn.experiments.trust_fit collect     runs Concord and writes the evidence of its predictions
    python -m dccgcn.experiments.trust_fit             fits the constants, and writes docs/results/trust.md: what they
                                                       promise on graphs left out

All runs are on development splits. A graph and its shuffled copy, and both Twitch graphs, are left out together. Every
graph counts the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from dccgcn.datasets import describe, load_dataset
from dccgcn.errors import DataFileError
from dccgcn.evaluation.trust import auroc
from dccgcn.experiments.study import collect_or_write
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import per_class
from dccgcn.models.concord import method
from dccgcn.models.concord.confidence import GATE, TRUSTED, Evidence, HeldOut, TrustModel, margin, trust
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import scarcity
from dccgcn.models.concord.views import precompute
from dccgcn.text import markdown_table

RUNS, PAGE = Path("docs/results/trust-runs.npz"), Path("docs/results/trust.md")
GRAPHS = (
    "cora", "citeseer", "acm", "uai2010", "wisconsin", "polblogs", "squirrel-filtered-directed",
    "fb100-amherst41-year", "minesweeper", "twitch-engb", "amazon-photo", "flickr", "twitch-de", "dblp", "pubmed",
    "facebook-pages",
)  # fmt: skip
SHUFFLED = ("cora", "citeseer", "acm", "polblogs")
VERSION = 1  # of the file of runs; one without a version is of the first
LABELS_PER_CLASS = (2, 5, 20)
FIRST_SEED, N_SPLITS, N_SPLITS_LARGE = 1000, 5, 3
LARGE = 7500  # nodes
SAMPLE = 1000  # test nodes of a run that are kept
FITTED = 30  # of these, for the fit, so that large graphs do not dominate
ENOUGH = 5  # labels per class for which the promise is made
_RIDGE = 0.01
_FEWEST = 10  # trusted predictions of a run that is judged
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
        e = self.evidence
        few = Evidence(e.e[:size], e.log_odds[:size], e.mean_confidence)
        return TrustRun(
            self.graph, self.labels_per_class, self.seed, self.held_out, few, self.right[:size], self.pool_margin[:size]
        )


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


def fit(runs: Sequence[TrustRun], start: TrustModel, n_steps: int) -> TrustModel:
    """The constants that maximise the likelihood of right and wrong predictions; graphs count the same."""
    groups = [run.group for run in runs]
    few = [run.sample(FITTED) for run in runs]
    weights = [1 / groups.count(group) for group in groups]

    def loss(theta: np.ndarray) -> float:
        model, total = _from_theta(theta), _RIDGE * float(theta @ theta)
        for run, weight in zip(few, weights, strict=True):
            p = np.clip(trust(run.evidence, run.held_out, model, gate=-np.inf), 1e-4, 1 - 1e-4)
            total -= weight * float(np.log(np.where(run.right, p, 1 - p)).mean())
        return total

    theta = minimize(loss, _to_theta(start), method="L-BFGS-B", options={"maxiter": n_steps, "ftol": 1e-6}).x
    return TrustModel(*(round(value, 3) for value in astuple(_from_theta(theta))))


def _to_theta(model: TrustModel) -> np.ndarray:
    """The constants without bounds."""
    pi, a, b, tau, gamma, beta0, beta1, beta2, kappa = astuple(model)
    return np.array(
        [logit(pi), np.log(a), np.log(b), logit(tau), np.log(gamma), beta0, beta1, beta2, np.log(kappa)], dtype=float
    )


def _from_theta(theta: np.ndarray) -> TrustModel:
    pi, a, b, tau, gamma, *beta, kappa = theta
    values = [expit(pi), np.exp(a), np.exp(b), expit(tau), np.exp(gamma), *beta, np.exp(kappa)]
    return TrustModel(*map(float, values))


def leave_one_graph_out(runs: Sequence[TrustRun], start: TrustModel) -> list[tuple[TrustRun, TrustModel]]:
    """Each run with constants that were fitted without its graph."""
    judged = []
    for group in dict.fromkeys(run.group for run in runs):
        model = fit([run for run in runs if run.group != group], start, 12)
        judged += [(run, model) for run in runs if run.group == group]
    return judged


@dataclass(frozen=True)
class Promise:
    """How far the trusted predictions of some runs keep what is promised."""

    n_runs: int
    share: float  # of the predictions that are trusted, mean over runs
    right: float  # of the trusted predictions
    stated: float  # their mean trust
    n_judged: int  # runs with at least ten trusted predictions
    n_broken: int  # of these, those with fewer than 80 % right
    ece: float  # mean over runs
    auroc: float  # of trust, for right predictions
    margin_auroc: float  # of the pool's margin

    def cells(self) -> list[str]:
        right, stated = ("–" if np.isnan(x) else f"{x:.3f}" for x in (self.right, self.stated))
        ece = [f"{x:.3f}" for x in (self.ece, self.auroc, self.margin_auroc)]
        return [str(self.n_runs), f"{self.share:.3f}", right, stated, f"{self.n_broken} of {self.n_judged}", *ece]


HEADER = ["runs", "trusted", "right", "stated", "broken", "ECE", "AUROC", "AUROC of the pool's margin"]


def judge(judged: Iterable[tuple[TrustRun, TrustModel]], gate: float) -> Promise:
    """One row of the tables."""
    runs = [(run, trust(run.evidence, run.held_out, model, gate)) for run, model in judged]
    trusted = [(run.right[t >= TRUSTED], t[t >= TRUSTED]) for run, t in runs]
    counted = [(right, t) for right, t in trusted if len(right) >= _FEWEST]
    areas = [(auroc(t, run.right), auroc(run.pool_margin, run.right)) for run, t in runs]
    known = np.array([pair for pair in areas if None not in pair], dtype=float).reshape(-1, 2)
    return Promise(
        n_runs=len(runs),
        share=float(np.mean([len(right) / len(run.right) for (right, _), (run, _) in zip(trusted, runs, strict=True)])),
        right=float(np.concatenate([right for right, _ in counted]).mean()) if counted else np.nan,
        stated=float(np.concatenate([t for _, t in counted]).mean()) if counted else np.nan,
        n_judged=len(counted),
        n_broken=sum(right.mean() < TRUSTED for right, _ in counted),
        ece=float(np.mean([calibration_error(t, run.right) for run, t in runs])),
        auroc=float(known[:, 0].mean()) if len(known) else np.nan,
        margin_auroc=float(known[:, 1].mean()) if len(known) else np.nan,
    )


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error in 15 bins of equal mass."""
    bins = np.array_split(np.argsort(confidence, kind="stable"), 15)
    errors = [abs(confidence[b].mean() - right[b].mean()) * len(b) for b in bins if len(b)]
    return float(sum(errors) / len(confidence))


def page(model: TrustModel, judged: Sequence[tuple[TrustRun, TrustModel]]) -> str:
    """What is promised on graphs left out: by number of labels and gate, then graph by graph."""
    real = [(run, model) for run, model in judged if not run.is_shuffled]
    enough = [(run, model) for run, model in real if run.labels_per_class >= ENOUGH]
    few = [(run, model) for run, model in real if run.labels_per_class < ENOUGH]
    null = [(run, model) for run, model in judged if run.is_shuffled and run.labels_per_class >= ENOUGH]
    rows = []
    for name, part in ((f"{ENOUGH} or more labels per class", enough), ("2 labels per class", few)):
        rows += [[f"{name}, {text}", *judge(part, gate).cells()] for text, gate in GATES.items()]
    rows.append([f"shuffled labels, {ENOUGH} or more, {_gated()}", *judge(null, GATE).cells()])
    by_graph = []
    for name in dict.fromkeys(run.graph for run, _ in enough):
        promise = judge([pair for pair in enough if pair[0].graph == name], GATE)
        by_graph.append([name, describe(name).kind, *promise.cells()])
    return _PAGE.format(
        gate=_gated(),
        summary=markdown_table(["", *HEADER], rows),
        graphs=markdown_table(["graph", "kind", *HEADER], by_graph),
        constants=markdown_table(list(asdict(model)), [[f"{value:g}" for value in astuple(model)]]),
    )


def _gated() -> str:
    return f"z ≥ {GATE:g}"


GATES = {"no gate": -np.inf, _gated(): GATE}


_PAGE = """# Trust on graphs left out

The constants of [Concord's trust](../concord.md#confidence-confidencepy) are fitted on development splits (seeds from
1000) of sixteen graphs and four with shuffled labels. Every figure is of a graph that its constants were not fitted
to; both Twitch graphs, and a graph and its shuffled copy, were left out together. *Trusted*: share of the test nodes
whose trust is 80 % or more; *right* and *stated*: their accuracy and mean trust, pooled; *broken*: runs in which fewer
than 80 % of at least ten trusted predictions are right; AUROC: for right predictions. Not left out: the gate, the
form of the model and Concord itself were chosen on these graphs.

{summary}

Five or more labels per class, {gate}:

{graphs}

The constants of the package, fitted on all of them:

{constants}

Made by `python -m dccgcn.experiments.trust_fit` from [trust-runs.npz](trust-runs.npz), which
`python -m dccgcn.experiments.trust_fit collect` measures.
"""


def fitted_page(path: Path) -> str:
    """The page on runs in a file, by constants fitted to them."""
    runs = read_runs(path)
    model = fit(runs, TrustModel(), 30)
    return page(model, leave_one_graph_out(runs, model))


if __name__ == "__main__":
    collect_or_write(__doc__, RUNS, PAGE, collect_all, fitted_page)
