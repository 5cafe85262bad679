"""The doctor: its findings about a graph, their order, and the command."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.errors import Finding
from dccgcn.graph import NodeGraph
from dccgcn.methods import resources
from dccgcn.tables.options import TableOptions
from dccgcn.tables.read import check_tables
from dccgcn.workflow.doctor import examine
from helpers.command import dccgcn, refused, success


def clusters(labelled, between=0, n=60):
    """Three cliques, one per class, with some edges between them; the first so many nodes of each are labelled."""
    truth = np.arange(n) % 3
    rng = np.random.default_rng(0)
    edges = [(i, j) for i in range(n) for j in range(i) if truth[i] == truth[j] and rng.random() < 0.5]
    edges += [tuple(pair) for pair in rng.integers(0, n, (between, 2))]
    labels = ["abc"[t] if i < 3 * labelled else None for i, t in enumerate(truth)]
    return NodeGraph(rng.normal(size=(n, 4)), edges, labels)


def by_code(graph, **options):
    return {diagnosis.code: diagnosis for diagnosis in examine(graph, **options)}


def test_a_sound_graph_has_notes_only():
    found = examine(clusters(labelled=6))
    assert {diagnosis.level for diagnosis in found} == {"note"}
    assert {"homophily", "label-rate", "cost"} <= {diagnosis.code for diagnosis in found}


def test_the_worst_comes_first():
    graph = clusters(labelled=1)
    worse = NodeGraph(
        np.where(np.arange(60)[:, None] < 5, 0, graph.features), graph.edges[graph.edges[:, 1] < 57], None, classes="ab"
    )
    levels = [diagnosis.level for diagnosis in examine(worse)]
    assert levels[0] == "error"
    assert levels == sorted(levels, key=["error", "warning", "note"].index)
    warnings = [diagnosis for diagnosis in examine(worse) if diagnosis.level == "warning"]
    assert [diagnosis.nodes for diagnosis in warnings] == sorted((c.nodes for c in warnings), reverse=True)
    assert all(diagnosis.meaning for diagnosis in warnings)


@pytest.mark.parametrize(
    ("labels", "level", "words"),
    [
        ([None] * 4, "error", "no labelled node"),
        (["a", "a", None, None], "error", "one class"),
        (["a", "b", "b", None], "warning", "one training label only: 'a'"),
        (["a", "b", "b", "a"], "warning", "nothing to predict"),
    ],
)
def test_labels(labels, level, words):
    graph = NodeGraph(np.eye(4), [(0, 1), (1, 2), (2, 3)], labels)
    assert any(diagnosis.level == level and words in diagnosis.text for diagnosis in examine(graph, k=1))


def test_homophily_counts_the_edges_between_labelled_nodes():
    graph = clusters(labelled=20)
    inside = by_code(graph)["homophily"]
    assert inside.text.startswith(f"100% of the edges between labelled nodes ({len(graph.edges)} in all)")
    assert inside.level == "note"
    mixed = by_code(clusters(labelled=20, between=3000))["homophily"]
    assert mixed.level == "warning"
    assert "mislead" in mixed.meaning
    few = by_code(NodeGraph(np.eye(8), [(0, 1), (2, 3), (4, 5)], [0, 1, 0, 0, None, None, None, 1]), k=1)["homophily"]
    assert "50% of the edges between labelled nodes (2 in all)" in few.text
    assert "too few" in few.meaning
    none = by_code(NodeGraph(np.eye(4), [(0, 1), (2, 3)], [0, None, 1, None]), k=1)["homophily"]
    assert "homophily is unknown" in none.text


def test_components_without_labels_and_isolated_nodes_are_counted():
    edges = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7)]
    graph = NodeGraph(np.eye(10), edges, [0, 1, 0] + [None] * 7, ids=list("abcdefghij"))
    found = by_code(graph, k=1)
    assert found["isolated-nodes"].nodes == 2
    assert "'i', 'j'" in found["isolated-nodes"].text
    assert found["unreached-components"].text.startswith("4 components, 7 nodes, hold no training label")
    assert found["unreached-components"].nodes == 7


def test_ties_are_not_searched_for_where_that_takes_minutes(monkeypatch):
    graph = NodeGraph(np.eye(6)[[0, 0, 1, 1, 2, 3]], [(i, i + 1) for i in range(5)], [0, 1, 0, 1, None, None])
    assert "knn-ties" in by_code(graph, k=1)
    monkeypatch.setattr("dccgcn.features.approximate_search.MOST_WORK", 0)
    assert "knn-ties" not in by_code(graph, k=1)


def test_uninformative_features():
    x = np.eye(6)
    x[1] = x[0]
    x[5] = 0
    for features in (x, sp.csr_array(x)):
        found = by_code(NodeGraph(features, [(i, i + 1) for i in range(5)], [0, 1, 0, 1, None, None]), k=1)
        assert found["zero-features"].nodes == 1
        assert found["duplicate-features"].nodes == 2
        assert found["knn-ties"].nodes == 3
    constant = NodeGraph(np.ones((4, 2)), [(0, 1), (1, 2), (2, 3)], [0, 1, 0, 1], featureless=True)
    assert "no-features" in by_code(constant)


def test_measurements_in_different_units():
    x = np.random.default_rng(0).standard_normal((40, 3))
    edges, labels = [(i, i + 1) for i in range(39)], [0, 1] * 20
    assert "units" not in by_code(NodeGraph(x, edges, labels))
    for unlike in (x * [1, 100, 1], x + np.array([0, 0, 50])):
        assert by_code(NodeGraph(unlike, edges, labels))["units"].text.startswith("3 of 3 features")


def test_imbalance_hubs_and_what_the_reader_found():
    n = 300
    labels = ["a"] * 40 + ["b"] * 2 + [None] * (n - 42)
    noted = [Finding("note", "delimiter", "read with ';'")]
    graph = NodeGraph(np.random.default_rng(0).random((n, 3)), [(0, i) for i in range(1, n)], labels, findings=noted)
    found = by_code(graph)
    assert "40 labels, 'b' only 2" in found["imbalance"].text
    assert "connected to 299 of 300" in found["hubs"].text
    assert found["delimiter"].text == "read with ';'"


def test_too_little_memory_comes_first(monkeypatch):
    graph = clusters(labelled=6)
    for total, level in ((2e6, "error"), (1e12, "warning")):
        monkeypatch.setattr(resources, "available_memory", lambda total=total: (1e6, total))
        assert (examine(graph)[0].code, examine(graph)[0].level) == ("memory", level)


def test_the_command(tmp_path, cora_is_small):
    success("export", "cora", tmp_path, "--labels-per-class", "2")
    tables = ["--nodes", str(tmp_path / "nodes.csv"), "--edges", str(tmp_path / "edges.csv")]
    done = success("doctor", *tables, "--label", "label")
    assert "400 nodes in 16 components" in done.stdout
    assert "hold no training label" in " ".join(done.stdout.split())
    printed = json.loads(dccgcn("doctor", *tables, "--json").stdout)
    assert printed["labelled"] == 14
    assert {"unreached-components", "knn-ties", "guessed-columns"} <= {c["code"] for c in printed["diagnoses"]}
    (tmp_path / "nodes.csv").write_text("id,label,a\nx,,1\ny,,2\n")
    (tmp_path / "edges.csv").write_text("source,target\nx,y\n")
    assert dccgcn("doctor", *tables).returncode == 1
    mistaken = dccgcn("doctor", *tables, "--label", "Lable")
    assert (mistaken.returncode, "Did you mean 'label'?" in mistaken.stdout) == (1, True)
    refused(dccgcn("doctor"), "A graph is missing")
    refused(dccgcn("fit", *tables[:2]), "--edges is missing")
    refused(dccgcn("doctor", "cora", *tables), "Both 'cora' and tables")


ROWS = "".join(f"n{i},{i * 1.5},{'ab'[i % 2] if i < 8 else ''}\n" for i in range(40))
TABLES = ["--nodes", "nodes.csv", "--edges", "edges.csv"]


def test_all_mistakes_are_listed_in_one_go(tmp_path):
    (tmp_path / "nodes.csv").write_text("id,x,topic\n" + ROWS.replace("n3,4.5", "n3,").replace("n9,13.5", "n9,old"))
    (tmp_path / "edges.csv").write_text("source,target\nn1,n2\nn2,nobody\nn3,n4\n")
    done = dccgcn("doctor", *TABLES, "--impute", "error", cwd=tmp_path)
    assert done.returncode == 1
    for words in ("holds numbers except 'old', on line 11", "'nobody'", "40 nodes in", "8 of 40 nodes are labelled"):
        assert words in done.stdout
    assert done.stdout.count("error: ") == 2


def test_duplicates_unknown_ends_and_columns_are_listed_even_if_no_graph_can_be_made(tmp_path):
    (tmp_path / "nodes.csv").write_text("id,x,topic\na,1,u\na,2,v\nb,3,\n")
    (tmp_path / "edges.csv").write_text("source,target,weight\na,b,1\nb,zz,1\n")
    done = dccgcn("doctor", *TABLES, cwd=tmp_path)
    assert done.returncode == 1
    assert "'a' occurs 2 times" in done.stdout
    assert "'zz'" in done.stdout


def test_the_doctor_proposes_the_label(tmp_path):
    (tmp_path / "nodes.csv").write_text("id,x,kind\n" + ROWS)
    (tmp_path / "edges.csv").write_text("source,target\nn1,n2\n")
    assert "may hold the labels: --label kind" in dccgcn("doctor", *TABLES, cwd=tmp_path).stdout
    refused(dccgcn("fit", *TABLES, cwd=tmp_path), "looks like a label", "--label kind")


def test_an_empty_end_of_an_edge_does_not_hide_unknown_ones(tmp_path):
    nodes, edges = tmp_path / "n.csv", tmp_path / "e.csv"
    nodes.write_text("id,topic,x\na,u,1\nb,v,2\nc,,4\n")
    edges.write_text("source,target\na,b\na,z\nb,\n")
    _, problems = check_tables(nodes, edges, TableOptions(label="topic"))
    first, second = (problem.what for problem in problems)
    assert "empty, on line 4 of e.csv" in first
    assert "('z'), on line 3 of e.csv" in second


@pytest.mark.parametrize(
    ("n", "degree", "found"), [(300, 99, False), (300, 102, True), (2000, 199, False), (2000, 202, True)]
)
def test_a_hub_has_more_than_a_tenth_of_the_nodes_and_more_than_a_hundred(n, degree, found):
    graph = NodeGraph(np.eye(n, 3) + 1, [(0, i) for i in range(1, degree + 1)])
    assert ("hubs" in by_code(graph)) == found
