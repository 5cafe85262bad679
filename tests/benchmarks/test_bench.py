"""What is compared and what is printed."""

import json
import os
import re

import numpy as np
import pytest

from benchmarks import gcn as gcn_benchmark
from benchmarks import scale
from benchmarks.alternatives import METHODS
from benchmarks.compile import bench_compile
from benchmarks.concord import build_concord_operators, with_operators_only
from benchmarks.new_nodes import remove_nodes, restore_nodes
from benchmarks.scale import growth, per_node_ratios
from benchmarks.tables import all_equal, bench_tables
from dccgcn import per_class
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.views import precompute
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.kernel_cache import VARIABLE
from helpers.command import benchmarks, refused

BEFORE = os.environ.get(VARIABLE)


def measured_by(*arguments):
    """What a benchmark prints, as JSON."""
    done = benchmarks(*arguments, "--rounds", "1", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_concord_against_dcc_gcn(cora_is_small):
    (measured,) = measured_by("concord", "--graphs", "cora", "--labels-per-class", "1")
    assert (measured["dataset"], measured["labels"], measured["epochs"]) == ("cora", 7, 200)
    assert measured["ratio"] == pytest.approx(measured["dcc_gcn_s"] / measured["concord_s"])
    assert measured["first_ratio"] == pytest.approx(measured["dcc_gcn_s"] / measured["first_s"])
    assert measured["concord_accuracy"]["mean"] > 50


def test_measurements_compare_what_computes_the_same(cora_is_small):
    knn = measured_by("knn", "--k", "6")
    assert knn["same_neighbours"]
    assert knn["same_similarities"]
    step = measured_by("step", "--labels-per-class", "2", "--set", "hidden1=16", "--set", "hidden2=8")
    attention = measured_by("attention")
    assert (attention["dataset"], attention["heads"], attention["width"]) == ("cora", 8, 8)
    assert max(step["parity"], attention["parity"]) < 1e-4
    assert min(knn["ratio"], step["ours_peak_mb"]) > 0


def test_gcn_is_compared_where_it_computes_the_same(monkeypatch):
    gcn = ["gcn", "--dataset", "cora", "--hidden", "8", "--threads", "1"]
    measured = measured_by(*gcn)
    assert measured["parity"] < 1e-4
    assert measured["labels"] == 140
    assert 140 < measured["nodes_in_field"][0] < measured["nodes_in_field"][1] == 2708
    assert all(measured[what] > 0 for what in ("pyg_ms", "whole_graph_ms", "receptive_field_ms"))
    monkeypatch.setattr(gcn_benchmark.OurForm, "copy_weights", lambda *_: None)
    done = benchmarks(*gcn, "--rounds", "1", "--json")  # prints the measurement as well
    assert done.returncode == 2
    assert "differ" in done.stderr


def test_a_timed_run_finds_its_operators_built_and_nothing_else():
    graph, settings = synthetic_graph(300), ConcordSettings()
    build_concord_operators(graph, settings)
    built = frozenset(graph.cache)
    made = precompute(graph, settings).projections.embeddings
    fresh = with_operators_only(graph)
    assert fresh.cache.keys() == built < graph.cache.keys()
    again = precompute(fresh, settings).projections.embeddings
    assert all(again[name] is not part for name, part in made.items())
    assert graph.cache.keys() == fresh.cache.keys()


def test_growth_is_per_tenfold():
    def measured(nodes, seconds, memory):
        parts = {"view own": seconds / 4, "predictions": seconds * 3 / 4}
        return {"nodes": nodes, "train_s": seconds, "peak_mb": memory, "parts": parts}

    small, base = measured(1000, 1.0, 500.0), measured(100_000, 100.0, 2000.0)
    assert per_node_ratios([small]) == {}
    ratios = per_node_ratios([small, base, measured(200_000, 300.0, 1.0)])
    assert ratios[200_000] == pytest.approx({"train_s": 1.5, "view own": 1.5, "predictions": 1.5})
    step = growth(small, base)
    assert (step["from_nodes"], step["to_nodes"]) == (1000, 100_000)
    assert (step["seconds"], step["memory"], step["exponent"]) == pytest.approx((10, 2, 1))


def test_scale_measures_each_size_and_their_growth(monkeypatch):
    in_a_process = scale.bench_scale  # the first size; starting another process shows nothing new
    monkeypatch.setattr(scale, "_compile", lambda *_: None)
    monkeypatch.setattr(
        scale, "bench_scale", lambda n, **rest: (in_a_process if n == 400 else scale.measure)(n, **rest)
    )
    sizes = "--nodes", "400,800", "--labels-per-class", "2", "--features", "60"
    done = benchmarks("scale", *sizes, "--alternatives", "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert [(row["nodes"], row["edges"], row["features"], row["labels"]) for row in printed["sizes"]] == [
        (400, 4000, 60, 20),
        (800, 8000, 60, 20),
    ]
    for row in printed["sizes"]:
        assert row["recall"] == [None]
        assert row["train_s"] == pytest.approx(sum(row["parts"].values()))
        assert {"feature graph", "view own", "channel labels", "predictions"} <= set(row["parts"])
        assert row["peak_mb"] == max(row["peaks"].values())
        assert [other["method"] for other in row["alternatives"]] == list(METHODS)
        assert all(other["accuracy"] > 0.15 for other in row["alternatives"])  # ten classes
        assert row["peak_mb"] > 100
        assert 0.3 < row["accuracy"] <= 1
    (step,) = printed["growth"]
    assert step["seconds"] == pytest.approx(10 ** step["exponent"])


def test_compilation_is_listed_by_kernel_and_done_once():
    measured = bench_compile("measurements", "concord")
    assert "knn_kernels.dense_knn" in measured["kernels"]
    assert measured["compile_s"] == pytest.approx(sum(measured["kernels"].values()))
    assert measured["ratio"] == measured["first_s"] / measured["second_s"] > 1
    assert os.environ.get(VARIABLE) == BEFORE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("concord", "--labels-per-class", "2", "--label-rate", "0.1"), "exclude one another"),
        (("scale", "--nodes", "many"), "'many' are no sizes"),
    ],
)
def test_what_cannot_be_measured_is_refused(arguments, message):
    refused(benchmarks(*arguments), message)


