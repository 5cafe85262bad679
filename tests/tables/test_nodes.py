"""Labels of tables."""

import re

import numpy as np
import pandas as pd
import pytest

from dccgcn.errors import GraphError
from dccgcn.tables.read import read_tables
from dccgcn.workflow.doctor import examine
from helpers.tables import codes, refused


@pytest.mark.parametrize(
    ("labels", "classes", "expected"),
    [
        (["1", "", "0", "-1"], (0, 1), [1, -1, 0, -1]),
        (["1.0", "", "0.0", "nan"], (0, 1), [1, -1, 0, -1]),
        (["a", "NaN", "b", "None"], ("a", "b"), [0, -1, 1, -1]),
        (["01", "", "02", ""], ("01", "02"), [0, -1, 1, -1]),
        (["True", "", "False", ""], ("False", "True"), [1, -1, 0, -1]),
        (["'=a", "", "b", ""], ("=a", "b"), [0, -1, 1, -1]),
    ],
)
def test_rows_16_and_22_labels_of_a_text_file(tables, labels, classes, expected):
    nodes = "id,y,f\n" + "".join(f"n{i},{y},{i}\n" for i, y in enumerate(labels))
    graph = tables(nodes, "a,b\nn0,n1\n").graph
    assert graph.classes == classes
    assert graph.labels.tolist() == expected


def test_rows_17_and_23_labels_that_are_asked_about(tables):
    nodes = "id,y,f\na,x,1\nb,-1,2\nc,y,3\n"
    refused(tables, "'-1'", "unlabelled", nodes=nodes, edges="u,v\na,b\n")
    assert tables(nodes, "u,v\na,b\n", unlabelled=["-1"]).graph.labels.tolist() == [0, -1, 1]
    refused(tables, "measurements", "1.5", label="y", nodes="id,y,f\na,1.5,1\nb,2,2\n", edges="u,v\na,b\n")
    frame = pd.DataFrame(
        {"id": [1, 2, 3], "y": [0, 9, 1], "f": [1.0, 2.0, 3.0]}
    )  # the command line gives marks as text
    marked = read_tables(frame, pd.DataFrame({"u": [1], "v": [2]}), unlabelled=["9"]).graph
    assert (marked.classes, marked.labels.tolist()) == ((0, 1), [0, -1, 1])
    ambiguous = tables("id,y,f\na,x,1\nb,NA,2\nc,y,3\n", "u,v\na,b\n").graph
    assert "ambiguous-labels" in codes(ambiguous)


def test_blanks_around_labels_are_no_classes_and_capitals_are_asked_about(tmp_path):
    (tmp_path / "n.csv").write_text("id,topic,x\n1, food ,1\n2,food,2\n3,Sport,3\n4,sport,5\n")
    (tmp_path / "e.csv").write_text("source,target\n1,2\n3,4\n")
    graph = read_tables(tmp_path / "n.csv", tmp_path / "e.csv", label="topic").graph
    assert graph.classes == ("Sport", "food", "sport")
    assert "'Sport', 'sport'" in next(f.text for f in graph.findings if f.code == "case-variant-labels")


PEOPLE = pd.DataFrame({"id": ["a", "b", "c", "d"], "y": ["x", "z", "", ""], "f": [0.5, 1.5, 2.5, 3.5]})
LINKS = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "d"]})


def test_unknown_classes_in_a_cell_are_warned_of():
    assert "ambiguous-labels" in codes(read_tables(PEOPLE.assign(y=["x", "z", "Unknown", "z"]), LINKS).graph)
    marked = read_tables(PEOPLE.assign(y=["x", "z", "Unknown", "z"]), LINKS, unlabelled=["Unknown"]).graph
    assert "ambiguous-labels" not in codes(marked)


def test_more_labels_come_from_a_table_of_their_own(tmp_path):
    PEOPLE.to_csv(tmp_path / "nodes.csv", index=False)
    (tmp_path / "more.csv").write_text("node_id,prediction,y\nc,x,z\na,x,w\nd,x,\n")
    for nodes in (PEOPLE, tmp_path / "nodes.csv"):
        graph = read_tables(nodes, LINKS, label="y", labels=tmp_path / "more.csv").graph
        assert [graph.classes[k] if k >= 0 else None for k in graph.labels] == ["w", "z", "z", None]
        assert "1 labels of" in next(f.text for f in graph.findings if f.code == "replaced-labels")
    pair = pd.DataFrame({"id": ["a", "d"], "answer": [1, 2]})  # all labels are there, under any name
    graph = read_tables(PEOPLE.drop(columns="y"), LINKS, label="topic", labels=pair).graph
    assert (graph.classes, graph.labels.tolist()) == ((1, 2), [0, -1, -1, 1])


def test_labels_of_unknown_nodes_are_refused():
    with pytest.raises(GraphError, match=r"1 labels are of ids that are not among the nodes \('q'\), on row 1"):
        read_tables(PEOPLE, LINKS, label="y", labels=pd.DataFrame({"id": ["a", "q"], "y": ["x", "x"]}))
    with pytest.raises(GraphError, match="Name the label column"):
        read_tables(PEOPLE.rename(columns={"y": "why"}), LINKS, labels=pd.DataFrame({"id": ["a"], "y": ["x"]}))


