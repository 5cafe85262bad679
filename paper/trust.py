"""Fit the constants of Concord's trust (C11, C12), and judge them on graphs that they were not fitted to.

    python -m paper trust             runs Concord, fits the constants and writes docs/results/trust.md: what they
                                      promise on graphs left out
    python -m paper trust --stored    writes the page from the judgements in docs/results/runs.parquet

All runs are on development splits. A graph and its shuffled copy, and both Twitch graphs, are left out together. Every
graph counts the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from dccgcn.concord import method
from dccgcn.concord.confidence import Evidence, HeldOut, TrustModel, top_two_margin, trust
from dccgcn.concord.labels import Labels
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.views import precompute
from dccgcn.datasets import describe
from dccgcn.features.embedding import scarcity
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import by_rate, per_class
from dccgcn.quality.calibration import auroc, bars, calibration_error
from dccgcn.quality.trust import CLASS_THRESHOLD, THRESHOLD, class_means
from dccgcn.text import markdown_table
from dccgcn.workflow.jobs import load_cached
from dccgcn.workflow.runner import Row
from paper.pages import rendered
from paper.runs import stored_runs, write_study

STUDY = "trust"
GRAPHS = (
    "cora", "citeseer", "acm", "uai2010", "wisconsin", "polblogs", "squirrel-filtered-directed",
    "fb100-amherst41-year", "minesweeper", "twitch-engb", "amazon-photo", "flickr", "twitch-de", "dblp", "pubmed",
    "facebook-pages",
)  # fmt: skip
SHUFFLED = ("cora", "citeseer", "acm", "polblogs")
LABELS_PER_CLASS = (2, 5, 20)
FIRST_SEED, N_SPLITS, N_SPLITS_LARGE = 1000, 6, 4
LARGE = 7500  # nodes
SAMPLE = 3000  # test nodes of a run that are judged: of fewer, the calibration error would be mostly noise
FITTED = 100  # test nodes of a run, for the fit, so that large graphs do not dominate
ENOUGH = 5  # labels per class for which the promise is made
_SHUFFLED = "-shuffled"
_RIDGE = 0.01
_N_RANDOM = 3  # splits with labels drawn at random
_FEWEST = 10  # trusted predictions of a run that is judged
_FEWEST_OF_CLASS = 20  # trusted predictions of a class that is judged
_PROMISED = "trusted"
_RULES = ("trust alone", _PROMISED)  # 80 % alone; and as the package calls predictions trusted
_DEGREES = (0, 2, 4, 8, 16)  # lower edges of the groups of nodes
_HOMOPHILY = (0, 0.25, 0.5, 0.75)
_CONSTANTS = [field.name for field in fields(TrustModel)]


@dataclass(frozen=True, eq=False)
class TrustRun:
    """The evidence of Concord's predictions on the test nodes of one run, and which of them are right."""

    graph: str
    labels_per_class: int
    seed: int
    draw: str  # "balanced" or "random"
    held_out: HeldOut
    evidence: Evidence
    right: np.ndarray  # (nodes,) bool
    pool_margin: np.ndarray  # (nodes,)
    predicted: np.ndarray  # (nodes,) classes
    degree: np.ndarray  # (nodes,)
    homophily: np.ndarray  # (nodes,) share of the neighbours with a known class whose class is the node's; NaN: none

    @property
    def group(self) -> str:
        """Graphs that are left out together."""
        return "twitch" if self.graph.startswith("twitch") else self.graph.removesuffix(_SHUFFLED)

    def sample(self, size: int) -> "TrustRun":
        """The first nodes, which are in random order."""
        few = replace(self.evidence, e=self.evidence.e[:size], log_odds=self.evidence.log_odds[:size])
        rest = ("right", "pool_margin", "predicted", "degree", "homophily")
        return replace(self, evidence=few, **{name: getattr(self, name)[:size] for name in rest})

    def trusted(self, confidence: np.ndarray) -> np.ndarray:
        """(nodes,) bool: which predictions the package calls trusted."""
        is_reliable = class_means(confidence, self.predicted, np.arange(len(confidence))) >= CLASS_THRESHOLD
        return self.held_out.is_promised & (confidence >= THRESHOLD) & is_reliable[self.predicted]


def measure(name: str, labels_per_class: int, seed: int, draw: str) -> Row:
    """The evidence of one run of Concord on a graph, or on a graph with shuffled labels."""
    graph = load_cached(name.removesuffix(_SHUFFLED)).graph
    graph = shuffled(graph) if name.endswith(_SHUFFLED) else graph
    about = {"dataset": name, "amount": labels_per_class, "seed": seed, "draw": draw}
    return {**about, **evidence_of(graph, labels_per_class, seed, draw)}


