"""The fit of trust's constants, and the committed figures."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dccgcn.experiments.trust_fit import calibration_error, fit, judge, leave_one_graph_out, page
from dccgcn.experiments.trust_runs import TrustRun, collect, read_runs, shuffled, write_runs

from dccgcn import per_class
from dccgcn.errors import DataFileError
from dccgcn.models.concord import method
from dccgcn.models.concord.confidence import GATE, JUDGED, KEPT, Evidence, HeldOut, TrustModel, trust
from dccgcn.models.concord.settings import ConcordSettings
from helpers.groups import blocks

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def simulated(graph: str, seed: int, model: TrustModel, labels_per_class: int = 5, n: int = 60) -> TrustRun:
    """A run whose predictions are right as often as the model says."""
    rng = np.random.default_rng(seed)
    held_out = HeldOut(float(rng.integers(15, 30)), 30, 0.25)
    evidence = Evidence(rng.standard_normal(n), rng.standard_normal(n), 0.7)
    right = rng.random(n) < trust(evidence, held_out, model, -np.inf)
    return TrustRun(graph, labels_per_class, seed, held_out, evidence, right, evidence.log_odds)


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
        TrustRun("a", 5, 0, HeldOut(30, 30, 0.25), sure, kept, sure.e),
        TrustRun("a", 5, 1, HeldOut(30, 30, 0.25), sure, broken, sure.e),
        TrustRun("a", 5, 2, HeldOut(10, 30, 0.25), sure, gated, sure.e),
    ]
    promise = judge([(run, TrustModel()) for run in runs], GATE)
    assert (promise.n_runs, promise.n_judged, promise.n_broken) == (3, 2, 1)
    assert promise.share == pytest.approx(2 / 3)
    assert promise.right == pytest.approx(28 / 40)
    stated = trust(sure, HeldOut(30, 30, 0.25))
    assert promise.stated == pytest.approx(stated.mean(), abs=1e-6)
    assert calibration_error(np.full(75, 0.8), np.arange(75) % 5 < 4) == pytest.approx(0)
    assert calibration_error(np.full(75, 0.8), np.arange(75) % 5 < 2) == pytest.approx(0.4)
    assert "| 5 or more labels per class, no gate |" in page(
        TrustModel(), [(replace_name(r), TrustModel()) for r in runs]
    )


def replace_name(run: TrustRun) -> TrustRun:
    return replace(run, graph="cora")


def test_runs_are_written_and_read(tmp_path: Path) -> None:
    graph = blocks(150)
    runs = [collect(graph, "blocks", 3, 1000), collect(shuffled(graph), "blocks-shuffled", 3, 1001)]
    write_runs(runs, tmp_path / "runs.npz")
    for one, other in zip(runs, read_runs(tmp_path / "runs.npz"), strict=True):
        assert (one.graph, one.labels_per_class, one.seed) == (other.graph, other.labels_per_class, other.seed)
        assert one.held_out == other.held_out
        np.testing.assert_allclose(other.evidence.e, one.evidence.e, atol=2e-3)
        np.testing.assert_array_equal(other.right, one.right)
    assert runs[1].is_shuffled
    assert runs[0].group == runs[1].group
    with np.load(tmp_path / "runs.npz") as file:
        np.savez(tmp_path / "later.npz", **{**file, "version": np.array(2)})
    with pytest.raises(DataFileError, match="format 2, and this reads format 1"):
        read_runs(tmp_path / "later.npz")


def test_the_evidence_is_that_of_a_fit() -> None:
    graph = blocks(150)
    run = collect(graph, "blocks", 3, 1000)
    split = per_class(graph, 3, 1000, "half")
    prediction = method.fit(graph, split.train, ConcordSettings(), 1000)
    test = np.random.default_rng(1000).permutation(split.test)
    np.testing.assert_allclose(trust(run.evidence, run.held_out), prediction.trust[test], atol=1e-4)


def test_the_package_promises_what_the_page_shows() -> None:
    text = (RESULTS / "trust.md").read_text(encoding="utf-8")
    (broken, judged) = re.search(rf"5 or more labels per class, z ≥ {GATE:g} \|.*?\| (\d+) of (\d+) \|", text).groups()
    assert (int(judged) - int(broken), int(judged)) == (KEPT, JUDGED)
    assert stated_constants(text)["all graphs"] == TrustModel()


def test_the_committed_page_is_made_from_the_committed_runs() -> None:
    """With the constants that the page states; those of one graph left out are fitted again."""
    runs, text = read_runs(RESULTS / "trust-runs.npz"), (RESULTS / "trust.md").read_text(encoding="utf-8")
    constants = stated_constants(text)
    groups = dict.fromkeys(run.group for run in runs)
    judged = [(run, constants[f"all but {group}"]) for group in groups for run in runs if run.group == group]
    assert page(constants["all graphs"], judged) == text, "python -m dccgcn.experiments.trust_fit"
    others = [run for run in runs if run.group != "cora"]
    assert fit(others, constants["all graphs"], 12) == constants["all but cora"]


def stated_constants(text: str) -> dict[str, TrustModel]:
    """The last table of the page."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| all ")]
    return {name: TrustModel(*map(float, values)) for name, *values in rows}
