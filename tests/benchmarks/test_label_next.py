"""The benchmark of label-next: its strategies, and what it measures."""

import json

import numpy as np
import pytest

from benchmarks.label_next import query_strategies
from dccgcn import per_class, run
from helpers.command import benchmarks


def test_the_query_strategies_choose_among_test_nodes(small_cora):
    split = per_class(small_cora.graph, 2, seed=0)
    found = run(small_cora.graph, split, "ssgc").prediction
    ways = query_strategies(small_cora.graph, found, split.train, split.test, 10, seed=0)
    assert {name: len(np.unique(nodes)) for name, nodes in ways.items()} == dict.fromkeys(ways, 10)
    least = found.probabilities.max(axis=1)
    assert least[ways["uncertain"]].max() <= np.sort(least[split.test])[9]
    for nodes in ways.values():
        assert np.isin(nodes, split.test).all()


def test_the_benchmark_on_the_command_line():
    starts = ("--starts", "4", "--first-seed", "1000")
    done = benchmarks("label-next", "--graphs", "cora", "--method", "ssgc", *starts, "--json")
    (measured,) = json.loads(done.stdout)
    assert measured["over_random"]["n"] == 4
    for way in ("random", "uncertain"):
        gained = measured["chosen"]["mean"] - measured[way]["mean"]
        assert measured[f"over_{way}"]["mean"] == pytest.approx(gained)
        assert gained > 0  # these four development starts
    assert measured["chosen"]["mean"] > measured["start"]["mean"]