def evidence_of(graph: NodeGraph, labels_per_class: int, seed: int, draw: str) -> Row:
    """The evidence of one run of Concord, on a random sample of the test nodes."""
    settings, split = ConcordSettings(), per_class(graph, labels_per_class, seed, "half")
    if draw == "random":
        split = by_rate(graph, labels_per_class * graph.c / graph.n, seed, "uniform")
    labels = Labels.of(split.train, graph.labels[split.train], graph.c)
    q = scarcity(labels.per_class, settings.scarcity_scale)
    inputs = precompute(graph, settings)
    state = method.stack(method.build_channels(inputs, q, settings), labels, settings, seed)
    f = method.smooth_and_refit(state, inputs, settings, None)
    evidence = method.collect_evidence(state, inputs, f)
    test = np.random.default_rng(seed).permutation(split.test)[:SAMPLE]
    values = {"e": evidence.e, "log_odds": evidence.log_odds, "pool_margin": top_two_margin(state.pooled)}
    return {
        **asdict(state.held_out),
        "mean_confidence": evidence.mean_confidence,
        "right": (f.argmax(axis=1) == graph.labels)[test].tolist(),
        "predicted": f.argmax(axis=1)[test].tolist(),
        "degree": graph.degree[test].tolist(),
        "homophily": local_homophily(graph)[test].round(3).tolist(),
        # of 16 bits, so that a fit to stored runs is the same
        **{name: x[test].astype(np.float16).astype(float).tolist() for name, x in values.items()},
    }


def local_homophily(graph: NodeGraph) -> np.ndarray:
    """(n,) of each node's neighbours with a known class, the share that has the node's; -1 without any."""
    first, second = (graph.labels[ends] for ends in graph.edges.T)
    is_known = (first >= 0) & (second >= 0)
    ends = graph.edges[is_known]
    same = np.repeat((first == second)[is_known], 2)
    known, equal = (np.bincount(ends.ravel(), weights=w, minlength=graph.n) for w in (None, same))
    return np.divide(equal, known, out=np.full(graph.n, -1.0), where=known > 0)


def run_of(row: Mapping[str, Any]) -> TrustRun:
    """A run from its evidence."""
    return TrustRun(
        str(row["dataset"]),
        int(row["amount"]),
        int(row["seed"]),
        str(row.get("draw", "balanced")),
        HeldOut(**{field.name: row[field.name] for field in fields(HeldOut)}),
        Evidence(np.array(row["e"]), np.array(row["log_odds"]), row["mean_confidence"]),
        np.array(row["right"], dtype=bool),
        *(np.array(row.get(name, ())) for name in ("pool_margin", "predicted", "degree", "homophily")),
    )


def all_jobs() -> list[tuple[str, int, int, str]]:
    """Graph, labels per class, seed and draw of every run; large graphs and shuffled ones have fewer splits."""
    jobs = []
    for name in (*GRAPHS, *(graph + _SHUFFLED for graph in SHUFFLED)):
        is_small = describe(name.removesuffix(_SHUFFLED)).nodes <= LARGE and not name.endswith(_SHUFFLED)
        seeds = range(FIRST_SEED, FIRST_SEED + (N_SPLITS if is_small else N_SPLITS_LARGE))
        jobs += [(name, k, seed, "balanced") for k in LABELS_PER_CLASS for seed in seeds]
        if not name.endswith(_SHUFFLED):
            jobs += [(name, k, seed, "random") for k in LABELS_PER_CLASS if k >= ENOUGH for seed in seeds[:_N_RANDOM]]
    return jobs


def shuffled(graph: NodeGraph) -> NodeGraph:
    """The same graph with its labels in random order, so that nothing depends on them."""
    labels, labelled = graph.labels.copy(), graph.labelled
    labels[labelled] = np.random.default_rng(7).permutation(labels[labelled])
    return graph.with_labels(labels)


def fit(runs: Sequence[TrustRun], start: TrustModel, n_steps: int) -> TrustModel:
    """The constants that maximise the likelihood of right and wrong predictions; graphs count the same."""
    groups = [run.group for run in runs]
    few = [run.sample(FITTED) for run in runs]
    weights = [1 / groups.count(group) for group in groups]

    def loss(theta: np.ndarray) -> float:
        model, total = _from_theta(theta), _RIDGE * float(theta @ theta)
        for run, weight in zip(few, weights, strict=True):
            p = np.clip(trust(run.evidence, run.held_out, model), 1e-4, 1 - 1e-4)
            total -= weight * float(np.log(np.where(run.right, p, 1 - p)).mean())
        return total

    theta = minimize(loss, _to_theta(start), method="L-BFGS-B", options={"maxiter": n_steps, "ftol": 1e-6}).x
    return TrustModel(*(round(value, 3) for value in astuple(_from_theta(theta))))


