"""The fit of trust's constants, and the committed figures."""

import re
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dccgcn import per_class
from dccgcn.concord import method
from dccgcn.concord.confidence import Evidence, HeldOut, TrustModel, trust
from dccgcn.concord.settings import ConcordSettings
from dccgcn.errors import DataFileError
from dccgcn.methods.base import Task
from dccgcn.quality.trust import CLASSES_JUDGED, CLASSES_KEPT, JUDGED, KEPT
from helpers.groups import blocks
from paper.runs import of_study, stored_runs, unpacked, write_study
from paper.trust import (
    STUDY,
    TrustRun,
    all_jobs,
    evidence_of,
    fit,
    judgements,
    leave_one_graph_out,
    main,
    page,
    promise,
    run_of,
    samples,
    shuffled,
)

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def judged_run(
    graph: str, labels_per_class: int, seed: int, held_out: HeldOut, evidence: Evidence, right: np.ndarray
) -> TrustRun:
    """A run on a graph of one class, whose nodes have three neighbours of their class."""
    n = len(right)
    of_nodes = evidence.e, np.zeros(n, int), np.full(n, 3), np.ones(n)
    return TrustRun(graph, labels_per_class, seed, "balanced", held_out, evidence, right, *of_nodes)


def simulated(graph: str, seed: int, model: TrustModel, labels_per_class: int = 5, n: int = 60) -> TrustRun:
    """A run whose predictions are right as often as the model says."""
    rng = np.random.default_rng(seed)
    held_out = HeldOut(float(rng.integers(15, 30)), 30, 0.25)
    evidence = Evidence(rng.standard_normal(n), rng.standard_normal(n), 0.7)
    right = rng.random(n) < trust(evidence, held_out, model)
    return judged_run(graph, labels_per_class, seed, held_out, evidence, right)


def test_the_fit_finds_the_slope_of_the_evidence() -> None:
    steep, flat = (replace(TrustModel(), beta1=slope) for slope in (2.0, 0.1))
    for truth in (steep, flat):
        runs = [simulated(f"g{i % 5}", i, truth) for i in range(60)]
        found = fit(runs, TrustModel(), 6)
        assert abs(found.beta1 - truth.beta1) < 0.6


def test_each_run_is_judged_by_constants_from_other_graphs() -> None:
    runs = [simulated(name, i, TrustModel()) for i, name in enumerate(["a", "b", "a", "b-shuffled", "twitch-de"])]
    judged = leave_one_graph_out(runs, TrustModel())
    assert [run.graph for run, _ in judged] == ["a", "a", "b", "b-shuffled", "twitch-de"]
    by_graph = {run.graph: model for run, model in judged}
    assert by_graph["b"] == by_graph["b-shuffled"]
    assert by_graph["a"] == fit([runs[1], runs[3], runs[4]], TrustModel(), 12)


def test_a_promise_is_counted_run_by_run() -> None:
    sure = Evidence(np.full(20, 4.0), np.full(20, 2.0), 0.9)
    kept, broken, gated = (np.arange(20) < right for right in (18, 10, 0))
    runs = [
        judged_run("cora", 5, 0, HeldOut(30, 30, 0.25), sure, kept),
        judged_run("cora", 5, 1, HeldOut(30, 30, 0.25), sure, broken),
        judged_run("cora", 5, 2, HeldOut(10, 30, 0.25), sure, gated),
    ]
    judged = judgements((run, TrustModel()) for run in runs)
    n_runs, share, right, stated, n_broken, n_classes, n_below_half, *_ = promise(judged[judged.rule == "trusted"])
    assert (n_runs, share, n_broken, n_classes, n_below_half) == ("3", "0.667", "1 of 2", "1 of 2", "0")
    assert right == f"{28 / 40:.3f}"
    assert stated == f"{trust(sure, HeldOut(30, 30, 0.25)).mean():.3f}"
    text = page(TrustModel(), judged)
    assert "| 5 or more labels per class, trust alone |" in text
    assert f"| from 2 | 60 | 0.667 | {28 / 40:.3f} |" in text


