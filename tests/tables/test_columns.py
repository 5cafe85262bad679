"""Which column is which: ids, labels, ends of edges. Guesses are reported."""

import numpy as np
import pandas as pd
import pytest

from dccgcn.errors import GraphError
from dccgcn.tables.read import read_tables
from helpers.tables import codes


def test_guesses_are_reported_and_named_columns_are_not(tables):
    text = " ".join(finding.text for finding in tables().graph.findings)
    for guess in (
        "label 'topic'",
        "id 'id'",
        "source 'source'",
        "target 'target'",
        "text: 'title'",
        "categories: 'country'",
    ):
        assert guess in text
    named = tables(
        id="id",
        label="topic",
        source="source",
        target="target",
        text=["title"],
        categorical=["country", "age"],
        text_model="words",
    )
    assert named.graph.findings == ()


@pytest.mark.parametrize("name", ["paper_id", "paperId", "paper id", "id_paper"])
def test_an_id_is_known_by_its_name_wherever_it_stands(tables, name):
    lines = [line.split(",") for line in ("age,topic," + name, "3,graphs,a", "3,,b", "4,food,c", "5,,d")]
    got = tables("\n".join(",".join(line) for line in lines), "source,target\na,b\nc,d\n")
    assert got.graph.ids.tolist() == ["a", "b", "c", "d"]
    assert f"id '{name}'" in got.graph.findings[0].text
    assert got.columns.features.keys() == {"age"}


def test_unused_edge_columns_are_reported(tables):
    got = tables(edges="source,target,since,weight\n007,x,2001,2\nx,08,2002,3\n")
    (unused,) = (finding for finding in got.graph.findings if finding.code == "unused-columns")
    assert unused.text.startswith("Columns 'since' of edges.csv were not used; --weight")
    assert got.graph.weights.tolist() == [2, 3]


def test_words_that_are_not_known_are_refused_and_a_single_name_is_a_list():
    nodes = pd.DataFrame({"id": range(4), "year": [1, 2, 3, 4], "other": [4, 3, 2, 1]})
    edges = pd.DataFrame({"source": [0], "target": [1]})
    with pytest.raises(GraphError, match="impute='median'"):
        read_tables(nodes, edges, impute="median")
    with pytest.raises(GraphError, match="unknown_ids='ignore'"):
        read_tables(nodes, edges, unknown_ids="ignore")
    assert list(read_tables(nodes, edges, features="year").columns.features) == ["year"]


def test_an_error_about_ids_lists_the_guesses():
    nodes = pd.DataFrame({"title": list("abcd"), "paper": range(4), "x": [1.5, 2, 3, 5]})
    edges = pd.DataFrame({"source": [0, 1], "target": [1, 9]})
    with pytest.raises(GraphError, match=r"\(9\)") as caught:
        read_tables(nodes, edges)
    assert "id 'paper' of the table of nodes" in caught.value.remedy


PAGES = pd.DataFrame({"page": [2, 0, 1, 3, 4], "likes": [7.5, 8.5, 9.5, 1.5, 2.5], "topic": ["a", "", "b", "", ""]})
LINKS = pd.DataFrame({"source": [0, 1, 2, 3], "target": [1, 2, 3, 4]})


def test_the_index_that_pandas_writes_is_neither_id_nor_feature(tmp_path):
    PAGES.to_csv(tmp_path / "nodes.csv")  # with its row numbers, which fit the edges too, in a column without a name
    LINKS.to_csv(tmp_path / "edges.csv")
    for nodes, edges in (
        (tmp_path / "nodes.csv", tmp_path / "edges.csv"),
        (pd.read_csv(tmp_path / "nodes.csv"), pd.read_csv(tmp_path / "edges.csv")),
    ):
        read = read_tables(nodes, edges)
        assert read.columns.id == "page"
        assert tuple(vars(read.columns.edges[""]).values())[:2] == ("source", "target")
        assert list(read.columns.features) == ["likes"]
        assert "unnamed-columns" in codes(read.graph)


def test_ids_in_a_column_without_a_name_are_asked_about(tmp_path):
    PAGES.drop(columns="page").to_csv(tmp_path / "nodes.csv")
    LINKS.to_csv(tmp_path / "edges.csv", index=False)
    with pytest.raises(GraphError, match=r"no name: 'column_1'.*--id column_1"):
        read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv")
    assert read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv", id="column_1").graph.n == 5