def _to_theta(model: TrustModel) -> np.ndarray:
    """The constants without bounds."""
    beta0, m0, beta1, beta2 = astuple(model)
    return np.array([beta0, np.log(m0), beta1, beta2], dtype=float)


def _from_theta(theta: np.ndarray) -> TrustModel:
    beta0, m0, beta1, beta2 = theta
    return TrustModel(float(beta0), float(np.exp(m0)), float(beta1), float(beta2))


def balanced(runs: Sequence[TrustRun]) -> list[TrustRun]:
    """Those that constants are fitted to."""
    return [run for run in runs if run.draw == "balanced"]


def leave_one_graph_out(runs: Sequence[TrustRun], start: TrustModel) -> list[tuple[TrustRun, TrustModel]]:
    """Each run with constants that were fitted without its graph."""
    judged = []
    for group in dict.fromkeys(run.group for run in runs):
        model = fit([run for run in balanced(runs) if run.group != group], start, 12)
        judged += [(run, model) for run in runs if run.group == group]
    return judged


def judgements(judged: Iterable[tuple[TrustRun, TrustModel]]) -> pd.DataFrame:
    """Of each run and rule: how many predictions are trusted and right, and how well trust ranks and is calibrated.

    The constants are those that the run is judged by; the evidence is that of the nodes that constants are fitted to.
    """
    return pd.DataFrame([_judgement(run, model, rule) for run, model in judged for rule in _RULES])


def _judgement(run: TrustRun, model: TrustModel, rule: str) -> dict[str, Any]:
    t = trust(run.evidence, run.held_out, model)
    trusted, few = run.trusted(t) if rule == _PROMISED else t >= THRESHOLD, run.sample(FITTED)
    row: dict[str, Any] = {
        "study": STUDY, "dataset": run.graph, "amount": float(run.labels_per_class), "seed": run.seed, "draw": run.draw,
        "rule": rule, "n_test": len(t), "n_trusted": int(trusted.sum()), "stated": float(t[trusted].sum()),
        "n_right": int(run.right[trusted].sum()), "final_ece": calibration_error(bars(t, run.right)),
        "final_auroc_trust": auroc(t, run.right), "pool_auroc_margin": auroc(run.pool_margin, run.right),
        "gap": float(t.mean() - run.right.mean()),
        **_counts("class", run.predicted, run.right, trusted),
    }  # fmt: skip
    if rule == _PROMISED:
        row |= _counts("degree", np.searchsorted(_DEGREES, run.degree, side="right") - 1, run.right, trusted)
        row |= _counts("homophily", np.searchsorted(_HOMOPHILY, run.homophily, side="right"), run.right, trusted)
        row |= asdict(model) | asdict(run.held_out) | {"mean_confidence": run.evidence.mean_confidence}
        row |= {"e": few.evidence.e.tolist(), "log_odds": few.evidence.log_odds.tolist(), "right": few.right.tolist()}
    return {key: value for key, value in row.items() if value is not None}


def _counts(name: str, group: np.ndarray, right: np.ndarray, trusted: np.ndarray) -> dict[str, list[int]]:
    """Of each group of nodes: how many there are, how many are trusted, and how many of these are right."""
    parts = {"nodes": slice(None), "trusted": trusted, "right": trusted & right}
    size = int(group.max(initial=0)) + 1
    return {f"{name}_{part}": np.bincount(group[which], minlength=size).tolist() for part, which in parts.items()}


def samples(runs: pd.DataFrame) -> list[TrustRun]:
    """The stored samples of the runs, which constants are fitted to."""
    return [run_of(row) for row in runs[(runs.rule == _PROMISED) & (runs.draw == "balanced")].to_dict("records")]


HEADER = ["runs", "trusted", "right", "stated", "runs below 80 %", "classes below 80 %", "below half", "ECE",
          "stated less right, all", "AUROC", "AUROC of the pool's margin"]  # fmt: skip


def promise(runs: pd.DataFrame) -> list[str]:
    """How far the trusted predictions of some runs keep what is promised: the cells of HEADER."""
    counted = runs[runs.n_trusted >= _FEWEST]
    n, ranked = counted.n_trusted.sum(), runs.dropna(subset=["final_auroc_trust", "pool_auroc_margin"])
    right, stated = (f"{values.sum() / n:.3f}" if n else "–" for values in (counted.n_right, counted.stated))
    n_broken = int((counted.n_right / counted.n_trusted < THRESHOLD).sum())
    of_class, right_of_class = (np.concatenate([[], *runs[f"class_{part}"]]) for part in ("trusted", "right"))
    shares = right_of_class[of_class >= _FEWEST_OF_CLASS] / of_class[of_class >= _FEWEST_OF_CLASS]
    cells = [str(len(runs)), f"{(runs.n_trusted / runs.n_test).mean():.3f}", right, stated]
    cells += [f"{n_broken} of {len(counted)}", f"{(shares < THRESHOLD).sum()} of {len(shares)}"]
    cells += [str((shares < 0.5).sum()), f"{runs.final_ece.mean():.3f}", f"{runs.gap.mean():+.3f}"]
    return [*cells, *(f"{values.mean():.3f}" for values in (ranked.final_auroc_trust, ranked.pool_auroc_margin))]