def test_tables_of_every_form_give_the_same_graph():
    measured = bench_tables(1000, 5, 1)
    assert [(m["form"], m["nodes"], m["edges"]) for m in measured] == [("parquet", 1000, 5000), ("csv", 1000, 5000)]
    assert all(m[what] > 0 for m in measured for what in ("files_mb", "cpu_s", "anonymous_mb"))
    assert all_equal(measured)
    assert not all_equal([measured[0], {**measured[1], "graph": "another"}])


def test_taking_nodes_out_and_putting_them_back_gives_the_graph_again(cora):
    graph = cora.graph
    split = per_class(graph, 2, seed=0)
    held = np.sort(np.random.default_rng(0).choice(split.test, 500, replace=False))
    smaller, part, order = remove_nodes(graph, split, held)
    assert not set(smaller.ids.tolist()) & set(graph.ids[held].tolist())
    assert smaller.ids[part.train].tolist() == graph.ids[np.sort(split.train)].tolist()
    again = restore_nodes(graph, smaller, order)
    assert (again.ids == graph.ids[order]).all()
    assert (again.adjacency != graph.adjacency[order][:, order]).nnz == 0
    assert (again.features != graph.features[order]).nnz == 0
    assert (again.labels[smaller.n :] == -1).all()


def test_bench_new_nodes_on_the_command_line():
    done = benchmarks("new-nodes", "--graphs", "cora", "--method", "ssgc", "--splits", "2", "--json")
    (measured,) = json.loads(done.stdout)
    assert measured["held_out"] == 542
    assert measured["difference"]["n"] == 2
    assert measured["inductive"]["mean"] > 70
    assert abs(measured["difference"]["mean"]) < 5
    assert measured["difference"]["mean"] == pytest.approx(
        measured["inductive"]["mean"] - measured["transductive"]["mean"]
    )


def test_a_table_has_a_row_per_field_with_its_unit(cora_is_small):
    words = " ".join(benchmarks("knn", "--rounds", "1").stdout.replace("│", " ").split())
    assert re.search(r"ours [\d.]+ s ", words)
    assert "same neighbours yes" in words
