"""The arrays of a saved model: written and read back."""

import numpy as np
import pytest

from dccgcn import NodeGraph
from dccgcn.concord import method
from dccgcn.concord.labels import Labels
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.state import model_specs, read_projections, read_state, to_arrays
from dccgcn.concord.views import precompute
from dccgcn.errors import DataFileError
from dccgcn.methods.arrays import Sizes, check_arrays
from dccgcn.methods.base import Task
from helpers.groups import blocks, many_words


@pytest.mark.parametrize("few", [False, True])
def test_arrays_round_trip(few: bool) -> None:
    graph, settings = blocks() if few else many_words(), ConcordSettings()
    inputs = precompute(graph, settings)
    channels = method.build_channels(inputs, 0.8, settings)
    given = Labels.of(np.arange(12), graph.labels[:12], 3)
    state = method.stack(channels, given, settings, 0, {})
    arrays = to_arrays(inputs.projections, state)
    projections, again = read_projections(arrays), read_state(arrays, channels)
    for name, embedding in inputs.projections.embeddings.items():
        for field in ("components", "mean", "scale"):
            if (array := getattr(embedding, field)).size:
                np.testing.assert_array_equal(getattr(projections.embeddings[name], field), array)
    for one, other in zip(state.channels, again.channels, strict=True):
        assert one.head is other.head
    np.testing.assert_array_equal(again.labels.nodes, given.nodes)
    np.testing.assert_allclose(again.pooled, state.pooled, rtol=1e-5)  # spread labels are added up in another order
    assert again.held_out == state.held_out


@pytest.mark.parametrize("options", [{}, {"exclude": ("labels", "sizes")}, {"exclude": ("joint",)}], ids=str)
@pytest.mark.parametrize("kind", ["few", "many", "featureless"])
def test_every_array_has_a_spec(options: dict, kind: str) -> None:
    graph = {"few": blocks, "many": many_words, "featureless": featureless}[kind]()
    settings = ConcordSettings(**options)
    model = method.fit(Task(graph, np.arange(12)), settings).model
    sizes = Sizes(graph.n, graph.d, graph.c)
    check_arrays(model, model_specs(model, sizes, settings), "model")
    for name, array in model.items():
        broken = {**model, name: array[:-1]}
        with pytest.raises(DataFileError):
            check_arrays(broken, model_specs(broken, sizes, settings), "model")


def featureless() -> NodeGraph:
    graph = blocks()
    return NodeGraph(np.ones((graph.n, 1)), graph.edges, graph.labels, featureless=True)