def test_only_nodes_of_one_kind_are_classified():
    nodes = PEOPLE.assign(kind=["movie", "actor", "movie", "actor"])
    graph = read_tables(nodes, LINKS, classify="kind=movie").graph
    assert graph.targets.tolist() == [True, False, True, False]
    assert graph.labels.tolist() == [0, -1, -1, -1]
    assert "labels-of-others" in codes(graph)
    with pytest.raises(GraphError, match=r"has kind=director.*'actor', 'movie'"):
        read_tables(nodes, LINKS, classify="kind=director")
    with pytest.raises(GraphError, match="COLUMN=VALUE"):
        read_tables(nodes, LINKS, classify="movie")


def test_names_of_nodes_are_kept():
    assert read_tables(PEOPLE, LINKS).graph.names is None
    named = read_tables(PEOPLE.assign(title=["A", "B", None, "D"]), LINKS, name="title").graph
    assert named.names.tolist() == ["A", "B", "", "D"]
    with pytest.raises(GraphError, match="no column 'titel' for the name"):
        read_tables(PEOPLE, LINKS, name="titel")


def labelled(given, n=60, **options):
    nodes = pd.DataFrame({"id": range(n), "age": np.arange(n) % 7, "kind": [given[i % len(given)] for i in range(n)]})
    return read_tables(nodes, pd.DataFrame({"u": [0], "v": [1]}), label="kind", **options).graph


@pytest.mark.parametrize("mark", ["?", "NA", "-", "unknown", "n/a"])
def test_a_column_full_of_marks_for_missing_labels_is_asked_about(mark, tables):
    labels = ["a", "b", mark, mark, mark]
    with pytest.raises(GraphError, match=rf"36 of 60 labels .* are '{re.escape(mark)}'.*--unlabelled"):
        labelled(labels)
    assert labelled(labels, unlabelled=[mark]).classes == ("a", "b")
    assert labelled(labels, unlabelled=[""]).c == labelled(labels, classes=["a", "b", mark]).c == 3
    assert labelled(["a", "b", "b", mark]).c == 3  # of few nodes: a class, with a warning


def test_labels_added_to_marks_replace_nothing():
    more = pd.DataFrame({"id": [2, 3], "kind": ["a", "b"]})
    graph = labelled(["a", "b", "?", "?"], unlabelled="?", labels=more)
    assert graph.labels[:4].tolist() == [0, 1, 0, 1]
    assert "replaced-labels" not in codes(graph)


@pytest.mark.parametrize("as_text", [True, False])
def test_measurements_are_no_labels_unless_they_are_binned(tables, as_text):
    values = (np.random.default_rng(0).gamma(2, 1000, 600) / 7).tolist()
    values[5] = None
    nodes = pd.DataFrame({"id": range(600), "age": range(600), "pay": values})
    edges = pd.DataFrame({"u": [0], "v": [1]})
    read = (
        (lambda **o: tables(nodes.to_csv(index=False), edges.to_csv(index=False), **o))
        if as_text
        else (lambda **o: read_tables(nodes, edges, **o))
    )
    with pytest.raises(GraphError, match=r"measurements, not classes: 599 different numbers.*--bins 5"):
        read(label="pay")
    graph = read(label="pay", bins=3).graph
    assert np.bincount(graph.labels + 1).tolist() == [1, 200, 200, 199]
    assert [name.split()[0] for name in graph.classes] == ["1:", "2:", "3:"]
    with pytest.raises(GraphError, match="measurements"):
        labelled([10 * i for i in range(300)], n=600)
    with pytest.raises(GraphError, match="measurements"):
        labelled([f"${1000 * i:,}" for i in range(300)], n=600)
    assert labelled(range(42), n=84).c == 42
    assert labelled([1, 1, 1, 2], bins=3).c == 2
    with pytest.raises(GraphError, match="are no numbers"):
        labelled(["a", "b"], bins=2)
    with pytest.raises(GraphError, match="bins=1 makes no classes"):
        labelled([1, 2], bins=1)


@pytest.mark.parametrize("labels", [["a", "b", "a;b"], ["a", "b", "b, a"], ["a|b", "b|c", "a|c"]])
def test_cells_with_several_labels_are_refused(labels):
    with pytest.raises(GraphError, match=r"name several classes: .*a column of yes and no"):
        labelled(labels)


def test_a_column_that_gives_the_label_away_is_named():
    n = 60
    nodes = pd.DataFrame({"id": range(n), "party": [["red", "blue", None][i % 3] for i in range(n)]})
    edges = pd.DataFrame({"u": [0], "v": [1]})
    nodes["colour"], nodes["seat"] = nodes["party"].map({"red": "#f00", "blue": "#00f"}), np.arange(n) // 4
    nodes["code"], nodes["age"] = np.arange(n) % 3, np.arange(n) % 5
    graph = read_tables(nodes, edges, label="party").graph
    (found,) = (finding.text for finding in graph.findings if finding.code == "label-given-away")
    assert found.startswith("Columns 'colour', 'code' of the table of nodes give the label away")
    assert "label-given-away" in [diagnosis.code for diagnosis in examine(graph)]
