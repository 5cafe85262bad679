"""Results and pages."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dccgcn.methods.prediction import Prediction
from dccgcn.quality.paired import paired_difference
from helpers.paper_rows import fake_rows, page_of, row_of, table_lines
from paper import figures, theory
from paper.confidence import pooled_bins, rankings
from paper.dcc_parts import parts_table
from paper.pages import files_of, readme
from paper.results import Results
from paper.signals import trust_columns
from paper.spec import Column, read_spec
from paper.theorems import theorem_checks


def test_the_paired_differences_are_on_the_first_and_on_the_further_splits_that_both_have():
    spec = read_spec("table3")
    rows = fake_rows(spec, 10, spread=0.01)
    for name, until in (("DCC-GCN", 15), ("ConfGCN", 13)):
        for nth in range(10, until):
            rows |= row_of(spec, name, 0, nth, accuracy=0.6 if name == "DCC-GCN" else 0.5 + 0.01 * nth)
    results = Results(spec, rows)
    found = next(one for one in results.comparisons("accuracy") if one.baselines == "paper")
    ours, theirs = (list(results.values(spec.system(n), 0, limit=13)) for n in ("DCC-GCN", "ConfGCN"))
    assert found.best == "ConfGCN"
    assert found.first == paired_difference(ours[:10], theirs[:10])
    assert found.further == paired_difference(ours[10:], theirs[10:]) == found.unbiased
    assert (found.first.n, found.further.n) == (10, 3)
    assert found.published == pytest.approx(3.1)
    page = page_of(spec, rows)
    assert f"| {found.first}, 10 splits | {found.further}, 3 splits | +3.1 |" in page
    words = (
        f"({found.further.mean:+.1f}, 95 % interval {found.further.interval}, 3 further splits). The paper has +3.1."
    )
    assert words in readme([results], "python -m paper")


def test_one_further_split_has_no_interval_so_the_first_splits_count():
    spec = read_spec("table3")
    rows = fake_rows(spec, 10, spread=0.01)
    for name in ("DCC-GCN", "ConfGCN"):
        rows |= row_of(spec, name, 0, 10, accuracy=0.6)
    found = next(one for one in Results(spec, rows).comparisons("accuracy") if one.baselines == "paper")
    assert found.further.n == 1
    assert found.unbiased == found.first
    missing = next(one for one in Results(spec, fake_rows(spec)).comparisons("accuracy"))
    assert missing.further is None
    assert "10 splits | – |" in page_of(spec, fake_rows(spec))


def test_the_parts_of_dcc_gcn_are_means_over_its_runs_and_paired():
    spec = replace(read_spec("table3"), columns=(Column("cora", "rate", 0.005, 3),), runs=3)
    rows = {}
    for nth in range(3):
        rows |= row_of(spec, "GCN", 0, nth, accuracy=0.5 + 0.01 * nth)
        rows |= row_of(
            spec, "DCC-GCN", 0, nth, accuracy=0.55 + 0.02 * nth, accuracy_uncorrected=0.52 + 0.02 * nth, agreement=0.6,
            accuracy_channel1=0.5, accuracy_channel2=0.4, accuracy_low_before=0.3, accuracy_low_after=0.35,
        )  # fmt: skip
    (line,) = (line for line in parts_table(Results(spec, rows)).splitlines() if line.startswith("| cora"))
    assert line.startswith(
        "| cora, 0.5 % (3 splits) | 50.0 | 40.0 | 54.0 | 57.0 | +3.0 (+3.0 to +3.0) | 40.0 % | 30.0 |"
    )
    assert line.endswith("| 35.0 | +6.0 (+3.5 to +8.5), 3 splits |")
    assert line in page_of(spec, rows)
    assert parts_table(Results(spec, {})) == parts_table(Results(read_spec("table6"), {})) == ""


def test_the_papers_value_is_compatible_if_our_runs_allow_it():
    spec = replace(read_spec("table3"), runs=3)
    rows = {}
    for nth, value in enumerate((0.53, 0.54, 0.55)):  # mean 54; two such means differ by 3.5; the paper has 54.2, 61.0
        rows |= row_of(spec, "GCN", 0, nth, accuracy=value) | row_of(spec, "GCN", 1, nth, accuracy=value)
    first, second, third, _ = Results(spec, rows).cells(spec.system("GCN"))
    assert first.compatible
    assert not second.compatible
    assert third.compatible is None
    for nth, value in enumerate((0.50, 0.51, 0.52)):  # 3.2 below the paper: both means vary
        rows |= row_of(spec, "GCN", 0, nth, accuracy=value)
    assert Results(spec, rows).cells(spec.system("GCN"))[0].compatible


def test_theorems_are_checked_with_the_counts_of_every_run():
    spec = replace(read_spec("theorems"), runs=2, columns=(Column("cora", "rate", 0.005, 2),))
    counts = [
        theory.ChannelCounts(50, 10, 10, only_first_right=20, only_second_right=10),
        theory.ChannelCounts(60, 0, 20, only_first_right=5, only_second_right=15),
    ]
    rows = {}
    for nth, one in enumerate(counts):
        rows |= row_of(spec, "DCC-GCN", 0, nth, **vars(one), accuracy_low_after=0.5)
    (found,) = theorem_checks(Results(spec, rows))
    assert found.p1 == pytest.approx((0.7 + 0.65) / 2)
    assert found.p_low == pytest.approx((20 / 40 + 5 / 40) / 2)
    assert found.p_low_identity == pytest.approx(found.p_low)
    bounds = [theory.theorem1_bound(0.7, 0.6), theory.theorem1_bound(0.65, 0.75)]
    assert found.bound1 == pytest.approx(np.mean(bounds))
    assert found.bound1_holds == (bounds[0] > 0.5) + (bounds[1] > 0.125) == 1


def test_signals_are_ranked_by_system_and_part():
    spec = replace(read_spec("confidence"), runs=2, columns=(Column("cora", "rate", 0.005, 2),))
    rng, rows = np.random.default_rng(0), {}
    for system in spec.systems:
        for nth in range(2):
            p, truth = rng.dirichlet(np.ones(3), 60), np.arange(60) % 3
            agree = rng.random(60) < 0.5
            dual = {"channels": {"topology": p, "features": p}, "channels_agree": agree}
            prediction = Prediction(p, **(dual if system.name == "DCC-GCN" else {}))
            rows |= row_of(spec, system.name, 0, nth, **trust_columns(prediction, np.arange(60), truth))
    results = Results(spec, rows)
    found = {(r.system, r.part, r.signal): r for r in rankings(results)}
    one = found["DCC-GCN", "first", "agreement"]
    margin = found["DCC-GCN", "first", "margin"]
    assert one.to_margin.mean == pytest.approx(one.auroc.mean - margin.auroc.mean)
    files = files_of(results, "python -m paper")
    page = files["confidence.md"]
    assert "## DCC-GCN, its first channel alone" in page
    assert "15 bins of equal mass" in page
    gap = 100 * results.first_runs(spec.system("GCN"), 0).final_gap.mean()
    assert re.search(rf"\| GCN \| {gap:.1f} ± [\d.]+ over \|", page)
    assert {"confidence-risk.svg", "confidence-reliability.svg"} <= set(files)


def test_pooled_bins_hold_all_nodes_in_bins_of_similar_size():
    bins = [x for c in np.linspace(0.1, 0.9, 15) for x in (10, c, c / 2)]
    pooled = pooled_bins(pd.DataFrame({"bins": [bins] * 4}))
    assert pooled[:, 0].sum() == 600
    assert len(pooled) == 15
    np.testing.assert_allclose(pooled[:, 2], pooled[:, 1] / 2)
    assert len(pooled_bins(pd.DataFrame())) == 0


def test_a_cell_holds_paper_ours_and_difference():
    spec = read_spec("table3")
    page = page_of(spec, fake_rows(spec))
    assert "| GCN | 54.2 / 51.5 ± 0.3 / -2.8 |" in page
    assert "| E-GCN | 60.8 / not measured / – |" in page
    assert "E-GCN on all columns: neither its code" in page
    assert re.search(r"\| grand \| – / [\d.]+ ± 0.1 \(n = 3\) / – \|", page)
    assert "python -m paper table3" in page
    assert page.count("**") == 8  # the best of each of four columns


def test_what_is_not_available_is_named_with_its_reason():
    spec = read_spec("table2")
    lost = {spec.keys["GCN", 0, n] for n in range(50)}
    rows = {key: row for key, row in fake_rows(spec).items() if key not in lost}
    unavailable = {"corafull": "graph2gauss/cora.npz is not in the data folder"}
    files = files_of(Results(spec, rows, unavailable), "python -m paper")
    assert "GCN on corafull, 20 per class: graph2gauss/cora.npz is not in the data folder." in files["table2.md"]
    first, second, *_ = Results(spec, rows, unavailable).cells(spec.system("GCN"))
    assert (first.published, first.ours) == (54.3, None)
    assert second.difference == pytest.approx(second.ours.mean - 86.5)


@pytest.mark.parametrize("name", ["figure4", "figure5"])
def test_curves_are_drawn_with_their_data_and_always_the_same(name):
    spec = read_spec(name)
    results = Results(spec, fake_rows(spec, accuracy_low_before=0.3, accuracy_low_after=0.4))
    first, second = (files_of(results, "python -m paper") for _ in range(2))
    assert first[f"{name}.svg"].startswith(b"<?xml")
    assert first == second
    assert f"![{spec.title}]({name}.svg)" in first[f"{name}.md"]


def test_figure7_has_the_papers_bound_and_the_corrected_one():
    p1, p2 = figures.GRID[30], figures.GRID[10]
    printed, _, corrected = figures.surfaces().values()
    assert printed[7][30, 10] == pytest.approx(theory.upper_bound(p1, p2, 7), abs=1e-4)
    assert corrected[70][30, 10] == pytest.approx(theory.corrected_upper_bound(p1, p2, 70), abs=1e-4)


def test_choices_are_compared_split_by_split_in_every_column():
    spec = read_spec("choices")
    start, other = spec.systems[0].name, "m = 1"
    c = [str(column) for column in spec.columns].index("citeseer, 0.5 %")
    rows = {}
    for nth, (before, after) in enumerate([(0.5, 0.52), (0.6, 0.63), (0.7, 0.71)]):
        rows |= row_of(spec, start, c, nth, accuracy=before) | row_of(spec, other, c, nth, accuracy=after)
    rows |= row_of(spec, start, c, 3, accuracy=0.9)  # a split without its pair
    page = page_of(spec, rows)
    lines = {line.split(" | ")[0]: line.split(" | ") for line in table_lines(page)}
    assert lines[f"| **{start}**, accuracy in %"][1 + c] == "67.5 ± 17.1, n = 4"
    assert lines[f"| {other}"][1 + c] == "+2.0 (-0.5 to +4.5), n = 3"
    assert lines["| features = row"][1 + c] == "default"
    assert lines["| features = raw"][1 + c] == "–"
    assert "Of 1 differences with an interval, 0 are significantly below zero and 0 above." in page
    assert "7 of 1404 runs have been made" in page


def test_the_page_on_systems_names_what_is_missing():
    spec = read_spec("systems")
    rows = {}
    for nth in range(10):
        rows |= row_of(spec, "gcn", 0, nth, accuracy=0.8)
    rows |= row_of(spec, "gcn", 1, 0)  # one run of ten is not enough
    page = page_of(spec, rows)
    (_, _, line) = table_lines(page)
    assert line.startswith("| gcn | cora | public | 80.0 ± 0.0 | 81.5 | -1.5 | yes |")
    assert "Not measured yet: gcn on citeseer, public; gcn on pubmed, public; gat on cora, public" in page


def test_the_page_on_concord_compares_whatever_was_run_on_common_splits():
    spec = read_spec("concord")
    part = spec.of_group("ablation")[0].name
    trust = {"final_gap": 0.01, "final_ece": 0.05, "final_auroc_trust": 0.8, "pool_auroc_margin": 0.7}
    rows = {}
    for nth, accuracy in enumerate((0.7, 0.8, 0.9)):
        for name, gain in (("concord", 0.0), ("ssgc", -0.1), ("lp", 0.05), (part, -0.02)):
            rows |= row_of(spec, name, 0, nth, accuracy=accuracy + gain + 0.001 * nth, **trust)
        for name, gain in (("concord", 0.0), (part, 0.01)):
            rows |= row_of(spec, name, 5, nth, accuracy=accuracy + gain, **trust)  # Citeseer
    page = page_of(spec, rows)
    assert "| cora, 1 per class | 80.1 ± 10.1 (3) | 85.1 ± 10.1 (3) | – |" in page
    assert "| cora, 1 per class | lp | -5.0 (-5.0 to -5.0) |" in page
    assert f"| {part} | 2 | -0.5 (-19.6 to +18.6) | cora -2.0 | citeseer +1.0 |" in page
    assert "| cora, 1 per class | 5.0 | 1.0 | 80.0 | 70.0 |" in page
    words = " ".join(page.split())
    assert "Of 2 comparisons with at least two common splits it is significantly better in 1 and significantly" in words
    assert "of 0 comparisons with at least ten common splits it is significantly better in 0" in words
    assert "Lost: cora, 1 per class to lp (-5.0)." in words
    assert "No cell has runs of all systems yet." in words


def test_the_best_is_of_those_with_the_most_runs_and_higher_ones_are_named():
    spec = read_spec("table3")
    rows = fake_rows(spec)
    results = Results(spec, rows)
    assert "the best of all other systems here" in readme([results], "python -m paper")
    one = next(one for one in results.comparisons("accuracy") if one.baselines == "all")
    fewer = {s.name for s in spec.systems if s.method and spec.n_runs(s, spec.columns[0]) < spec.runs}
    assert one.best not in fewer
    assert all(name.split(" ")[0] in fewer for name in one.higher)
    kept = ("DCC-GCN", "glp", "grand", "E-GCN")
    few = replace(spec, systems=tuple(s for s in spec.systems if s.name in kept), reading="")
    first = next(one for one in Results(few, rows).comparisons("accuracy") if one.baselines == "all")
    assert (first.best, [name.split(" ")[0] for name in first.higher]) == ("glp", ["grand"])
    assert "Higher than glp, with fewer runs: grand" in readme([Results(few, rows)], "python -m paper")


@pytest.mark.parametrize("name", ["choices", "overview"])
def test_pages_have_a_row_for_each_system_and_say_how_many_runs_are_missing(name):
    spec = read_spec(name)
    rows = fake_rows(spec)
    page = page_of(spec, rows)
    assert "left to run" not in page
    lines = table_lines(page)
    assert len(lines) == 2 + len(spec.systems)
    assert len({line.count("|") for line in lines}) == 1
    assert f"python -m paper {name}" in page
    assert "–" not in "".join(lines)
    lost = {spec.keys[spec.systems[1].name, 0, nth] for nth in (0, 1)}
    page = page_of(spec, {key: row for key, row in rows.items() if key not in lost})
    assert f"{len(rows) - 2} of {len(rows)} runs have been made" in page


def test_runs_of_a_dataset_that_is_not_available_are_not_missing():
    spec, unavailable = read_spec("table7"), {"corafull": "no file"}
    made = {key: row for key, row in fake_rows(spec).items() if row["dataset"] != "corafull"}
    assert "left to run" not in page_of(spec, made, unavailable=unavailable)
    assert "0 of 60 runs have been made" in readme([Results(spec, {}, unavailable)], "python -m paper")
