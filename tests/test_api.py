"""The names that users import."""

import subprocess
import sys

import numpy as np
import pytest

import dccgcn


def test_every_public_name_is_there():
    for name in dccgcn.__all__:
        assert getattr(dccgcn, name).__name__ == {"load": "load_dataset"}.get(name, name)  # load is an alias


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = dccgcn.nothing_here


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, dccgcn; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=600).returncode == 0


def test_a_graph_of_ones_own_is_classified_from_the_labels_it_has():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 20)
    features = rng.normal(size=(40, 6)) + 3 * truth[:, None] * np.array([1, -1, 1, -1, 1, -1])
    labels = [["cat", "dog"][t] if node % 20 < 3 else None for node, t in enumerate(truth)]
    graph = dccgcn.NodeGraph(features, [(i, i + 1) for i in range(39)], labels, ids=[f"n{i}" for i in range(40)])
    result = dccgcn.run(graph)
    frame = result.to_frame()
    assert (frame["prediction"] == np.array(["cat", "dog"])[truth]).mean() > 0.8
    assert frame["node_id"].tolist() == graph.ids.tolist()
    assert set(frame["role"]) == {"train", "unlabelled"}
    assert result.accuracy is None
    assert result.summary()["n_test"] == 0


def test_the_lines_of_the_readme(cora):
    split = dccgcn.per_class(cora.graph, 2, seed=0)
    result = dccgcn.run(cora.graph, split, "gcn")
    frame = result.to_frame()
    assert len(frame) == 2708
    assert {"node_id", "prediction", "probability"} <= set(frame.columns)
    assert result.accuracy > 1 / 7