def test_judgements_and_samples_are_written_and_read(tmp_path: Path) -> None:
    graph = blocks(150)
    about = [{"dataset": "cora", "amount": 3, "seed": 1000}, {"dataset": "cora-shuffled", "amount": 3, "seed": 1001}]
    evidence = [evidence_of(graph, 3, 1000, "balanced"), evidence_of(shuffled(graph), 3, 1001, "balanced")]
    runs = [run_of({**one, **other}) for one, other in zip(about, evidence, strict=True)]
    assert runs[0].group == runs[1].group
    judged = judgements((run, TrustModel()) for run in runs)
    write_study(tmp_path, STUDY, lambda: judged, lambda stored: page(TrustModel(), stored))
    stored = of_study(unpacked(tmp_path / "runs.parquet"), STUDY)
    assert page(TrustModel(), stored) == page(TrustModel(), judged)
    for one, other in zip(runs, samples(stored), strict=True):
        assert (one.graph, one.labels_per_class, one.seed) == (other.graph, other.labels_per_class, other.seed)
        np.testing.assert_allclose(astuple(other.held_out), astuple(one.held_out), atol=1e-6)
        np.testing.assert_allclose(other.evidence.e, one.evidence.e[:100], atol=1e-6)
        np.testing.assert_array_equal(other.right, one.right[:100])
    (tmp_path / "trust.md").unlink()
    main(tmp_path, tmp_path, stored=True)
    assert "| all but cora |" in (tmp_path / "trust.md").read_text(encoding="utf-8")
    with pytest.raises(DataFileError, match="no runs of trust"):
        main(tmp_path / "elsewhere", tmp_path, stored=True)


def test_the_evidence_is_that_of_a_fit() -> None:
    graph = blocks(150)
    run = run_of({"dataset": "blocks", "amount": 3, "seed": 1000, **evidence_of(graph, 3, 1000, "balanced")})
    split = per_class(graph, 3, 1000, "half")
    prediction = method.fit(Task(graph, split.train, 1000), ConcordSettings())
    test = np.random.default_rng(1000).permutation(split.test)
    np.testing.assert_allclose(trust(run.evidence, run.held_out), prediction.trust[test], atol=1e-3)


def test_a_stopped_study_continues_from_its_stored_runs(tmp_path: Path) -> None:
    made = []

    def measured(name: str, seed: int) -> dict:
        if len(made) == 1 and seed == 1:
            made.append(None)
            raise KeyboardInterrupt
        made.append((name, seed))
        return {"dataset": name, "seed": seed}

    jobs = [("cora", seed) for seed in range(3)]
    with pytest.raises(KeyboardInterrupt):
        stored_runs(tmp_path, STUDY, measured, jobs)
    assert [row["seed"] for row in stored_runs(tmp_path, STUDY, measured, jobs)] == [0, 1, 2]
    assert made == [("cora", 0), None, ("cora", 1), ("cora", 2)]
    assert len(all_jobs()) == len(set(all_jobs())) == 390


def test_the_package_promises_what_the_page_shows() -> None:
    text = (RESULTS / "trust.md").read_text(encoding="utf-8")
    found = re.search(r"5 or more labels per class, trusted \|.*?\| (\d+) of (\d+) \| (\d+) of (\d+) \|", text).groups()
    broken, judged, broken_classes, classes = map(int, found)
    assert (judged - broken, judged, classes - broken_classes, classes) == (KEPT, JUDGED, CLASSES_KEPT, CLASSES_JUDGED)


def test_the_committed_page_is_made_from_the_committed_runs() -> None:
    """The constants of the package and of one graph left out are fitted again to the stored evidence."""
    runs: pd.DataFrame = of_study(unpacked(RESULTS / "runs.parquet"), STUDY)
    few = samples(runs)
    assert fit(few, TrustModel(), 30) == TrustModel()
    assert page(TrustModel(), runs) == (RESULTS / "trust.md").read_text(encoding="utf-8"), "python -m paper trust"
    (constants,) = {tuple(row) for row in runs[runs.dataset == "cora"].dropna(subset=["beta0"])[
        ["beta0", "m0", "beta1", "beta2"]].round(3).itertuples(index=False)}  # fmt: skip
    assert fit([run for run in few if run.group != "cora"], TrustModel(), 12) == TrustModel(*constants)
