"""The arrays of a saved model: written and read back, and read from the last format."""

import numpy as np
import pytest

from dccgcn import NodeGraph
from dccgcn.models.concord import method
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.precompute import precompute
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.state import from_last_format, read_projections, read_state, to_arrays
from helpers.groups import blocks

# today's names and those of format 3
EMBEDDINGS = {
    "topology.plain": "topology.far",
    "features.plain": "features.far",
    "topology.adaptive": "topology.near",
    "node": "own",
    "neighbours": "around",
    "features.idf": "features.near",
    "topology.structure": "topology.ties",
}
FIELDS = {"components": "basis", "mean": "offset", "scale": "spread", "numeric": "measured"}


def test_arrays_round_trip() -> None:
    graph, settings = blocks(), ConcordSettings(n_rounds=1)
    inputs = precompute(graph, settings, 0.8)
    members = method.build_members(inputs, 0.8, settings)
    given = Labels.given(np.arange(6), graph.labels[:6], 3)
    state = method.self_train(members, given, np.ones(graph.c), settings, 0)
    arrays = to_arrays(inputs.projections, state)
    projections, again = read_projections(arrays), read_state(arrays, members, settings)
    assert set(projections.embeddings) == set(inputs.projections.embeddings)
    for name, embedding in inputs.projections.embeddings.items():
        for field in ("components", "mean", "scale"):
            np.testing.assert_array_equal(getattr(projections.embeddings[name], field), getattr(embedding, field))
    for one, other in zip(state.members, again.members, strict=True):
        assert one.head is other.head
    np.testing.assert_array_equal(again.labels.nodes, state.labels.nodes)
    np.testing.assert_array_equal(again.given.nodes, given.nodes)
    np.testing.assert_array_equal(again.pooled, state.pooled)
    assert again.n_recovered == state.n_recovered


def in_last_format(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same model as format 3 kept it."""
    heads = [name for name in EMBEDDINGS if f"head.{name}" in arrays] + ["joint"]
    old = {f"head.{number}": arrays[f"head.{name}"] for number, name in enumerate(heads)}
    old["head_of_voice"] = np.array([*range(len(heads)), len(heads) - 1, -1])
    old["counts"] = np.array([arrays["n_given"][0], arrays["n_recovered"][0]])
    old["weights"] = arrays["member_weights"]
    for name, array in arrays.items():
        first, _, rest = name.partition(".")
        if first in FIELDS:
            old[f"{FIELDS[first]}.{EMBEDDINGS.get(rest, rest)}"] = array
        elif first in ("idf", "labels"):
            old[name.replace("idf", "rarity")] = array
    return old


@pytest.mark.parametrize("options", [{}, {"idf": False}, {"n_structural": 0}], ids=str)
@pytest.mark.parametrize("numeric", [False, True])
def test_the_last_format_is_read(options: dict, numeric: bool) -> None:
    graph = blocks()
    if numeric:
        x = np.random.default_rng(0).normal(5, 3, (graph.n, 4)) * [1, 10, 100, 1]
        graph = NodeGraph(x, graph.edges, graph.labels)
    prediction = method.fit(graph, np.arange(9), ConcordSettings(**options), 0)
    arrays = from_last_format(in_last_format(prediction.model))
    assert arrays.keys() == prediction.model.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, prediction.model[name])
