"""The cost estimate counts what a run builds."""

import pytest

from dccgcn.concord.cost import concord_cost
from dccgcn.concord.settings import ConcordSettings
from dccgcn.datasets.synthetic import synthetic_graph


@pytest.mark.parametrize(
    "more", [{"n_refits": 50}, {"n_steps_topology": 160}, {"n_structural": 64}, {"n_components": 128}], ids=str
)
def test_more_work_costs_more_and_parts_that_are_switched_off_nothing(more: dict) -> None:
    graph = synthetic_graph(500)
    default, costly = (concord_cost(graph, ConcordSettings(**given)) for given in ({}, more))
    assert default.seconds < costly.seconds
    assert default.bytes <= costly.bytes
    assert concord_cost(graph.with_vectors(graph.features.toarray()), ConcordSettings()).bytes > default.bytes
    assert "n_components=32" in default.remedy
    for less in ({"mi_weight": 0}, {"n_refits": 0}):
        assert concord_cost(graph, ConcordSettings(**less)).seconds < default.seconds
