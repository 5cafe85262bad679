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

from dccgcn.datasets import describe
from dccgcn.evaluation.trust import auroc
from dccgcn.experiments.study import collect_or_write
from dccgcn.experiments.trust_runs import (
    FIRST_SEED,
    GRAPHS,
    LABELS_PER_CLASS,
    SHUFFLED,
    TrustRun,
    collect_all,
    read_runs,
)
from dccgcn.models.concord.confidence import GATE, TRUSTED, TrustModel, trust
from dccgcn.text import markdown_table

RUNS, PAGE = Path("docs/results/trust-runs.npz"), Path("docs/results/trust.md")
FITTED = 100  # test nodes of a run, for the fit, so that large graphs do not dominate
ENOUGH = 5  # labels per class for which the promise is made
_RIDGE = 0.01
_FEWEST = 10  # trusted predictions of a run that is judged
_GATED = f"z ≥ {GATE:g}"
_GATES = {"no gate": -np.inf, _GATED: GATE}


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
    beta0, m0, beta1, beta2 = astuple(model)
    return np.array([beta0, np.log(m0), beta1, beta2], dtype=float)


def _from_theta(theta: np.ndarray) -> TrustModel:
    beta0, m0, beta1, beta2 = theta
    return TrustModel(float(beta0), float(np.exp(m0)), float(beta1), float(beta2))


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
    fewest = f"{min(LABELS_PER_CLASS)} labels per class"
    for name, part in ((f"{ENOUGH} or more labels per class", enough), (fewest, few)):
        rows += [[f"{name}, {text}", *judge(part, gate).cells()] for text, gate in _GATES.items()]
    rows.append([f"shuffled labels, {ENOUGH} or more, {_GATED}", *judge(null, GATE).cells()])
    by_graph = []
    for name in dict.fromkeys(run.graph for run, _ in enough):
        promise = judge([pair for pair in enough if pair[0].graph == name], GATE)
        by_graph.append([name, describe(name).kind, *promise.cells()])
    left_out = {f"all but {run.group}": one for run, one in judged}
    constants = [[name, *map("{:g}".format, astuple(one))] for name, one in {"all graphs": model, **left_out}.items()]
    return _PAGE.format(
        gate=_GATED,
        summary=markdown_table(["", *HEADER], rows),
        graphs=markdown_table(["graph", "kind", *HEADER], by_graph),
        constants=markdown_table(["fitted on", *asdict(model)], constants),
        n_graphs=len(GRAPHS),
        n_shuffled=len(SHUFFLED),
        first_seed=FIRST_SEED,
        trusted=f"{TRUSTED:.0%}".replace("%", " %"),
        fewest=_FEWEST,
        enough=ENOUGH,
    )


_PAGE = """# Trust on graphs left out

The constants of [Concord's trust](../concord.md#confidence-confidencepy) are fitted on development splits (seeds from
{first_seed}) of {n_graphs} graphs and {n_shuffled} with shuffled labels. Every figure is of a graph that its
constants were not fitted to; both Twitch graphs, and a graph and its shuffled copy, were left out together.
*Trusted*: share of the test nodes whose trust is {trusted} or more; *right* and *stated*: their accuracy and mean
trust, pooled; *broken*: runs in which fewer than {trusted} of at least {fewest} trusted predictions are right;
AUROC: for right predictions. Not left out: the gate, the form of the model and Concord itself were chosen on these
graphs.

{summary}

{enough} or more labels per class, {gate}:

{graphs}

The constants of the package, fitted on all of them, and those by which each graph above was judged:

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
