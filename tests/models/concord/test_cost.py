"""The cost estimate counts what a run builds."""

import pytest

from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.models.concord import method
from dccgcn.models.concord.cost import concord_cost
from dccgcn.models.concord.members import member_layout
from dccgcn.models.concord.precompute import precompute
from dccgcn.models.concord.settings import ConcordSettings


@pytest.mark.parametrize("options", [{}, {"idf": False}, {"n_structural": 0}], ids=str)
def test_the_layout_is_that_of_the_members(options: dict) -> None:
    graph, settings = synthetic_graph(200), ConcordSettings(**options)
    inputs = precompute(graph, settings, 0.5)
    members = method.build_members(inputs, 0.5, settings)
    assert member_layout(inputs.specs) == [(member.embedding, member.channel, member.graph) for member in members]
    assert [spec.name for spec in inputs.specs] == list(inputs.projections.embeddings)


@pytest.mark.parametrize(
    "options", [{"n_rounds": 50}, {"n_steps_topology": 160}, {"n_steps_features": 40}, {"n_components": 128}], ids=str
)
def test_more_work_costs_more(options: dict) -> None:
    graph = synthetic_graph(500)
    default, more = (concord_cost(graph, ConcordSettings(**given)) for given in ({}, options))
    assert default.seconds < more.seconds
    assert default.bytes <= more.bytes
    assert "n_components=32" in default.remedy


def test_parts_that_are_switched_off_cost_nothing() -> None:
    graph = synthetic_graph(500)
    default = concord_cost(graph, ConcordSettings())
    for options in ({"idf": False}, {"n_structural": 0}, {"n_rounds": 0}):
        assert concord_cost(graph, ConcordSettings(**options)).seconds < default.seconds
