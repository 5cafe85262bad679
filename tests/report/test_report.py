"""The report's data and the page made from them, without a browser."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dccgcn.errors import DccgcnError, Finding
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import per_class
from dccgcn.methods.prediction import Prediction
from dccgcn.palette import OKABE_ITO
from dccgcn.quality import calibration
from dccgcn.report import data as report
from dccgcn.report import write_report
from dccgcn.report.data import report_data
from dccgcn.report.drawing import communities, draw_graph, force_layout
from dccgcn.report.nodes import sample, table_columns
from dccgcn.report.page import clip, render
from dccgcn.report.store import load_data
from dccgcn.workflow.active_learning import suggest_labels
from dccgcn.workflow.fitting import run
from helpers.runs import dual, toy

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def plain():
    graph = toy()
    return run(graph, per_class(graph, 3, seed=0), "lp")


@pytest.fixture(scope="module")
def full(plain):
    return dual(plain)


@pytest.fixture(scope="module")
def data(full):
    return report_data(full, "dccgcn fit toy")


def test_data_are_the_same_every_time_and_counts_add_up(data, full):
    again, created = report_data(full, "dccgcn fit toy"), {"run": {"created"}}
    assert again.model_dump(exclude=created) == data.model_dump(exclude=created)
    trust, graph = data.trust, full.graph
    assert trust.predictions == graph.n - len(full.split.train) == trust.trusted + trust.doubtful
    for kind in ("trusted", "doubtful"):
        assert sum(getattr(row, kind) for row in data.classes) == getattr(trust, kind)
    assert sum(map(sum, data.channel_contingency)) == trust.predictions
    first, second = (p.argmax(1)[full.is_predicted] for p in full.prediction.channels.values())
    counts = [[int(((first == i) & (second == j)).sum()) for j in range(3)] for i in range(3)]  # the first in its rows
    assert data.channel_contingency == counts != np.transpose(counts).tolist()
    assert [row.colour for row in data.classes] == list(OKABE_ITO[:3])


def test_accuracy_and_calibration_are_those_of_the_test_nodes(data, full):
    test = full.split.test
    right = full.prediction.y_pred[test] == full.graph.labels[test]
    is_trusted = full.trusted.is_trusted[test]
    assert 0 < is_trusted.sum() < len(test)
    assert data.trust.accuracy_trusted == pytest.approx(right[is_trusted].mean(), abs=1e-6)
    assert data.trust.accuracy_doubtful == pytest.approx(right[~is_trusted].mean(), abs=1e-6)
    assert data.calibration.accuracy == pytest.approx(full.accuracy, abs=1e-6)
    assert sum(b.count for b in data.calibration.bins) == len(test)
    assert data.calibration.risk[-1] == pytest.approx(1 - full.accuracy, abs=1e-4)


def test_the_verdict_states_how_many_can_be_trusted_and_how_that_is_known(full, plain):
    data = report_data(full)
    first, second, third = data.verdict
    assert data.headline.startswith(f"{data.trust.trusted} of 51 predictions are estimated right (")
    assert first == "51 nodes of toy were classified from 9 labels in 3 classes."
    assert second == (
        "Estimated right means: by the method’s own estimate right with a chance of 80\u00a0% or more, in a class with "
        "75\u00a0% or more; on average 90\u00a0%."
    )
    assert third.startswith("On the 51 test nodes, whose true class is known, ")
    unmeasured = report_data(replace(plain, split=replace(plain.split, test=[])))
    assert unmeasured.calibration is None
    assert "estimate" in unmeasured.verdict[2]
    agreeing = report_data(replace(full, prediction=replace(full.prediction, trust=None)))
    assert agreeing.trust.basis == "agreement"
    assert "the topology channel and the feature channel predict the same class" in agreeing.verdict[1]


def test_a_method_without_channels_has_a_page_too(plain):
    data = report_data(plain)
    assert data.trust.basis == "probability"
    assert (data.channels, data.channel_contingency, data.nodes.corrected) == ([], None, None)
    page = render(data)
    assert 'id="channels"' not in page
    assert 'id="map"' in page


def test_each_node_lists_its_classes_and_neighbours(data, full):
    nodes, graph = data.nodes, full.graph
    p = full.prediction.probabilities
    listed = np.array(nodes.class_probabilities["final"].classes).reshape(graph.n, -1)
    np.testing.assert_array_equal(listed[:, 0], full.prediction.y_pred)
    shares = np.array(nodes.class_probabilities["final"].probabilities).reshape(graph.n, -1) / 1000
    np.testing.assert_allclose(shares, np.take_along_axis(p, listed, axis=1), atol=5.1e-4)
    for node in range(graph.n):
        near = set(np.flatnonzero(graph.adjacency.toarray()[node]).tolist())
        assert set(nodes.neighbours[node]) <= near
    labelled = [node for node in range(graph.n) if set(nodes.neighbours[node]) & set(full.split.train.tolist())]
    assert all(nodes.neighbours[node][0] in full.split.train for node in labelled)


def test_suggestions_have_no_label_and_findings_come_once(data, full, plain):
    trained = {str(i) for i in full.graph.ids[full.split.train]}
    ids = [suggestion.id for suggestion in data.label_next]
    assert len(ids) == len(set(ids)) == 20
    assert not trained & set(ids)
    assert data.label_next_csv.startswith("node_id,reason\n")
    rate = next(finding for finding in data.findings if finding.code == "label-rate")
    assert rate.text.startswith("9 of 60 nodes are labelled")  # not the 60 with a label in the graph
    odd = replace(plain, prediction=replace(plain.prediction, findings=(Finding("note", "odd-run", "Odd."),)))
    assert report_data(odd).findings[-1].model_dump() == {
        "level": "note", "code": "odd-run", "text": "Odd.", "meaning": "",
    }  # fmt: skip


def test_a_large_graph_is_sampled_and_says_so(full, monkeypatch):
    monkeypatch.setattr(report, "MAX_NODES", 40)
    monkeypatch.setattr(report, "MAX_MAP_NODES", 30)
    monkeypatch.setattr(report, "MAX_MAP_EDGES", 10)
    data = report_data(full)
    ids = data.nodes.id
    assert len(ids) == 40
    assert {str(i) for i in full.graph.ids[full.split.train]} <= set(ids)
    assert data.predictions_csv.count("\n") == 41
    assert "40 of 60 nodes" in data.nodes.note
    assert "predictions.csv" in data.nodes.note
    assert len(data.map.nodes) == 30
    assert f"{len(data.map.nodes)} of 60 nodes" in data.map.note
    assert "chosen at random" in data.map.note
    assert len(data.map.edges) == 20
    assert max(data.map.edges) < 40
    assert all(row < 40 for near in data.nodes.neighbours for row in near)
    assert data.trust.predictions == 51  # counts stay those of the whole graph
    chosen = suggest_labels(full.graph, full.prediction, full.split.train, 20)
    assert [s.id for s in data.label_next] == [str(s.node_id) for s in chosen]  # as label-next proposes
    assert [s.reason for s in data.label_next] == [s.reason for s in chosen]


def test_samples_hold_labels_and_the_least_confident():
    graph = toy(400, 4)
    confidence = np.random.default_rng(0).uniform(size=400)
    train = np.array([3, 77])
    chosen = sample(graph, train, confidence, 100)
    assert len(chosen) == len(np.unique(chosen)) == 100
    assert set(train) <= set(chosen)
    assert set(np.argsort(confidence)[:24]) <= set(chosen)  # the least confident
    hops = np.eye(400) + graph.adjacency.toarray()
    assert set(chosen) <= set(np.flatnonzero((hops @ hops)[[*train, *np.argsort(confidence)[:26]]].any(axis=0)))
    np.testing.assert_array_equal(sample(graph, train, confidence, 400), np.arange(400))
    lonely = NodeGraph(np.eye(50), np.empty((0, 2), dtype=int))
    assert len(sample(lonely, train[:1], confidence[:50], 20)) == 20  # no neighbours to sample


def test_communities_are_those_of_the_edges():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [60, 40, 30])
    pairs = np.array([(i, j) for i in range(130) for j in range(i)])
    inside = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    kept = pairs[rng.random(len(pairs)) < np.where(inside, 0.3, 0.005)]
    alone = [[130, 131]]  # a small component belongs to none
    graph = NodeGraph(np.eye(133), np.concatenate([kept, alone]))
    found = communities(graph.adjacency)
    np.testing.assert_array_equal(found, np.concatenate([truth, [-1, -1, -1]]))  # the largest first
    assert (communities(NodeGraph(np.eye(3), np.empty((0, 2), dtype=int)).adjacency) == -1).all()


def test_the_communities_of_a_ring_of_cliques_are_the_cliques_for_every_order_of_the_nodes():
    k, m = 6, 5
    inside = [(a * m + i, a * m + j) for a in range(k) for i in range(m) for j in range(i)]
    ring = [(a * m, (a + 1) % k * m + 1) for a in range(k)]
    graph = NodeGraph(np.eye(k * m), np.array(inside + ring))
    for seed in range(20):
        found = communities(graph.adjacency, seed).reshape(k, m)
        assert (found == found[:, :1]).all()
        assert len(np.unique(found)) == k


def test_a_map_of_a_large_graph_has_each_community_in_proportion():
    graph = toy(3000, 4)
    drawn = draw_graph(graph, np.array([5, 7]), 300, 200)
    assert len(np.unique(drawn.nodes)) == 300
    assert {5, 7} <= set(drawn.nodes)
    whole, part = (np.bincount(drawn.community[nodes]) for nodes in (np.arange(3000), drawn.nodes))
    assert np.abs(part - whole / 10).max() <= 2
    assert len(drawn.edges) <= 200
    assert 0 <= drawn.position.min() <= drawn.position.max() <= 1


def test_the_own_rows_of_a_wide_table_show_texts_first():
    frame = pd.DataFrame({f"x{j}": range(5) for j in range(20)} | {"title": ["a b", None, "c\nd", "e", "f" * 999]})
    columns = table_columns(frame, 5, np.array([0, 1, 2, 4]))
    assert len(columns) == 12
    assert columns[-1].name == "title"
    assert columns[-1].cells[:3] == ["a b", "", "c d"]
    assert len(columns[-1].cells[3]) == 400
    with pytest.raises(DccgcnError, match="5 rows, but the graph 6 nodes"):
        table_columns(frame, 6, np.arange(6))


def test_the_layout_puts_neighbours_near_one_another():
    graph = toy(200, 2)
    place = force_layout(graph.adjacency)
    assert place.shape == (200, 2)
    assert 0 <= place.min() <= place.max() <= 1
    np.testing.assert_array_equal(place, force_layout(graph.adjacency))
    near = np.linalg.norm(place[graph.edges[:, 0]] - place[graph.edges[:, 1]], axis=1).mean()
    far = np.linalg.norm(place[:, None] - place[None], axis=2).mean()
    assert near < 0.2 * far


def test_names_with_markup_stay_text(tmp_path):
    names = [HOSTILE, "&amp; </style>\u2028", "\u202eevil"]
    ids = [f"{HOSTILE}-->{i}" for i in range(60)]
    graph = toy(names=names, ids=ids)
    result = run(graph, per_class(graph, 3, seed=0), "lp")
    page = render(report_data(result, f"dccgcn fit '{HOSTILE}'"))
    assert HOSTILE not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert "\u2028" not in page
    assert "\u202e" not in page


def test_the_policy_allows_the_pages_own_script_and_style_only(data):
    page = render(data)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1).replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"\sstyle=|\son\w+=", page[: page.index('<script id="data"')])


def test_what_is_long_is_cut_and_what_is_not_utf8_is_shown(plain):
    names = ["x" * 10_000, "b", "c"]
    graph = toy(300, names=names)
    most = report.max_nodes(run(graph, per_class(graph, 3, seed=0), "lp"))
    assert report.MAX_CSV / 10_000 < most < report.MAX_NODES
    assert report_data(plain, "dccgcn fit --nodes n\udce9.csv").run.command == "dccgcn fit --nodes n?.csv"
    assert clip("a" * 10_000, 20) == "a" * 19 + "…"
    assert clip(" one\ntwo\u202e ", 20) == "one two"


def test_one_function_writes_page_and_data(full, tmp_path):
    stages = []
    page = tmp_path / "page.html"
    data = write_report(full, page, False, tmp_path, "dccgcn fit toy", lambda *step: stages.append(step))
    assert load_data(tmp_path) == data
    full.save(tmp_path / "run")
    assert data.predictions_csv == (tmp_path / "run" / "predictions.csv").read_text()
    assert page.read_text() == render(data)
    assert stages[-1] == ("report", 2, 2)
    full.report(tmp_path / "other.html")
    assert (tmp_path / "other.html").read_text().startswith("<!DOCTYPE html>")
    write_report(full, folder=tmp_path / "only data")
    assert [path.name for path in (tmp_path / "only data").iterdir()] == ["report.json"]


def test_the_report_shows_precision_and_counts_training_labels(plain):
    wrong = plain.prediction.probabilities.copy()
    wrong[:25] = [0.1, 0.2, 0.7]  # class 2 is predicted too often
    result = replace(plain, prediction=Prediction(wrong))
    shown = report_data(result)
    test, y_pred, y = result.split.test, result.prediction.y_pred, result.graph.labels
    right = (y_pred == y)[test]
    precision = [right[y_pred[test] == k].mean() if (y_pred[test] == k).any() else None for k in range(3)]
    recall = [right[y[test] == k].mean() for k in range(3)]
    assert precision[2] != pytest.approx(recall[2])
    assert [row.precision for row in shown.classes] == [
        p if p is None else pytest.approx(p, abs=1e-6) for p in precision
    ]
    assert [row.labels for row in shown.classes] == [3, 3, 3]
    curve = calibration.risk_coverage(wrong.max(axis=1)[test], right)
    assert shown.calibration.aurc == pytest.approx(curve.area, abs=1e-6)