def groups_table(runs: pd.DataFrame, name: str, labels: Sequence[str]) -> str:
    """Of each group of nodes by degree or homophily, pooled: the share that is trusted, and of this what is right."""
    totals = {}
    for part in ("nodes", "trusted", "right"):
        listed = runs[f"{name}_{part}"]
        totals[part] = [sum(values[at] for values in listed if at < len(values)) for at in range(len(labels))]
    rows = [
        [label, f"{nodes:,}", f"{trusted / nodes:.3f}", f"{right / trusted:.3f}" if trusted else "–"]
        for label, nodes, trusted, right in zip(labels, *totals.values(), strict=True)
        if nodes
    ]
    return markdown_table([name, "nodes", "trusted", "right"], rows)


def in_order(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs in the order of GRAPHS, shuffled ones last."""
    position = {name: i for i, name in enumerate((*GRAPHS, *(graph + _SHUFFLED for graph in SHUFFLED)))}
    return runs.sort_values("dataset", key=lambda names: names.map(position), kind="stable", ignore_index=True)


def page(model: TrustModel, runs: pd.DataFrame) -> str:
    """What is promised on graphs left out: by number of labels and gate, then graph by graph."""
    runs = in_order(runs)
    is_shuffled = runs.dataset.str.endswith(_SHUFFLED)
    is_enough, is_promised, is_balanced = runs.amount >= ENOUGH, runs.rule == _PROMISED, runs.draw == "balanced"
    real = runs[~is_shuffled & is_balanced]
    enough = real[real.amount >= ENOUGH]
    parts = {f"{ENOUGH} or more labels per class": enough}
    parts |= {f"{amount} labels per class": real[real.amount == amount] for amount in LABELS_PER_CLASS}
    summary = [
        [f"{name}, {rule}", *promise(part[part.rule == rule])] for name, part in parts.items() for rule in _RULES
    ]
    for amount, part in runs[~is_balanced & is_promised].groupby("amount"):
        summary.append([f"{amount:g} labels per class on average, drawn at random, {_PROMISED}", *promise(part)])
    null = runs[is_shuffled & is_enough & is_promised]
    summary.append([f"shuffled labels, {ENOUGH} or more, {_PROMISED}", *promise(null)])
    promised = enough[enough.rule == _PROMISED]
    by_graph = promised.groupby("dataset", sort=False)
    graphs = [[name, describe(str(name)).kind, *promise(part)] for name, part in by_graph]
    judged_by = (
        runs[is_promised & is_balanced].assign(group=[run.group for run in samples(runs)]).groupby("group", sort=False)
    )
    constants = [["all graphs", *map("{:g}".format, astuple(model))]]
    constants += [[f"all but {name}", *map("{:g}".format, part[_CONSTANTS].iloc[0])] for name, part in judged_by]
    return rendered(
        "trust",
        summary=markdown_table(["", *HEADER], summary),
        graphs=markdown_table(["graph", "kind", *HEADER], graphs),
        degrees=groups_table(promised, "degree", [f"from {low}" for low in _DEGREES]),
        homophily=groups_table(promised, "homophily", ["unknown", *(f"from {low:.0%}" for low in _HOMOPHILY)]),
        class_threshold=f"{CLASS_THRESHOLD:.0%}".replace("%", " %"),
        fewest_of_class=_FEWEST_OF_CLASS,
        constants=markdown_table(["fitted on", *_CONSTANTS], constants),
        n_graphs=len(GRAPHS),
        n_shuffled=len(SHUFFLED),
        first_seed=FIRST_SEED,
        trusted=f"{THRESHOLD:.0%}".replace("%", " %"),
        fewest=_FEWEST,
        enough=ENOUGH,
    )


def main(out: Path, store: Path, stored: bool) -> None:
    """Measure, unless the stored judgements are wanted, and write the page with the constants fitted to the runs."""

    def judged() -> pd.DataFrame:
        runs = [run_of(row) for row in stored_runs(store, STUDY, measure, all_jobs())]
        return judgements(leave_one_graph_out(runs, fit(balanced(runs), TrustModel(), 30)))

    write_study(out, STUDY, None if stored else judged, lambda runs: page(fit(samples(runs), TrustModel(), 30), runs))