def test_two_columns_that_fit_the_edges_are_a_question():
    nodes = PAGES.assign(rank=[4, 3, 2, 1, 0])
    with pytest.raises(GraphError, match=r"Columns 'page', 'rank' .* all fit the ids of the edges.*--id page"):
        read_tables(nodes, LINKS)
    assert read_tables(nodes, LINKS, id="page").graph.ids.tolist() == [2, 0, 1, 3, 4]
    assert read_tables(nodes.rename(columns={"rank": "id"}), LINKS).columns.id == "id"
    assert read_tables(PAGES.assign(same=PAGES["page"]), LINKS).columns.id == "page"


@pytest.mark.parametrize("other", ["name", "dept_id", "node"])
def test_an_id_is_unique_whatever_other_columns_are_called(other):
    nodes = PAGES.rename(columns={"page": "member"})
    nodes.insert(0, other, [1, 1, 2, 2, 1])
    assert read_tables(nodes, LINKS).columns.id == "member"


def test_what_covers_the_edges_best_is_the_id():
    nodes = PAGES.assign(code=[2, 10, 11, 12, 13])
    assert read_tables(nodes, pd.DataFrame({"u": [0, 1], "v": [2, 9]}), unknown_ids="drop").columns.id == "page"


def test_edges_that_all_lead_elsewhere_are_an_error_even_if_such_edges_are_dropped():
    with pytest.raises(GraphError, match="not among the nodes"):
        read_tables(PAGES, LINKS + 100, unknown_ids="drop")


def test_a_column_that_looks_like_the_label_is_proposed_and_no_feature():
    nodes = pd.DataFrame({"id": range(20), "x": range(20), "kind": ["a", "b"] * 3 + [""] * 14})
    read = read_tables(nodes, pd.DataFrame({"source": [0], "target": [1]}))
    assert list(read.columns.features) == ["x"]
    assert "--label kind" in next(f.text for f in read.graph.findings if f.code == "possible-labels")


def test_ids_and_ends_are_chosen_together_whichever_of_them_is_named():
    flights = pd.DataFrame({"src": ["ELY", "RIO"], "dst": ["OSL", "ELY"], "src_id": [507, 612], "dst_id": [715, 507]})
    airports = pd.DataFrame(
        {"airport_id": [507, 612, 715, 803], "code": ["ELY", "RIO", "OSL", "BRN"], "feet": [5, 9, 7, 8]}
    )
    for options, found in (
        ({}, ("airport_id", "src_id", "dst_id")),
        ({"id": "code"}, ("code", "src", "dst")),  # edges given by name
        ({"source": "dst"}, ("code", "dst", "src")),
        ({"target": "dst_id"}, ("airport_id", "src_id", "dst_id")),
    ):
        read = read_tables(airports, flights, **options)
        columns = read.columns
        assert "4 of 4 ends of edges are ids of nodes" in read.graph.findings[0].text
        assert (columns.id, columns.edges[""].source, columns.edges[""].target) == found
    paid = pd.DataFrame({"ts": [7, 8, 9, 6], "amount": [1, 2, 2, 1], "payer": [1, 2, 3, 4], "payee": [3, 4, 1, 2]})
    people = pd.DataFrame({"person": [1, 2, 3, 4], "age": [30.5, 40, 50, 60]})
    columns = read_tables(people, paid).columns  # each amount is an id by chance, but few are
    assert (columns.id, columns.edges[""].source, columns.edges[""].target) == ("person", "payer", "payee")


def test_ids_of_a_frame_may_be_its_index(tables):
    nodes = pd.DataFrame({"age": [30, 40, 50, 60], "kind": ["a", None, "b", "a"]}, index=[11, 12, 13, 14])
    edges = pd.DataFrame({"u": [11, 12], "v": [13, 14]})
    for frame in (nodes, nodes.rename_axis("person"), nodes.set_axis(list("abcd")).assign(k=nodes.index)):
        tables = read_tables(frame, edges, label="kind")
        assert tables.graph.ids.tolist() == [11, 12, 13, 14]
        assert list(tables.columns.features) == ["age"]
    assert list(read_tables(nodes.assign(id=nodes.index)[nodes["age"] > 0], edges).columns.features) == ["age"]


def test_an_adjacency_matrix_is_no_table_of_edges():
    nodes = pd.DataFrame({"id": range(10), "x": range(10)})
    with pytest.raises(GraphError, match=r"looks like an adjacency matrix.*a row for each edge"):
        read_tables(nodes, pd.DataFrame(np.eye(10)))


def test_measurements_that_are_called_like_labels_are_features(tables):
    nodes = "id,y,class\n" + "".join(f"n{i},{i / 7},{'ab'[i % 2]}\n" for i in range(20))
    read = tables(nodes, "source,target\nn0,n1\n")
    assert (read.columns.label, list(read.columns.features)) == ("class", ["y"])
