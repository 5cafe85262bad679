"""Two tables as a graph: cells are unchanged, guesses are reported, errors name the line."""

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn.errors import DataFileError, DccgcnError, GraphError
from dccgcn.graph import NodeGraph
from dccgcn.io.columns import to_numbers
from dccgcn.io.encoder import FeatureEncoder
from dccgcn.io.frames import read_table
from dccgcn.io.tables import read_tables
from dccgcn.io.write import csv_text, to_frames, write_tables
from tools import fuzz

NODES = """\
id,topic,title,age,country
007,graphs,"deep networks, for graphs",12,DE
x,,learning on graphs with few labels,15,DE
=3,food,cooking with many spices,44,FR
08,,spices for cooking at home,33,FR
"""
EDGES = "source,target\n007,x\n=3,08\nx,08\n"


@pytest.fixture
def tables(tmp_path):
    """Writes two tables and reads them."""

    def read(nodes=NODES, edges=EDGES, suffix=".csv", **options):
        paths = []
        for name, content in (("nodes", nodes), ("edges", edges)):
            paths.append(tmp_path / f"{name}{suffix}")
            paths[-1].write_bytes(content.encode() if isinstance(content, str) else content)
        return read_tables(*paths, **options)

    return read


def refused(read, *words, **options):
    with pytest.raises(DccgcnError) as caught:
        read(**options)
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)


def codes(graph):
    return [finding.code for finding in graph.findings]


def test_two_tables_give_a_graph(tables):
    read = tables()
    graph = read.graph
    assert graph.ids.tolist() == ["007", "x", "=3", "08"]
    assert graph.classes == ("food", "graphs")
    assert graph.labels.tolist() == [1, -1, 0, -1]
    assert graph.edges.tolist() == [[0, 1], [1, 3], [2, 3]]
    assert sp.issparse(graph.features)
    assert graph.name == "nodes.csv"
    assert dict(read.columns.features) == {"title": "text", "age": "standard", "country": "categorical"}


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
        id="id", label="topic", source="source", target="target", text=["title"], categorical=["country", "age"]
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


@pytest.mark.parametrize(
    "form", ["tsv", "gzip", "semicolon", "bom", "utf-16", "windows", "latin-1", "parquet", "frames"]
)
def test_every_form_of_a_table_gives_the_same_graph(tables, tmp_path, form):
    nodes, edges = NODES.replace("home", "cafés"), EDGES
    expected = tables(nodes, edges).graph
    match form:
        case "tsv":
            got = tables(
                nodes.replace(",", "\t").replace("networks\t", "networks,"), edges.replace(",", "\t"), suffix=".tsv"
            )
        case "gzip":
            got = tables(gzip.compress(nodes.encode()), gzip.compress(edges.encode()), suffix=".csv.gz")
        case "semicolon":
            got = tables(nodes.replace(",", ";").replace("networks;", "networks,"), edges.replace(",", ";"))
            assert codes(got.graph).count("delimiter") == 2
        case "bom":
            got = tables("\ufeff" + nodes, "\ufeff" + edges)
        case "utf-16":
            got = tables(nodes.encode("utf-16"), edges.encode("utf-16"))
        case "windows":
            got = tables(nodes.replace("\n", "\r\n"), edges.replace("\n", "\r\n"))
        case "latin-1":
            got = tables(nodes.encode("latin-1"), edges, encoding="latin-1")
        case _:
            frames = [read_table(tmp_path / f"{name}.csv", "x").frame for name in ("nodes", "edges")]
            frames[0] = frames[0].assign(age=frames[0]["age"].astype(int))
            if form == "parquet":
                for name, frame in zip(("nodes", "edges"), frames, strict=True):
                    frame.to_parquet(tmp_path / f"{name}.parquet")
                frames = [tmp_path / "nodes.parquet", tmp_path / "edges.parquet"]
            got = read_tables(*frames)
    assert got.graph.ids.tolist() == expected.ids.tolist()
    assert got.graph.edges.tolist() == expected.edges.tolist()
    assert got.graph.labels.tolist() == expected.labels.tolist()
    assert (got.graph.features != expected.features).nnz == 0


@pytest.mark.parametrize(
    "ids",
    [["01", "1", "001"], ["9007199254740993", "9007199254740992", "-5"], ["nan", "NA", "None"], ["1e3", "1000", "a b"]],
)
def test_ids_of_a_text_file_are_never_parsed(tables, ids):
    graph = tables(
        "id,y,f\n" + "".join(f"{i},{y},{f}\n" for i, y, f in zip(ids, "ab", "12", strict=False)) + f"{ids[2]},,3\n",
        f"a,b\n{ids[0]},{ids[1]}\n{ids[1]},{ids[2]}\n",
    ).graph
    assert graph.ids.tolist() == ids
    assert graph.edges.tolist() == [[0, 1], [1, 2]]


def test_64_bit_ids_with_gaps_survive_parquet_and_frames(tmp_path):
    ids = [2**62 + 1, 2**62 + 2, 5]
    nodes = pd.DataFrame({"id": ids, "y": ["a", "b", None], "f": [1.0, 2.0, 3.0]})
    edges = pd.DataFrame({"source": ids[:2], "target": ids[1:]})
    nodes.to_parquet(tmp_path / "n.parquet")
    edges.to_parquet(tmp_path / "e.parquet")
    for pair in ((nodes, edges), (tmp_path / "n.parquet", tmp_path / "e.parquet")):
        assert read_tables(*pair).graph.ids.tolist() == ids
    with pytest.raises(GraphError, match="floats too large to be exact"):
        read_tables(nodes.assign(id=[float(i) for i in ids]), edges)


def test_edges_find_their_nodes_whatever_the_type(tmp_path):
    nodes = pd.DataFrame({"id": [1, 2, 3], "y": ["a", "b", None], "f": [1.0, 2.0, 3.0]})
    for ends in ([1.0, 2.0], ["1", "2"], [1, 2]):
        graph = read_tables(nodes, pd.DataFrame({"u": ends, "v": [2, 3]})).graph
        assert graph.edges.tolist() == [[0, 1], [1, 2]]
        assert graph.ids.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("nodes", "edges", "options", "words"),
    [
        ("", EDGES, {}, ["nodes.csv is empty"]),
        ("\n\n", EDGES, {}, ["nodes.csv is empty"]),
        ("id,topic,f\n", EDGES, {}, ["nodes.csv has no rows"]),
        (NODES, "", {}, ["edges.csv is empty"]),
        (NODES + "a,b\nc,d,e,f,g,h\n", EDGES, {}, ["2 lines", "5 cells", "line 6 (2), line 7 (6)"]),
        (NODES.replace("x,,", 'x,,"'), EDGES, {}, ["Line 3", "malformed"]),
        (NODES + '"a"b,c,d,1,e\n', EDGES, {}, ["Line 6", "malformed"]),
        (NODES.encode() + b"\xff\xfe,,a,1,b\n", EDGES, {}, ["Line 6", "not utf-8 text", "latin-1"]),
        (NODES + "a\0,,b,1,c\n", EDGES, {}, ["Line 6", "NUL"]),
        (b"PK\x03\x04 something", EDGES, {}, ["Excel", "CSV"]),
        (b"PAR1 something", EDGES, {}, ["not a whole Parquet file"]),
        (gzip.compress(NODES.encode())[:-9], EDGES, {}, ["not a whole gzip file"]),
        (NODES.replace("country", "age"), EDGES, {}, ["share a name", "'age'"]),
        (NODES, EDGES, {"label": "topics"}, ["no column 'topics'", "Did you mean 'topic'?"]),
        (NODES, EDGES, {"id": "key"}, ["no column 'key' for the id", "Its columns are: 'id', 'topic'"]),
        (NODES, EDGES, {"features": ["w*"]}, ["no column 'w*'"]),
        (NODES, EDGES, {"id": "topic", "label": "topic"}, ["both id and label"]),
        (NODES, EDGES, {"encoding": "klingon"}, ["no encoding 'klingon'"]),
        (NODES, "source\n007\n", {}, ["edges.csv has 1 columns"]),
        (NODES, EDGES.removeprefix("source,target\n"), {}, ["is an edge, not a header"]),
        (NODES, EDGES, {"source": "source", "target": "source"}, ["both ends"]),
        (NODES, EDGES + "007,\n", {}, ["1 cells of column 'target' are empty", "line 5 of edges.csv"]),
        (NODES + ",a,b,1,c\n", EDGES, {}, ["column 'id' are empty", "line 6 of nodes.csv"]),
        (NODES + "7.0,,a,1,b\n7,,a,1,b\n", EDGES, {}, ["how a number is written", "'7.0', '7'"]),
        ("id,topic\na,x\nb,y\n", "u,v\na,b\n", {}, ["no feature columns"]),
        ("id,topic,link\na,x,http://a\nb,y,http://b\n", "u,v\na,b\n", {}, ["No column", "'link'"]),
        ("id,topic,f\na,x,?\nb,y,!\n", "u,v\na,b\n", {"text": ["f"]}, ["'f' holds no words"]),
    ],
)  # fmt: skip
def test_mistakes_are_named(tables, nodes, edges, options, words):
    refused(tables, *words, nodes=nodes, edges=edges, **options)


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(DataFileError, match="There is no file"):
        read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv")
    with pytest.raises(DataFileError, match="cannot be read"):
        read_tables(tmp_path, tmp_path)


def test_row_11_an_edge_to_an_unknown_id_is_named_by_its_line(tables):
    edges = EDGES + "007,nobody\n\nx,nobody\n"
    refused(tables, "2 edges", "'nobody'", "lines 5, 7 of edges.csv", "drop", edges=edges)
    graph = tables(edges=edges, unknown_ids="drop").graph
    assert graph.edges.tolist() == tables().graph.edges.tolist()
    assert "dropped-edges" in codes(graph)
    assert "lines 5, 7" in next(f.text for f in graph.findings if f.code == "dropped-edges")


@pytest.mark.parametrize(("end", "why"), [(" x", "blanks"), ("X", "capitals"), ("7.0", "a decimal point")])
def test_row_11_the_likely_reason_is_reported(tables, end, why):
    nodes = NODES + "7,,more graphs and networks,9,DE\n"
    refused(tables, f"by {why} only", nodes=nodes, edges=f"{EDGES}007,{end}\n")


def test_row_01_missing_numbers_are_named_or_imputed(tables):
    nodes = NODES.replace("44", "").replace("33", "inf")
    refused(tables, "2 features are missing or not finite, in columns 'age'", "line 4, 5", nodes=nodes)
    filled = tables(nodes, impute="mean", features=["age"])
    assert filled.graph.features.toarray()[2:, 0] == pytest.approx([0, 0])  # the mean, standardised
    zero = tables(nodes, impute="zero", features=["age"], scale=False)
    assert zero.graph.features.toarray()[:, 0].tolist() == [12, 15, 0, 0]


def test_row_10_a_weight_is_named_by_its_line(tables):
    for bad in ("0", "-1", "", "nan", "heavy"):
        edges = f"source,target,weight\n007,x,1\n=3,08,{bad}\n"
        refused(tables, "1 edge weights", "line 3 of edges.csv", edges=edges)
    assert tables(edges="source,target,weight\n007,x,2.5\n=3,08,1\n").graph.weights.tolist() == [2.5, 1]


def test_row_14_a_duplicate_id_is_named_by_its_lines(tables):
    refused(tables, "'x' occurs 2 times", "lines 3, 6 of nodes.csv", nodes=NODES + "x,,a,1,b\n")


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
    refused(tables, "fractions: 1.5", nodes="id,y,f\na,1.5,1\nb,2,2\n", edges="u,v\na,b\n")
    frame = pd.DataFrame(
        {"id": [1, 2, 3], "y": [0, 9, 1], "f": [1.0, 2.0, 3.0]}
    )  # the command line gives marks as text
    marked = read_tables(frame, pd.DataFrame({"u": [1], "v": [2]}), unlabelled=["9"]).graph
    assert (marked.classes, marked.labels.tolist()) == ((0, 1), [0, -1, 1])
    ambiguous = tables("id,y,f\na,x,1\nb,NA,2\nc,y,3\n", "u,v\na,b\n").graph
    assert "ambiguous-labels" in codes(ambiguous)


# features


def test_many_word_columns_stay_sparse_and_as_they_are(cora, tmp_path):
    write_tables(cora.graph, tmp_path)
    graph = read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv").graph
    assert graph.ids.tolist() == [str(i) for i in cora.graph.ids]
    assert sp.issparse(graph.features)
    assert (graph.features != cora.graph.features).nnz == 0
    assert np.array_equal(graph.edges, cora.graph.edges)
    assert [graph.classes[c] for c in graph.labels] == [cora.graph.classes[c] for c in cora.graph.labels]


def test_numbers_are_scaled_by_what_they_hold():
    n = 40
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(n), "flag": np.arange(n) % 2, "size": rng.normal(1000, 50, n)})
    frame["posts"] = np.where(np.arange(n) % 3, 0, 500)
    edges = pd.DataFrame({"u": [0, 1], "v": [1, 2]})
    read = read_tables(frame, edges)
    assert dict(read.columns.features) == {"flag": "as-is", "size": "standard", "posts": "max-abs"}
    x = read.graph.features.toarray()
    assert set(x[:, 0]) == {0, 1}
    assert x[:, 1].mean() == pytest.approx(0, abs=1e-5)
    assert x[:, 1].std() == pytest.approx(1, abs=1e-5)
    assert set(x[:, 2]) == {0, 1}
    counts = pd.DataFrame({f"w{j}": rng.poisson(0.2, n) for j in range(20)}).assign(id=range(n))
    assert set(read_tables(counts, edges).columns.features.values()) == {"as-is"}
    assert set(read_tables(frame, edges, scale=False).columns.features.values()) == {"as-is"}


def test_decimal_commas_are_reported(tables):
    nodes = "id;y;f;g\na;x;1,5;2\nb;y;2,25;3\nc;;-3,0;4\n"
    graph = tables(nodes, "u;v\na;b\n").graph
    assert "decimal-commas" in codes(graph)
    assert "decimal-commas" not in codes(tables().graph)


def test_blocks_of_several_kinds_have_equal_weight():
    n = 30
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(9)})
    frame["id"] = [f"n{i}" for i in range(n)]
    frame["text"] = [f"some words about subject {'abcde'[i % 5] * 3}" for i in range(n)]
    read = read_tables(frame, pd.DataFrame({"u": ["n0"], "v": ["n1"]}))
    x = read.graph.features.toarray()
    for block in (x[:, :9], x[:, 9:]):
        assert (block**2).sum() / n == pytest.approx(1, rel=1e-5)


def test_the_encoder_is_restored_from_json_and_encodes_new_nodes(tables, tmp_path):
    read = tables()
    encoder = FeatureEncoder.from_dict(json.loads(json.dumps(read.encoder.to_dict())))
    assert encoder == read.encoder
    frame = read_table(tmp_path / "nodes.csv", "nodes").frame
    assert (encoder.transform(frame) != read.graph.features).nnz == 0
    assert len(encoder.names) == read.graph.d
    new = pd.DataFrame(
        {"title": ["spices", "unheard of"], "age": ["25", 25.0], "country": ["XX", None], "more": [1, 2]}
    )
    x = encoder.transform(new).toarray()
    assert (x[:, encoder.names.index("country=DE")] == 0).all()
    assert x[0, encoder.names.index("title=spices")] > 0
    assert not x[1, [i for i, name in enumerate(encoder.names) if name.startswith("title=")]].any()
    with pytest.raises(GraphError, match="lacks columns that were there at training: 'country'"):
        encoder.transform(new.drop(columns="country"))
    with pytest.raises(GraphError, match="'age' holds cells that are not numbers: 'old'"):
        encoder.transform(new.assign(age=["old", 1]))
    for broken in ({}, {"form": 2}, {"form": 1, "numbers": {}}):
        with pytest.raises(DataFileError):
            FeatureEncoder.from_dict(broken)


def test_numbers_are_parsed_strictly():
    cells = pd.DataFrame({"x": ["1", " 2 ", "", "nan", None, "1e3", "x", "1,5", "1_0", True, 7, pd.NA]}, dtype=object)
    values, wrong = to_numbers(cells)
    assert wrong[:, 0].tolist() == [False] * 6 + [True] * 3 + [False] * 3
    np.testing.assert_array_equal(
        values[:, 0], [1, 2, np.nan, np.nan, np.nan, 1000, np.nan, np.nan, np.nan, 1, 7, np.nan]
    )


def test_fitting_and_transforming_at_once_gives_the_same_bits():
    rng = np.random.default_rng(2)
    words = np.array([f"word{'abcdefghij'[i % 10] * (1 + i // 10)}" for i in range(60)])
    n = 200
    frame = pd.DataFrame({"text": [" ".join(rng.choice(words, rng.integers(1, 30))) for _ in range(n)]})
    frame["country"], frame["age"] = rng.choice(["DE", "FR"], n), rng.normal(40, 10, n)
    for roles in ({"text": "text"}, {"text": "text", "country": "categorical", "age": "standard"}):
        encoder, fitted = FeatureEncoder.fit_transform(frame, roles)
        again = FeatureEncoder.from_dict(json.loads(json.dumps(encoder.to_dict()))).transform(frame)
        for part in ("data", "indices", "indptr"):
            assert getattr(fitted, part).tobytes() == getattr(again, part).tobytes()


# writing

cells = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda text: text.strip()
)


@settings(max_examples=60)
@given(st.lists(cells, min_size=2, max_size=6, unique=True), st.data())
def test_a_table_we_wrote_reads_back_as_itself(tmp_path_factory, ids, data):
    n = len(ids)
    not_a_mark = cells.filter(lambda c: c.strip() not in {"-1", "nan", "NaN", "None", "null", "NULL", "<NA>"})
    labels = data.draw(st.lists(st.none() | not_a_mark, min_size=n, max_size=n))
    features = np.eye(n) * data.draw(st.sampled_from([1, 0.1, 2.5e-7, 3e8]))
    ends = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(ends, ends), max_size=8))
    weights = data.draw(st.lists(st.sampled_from([1, 0.3, 7e-5]), min_size=len(edges), max_size=len(edges)))
    graph = NodeGraph(features, edges, labels, ids=ids, classes=sorted({y for y in labels if y}), edge_weights=weights)
    folder = tmp_path_factory.mktemp("written")
    write_tables(graph, folder)
    paths = (folder / "nodes.csv", folder / "edges.csv")
    for tables in (paths, to_frames(graph)):
        again = read_tables(*tables, id="id", label="label", scale=False, classes=graph.classes).graph
        assert again.ids.tolist() == ids
        assert again.classes == graph.classes
        assert again.labels.tolist() == graph.labels.tolist()
        assert np.array_equal(again.edges, graph.edges)
        assert np.array_equal(again.weights, graph.weights)
        assert np.array_equal(again.features.toarray(), graph.features)


def test_row_42_no_cell_that_we_write_is_a_formula():
    dangerous = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "'=1", "'x"]
    written = csv_text(pd.DataFrame({"id": dangerous, "=name": range(8), "number": [-1.5] * 8}))
    header, *rows = csv.reader(io.StringIO(written, newline=""))
    assert header == ["id", "'=name", "number"]
    assert [row[0] for row in rows] == [f"'{text}" for text in dangerous]
    assert {row[2] for row in rows} == {"-1.5"}


def test_hidden_labels_go_to_the_truth(cora, tmp_path):
    kept = np.array([3, 5])
    write_tables(cora.graph, tmp_path, kept)
    graph = read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv").graph
    assert graph.labelled.tolist() == kept.tolist()
    truth = pd.read_csv(tmp_path / "truth.csv")
    assert len(truth) == cora.graph.n - 2


# whatever is in a file


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_mutated_tables_end_in_a_graph_or_a_sentence(tmp_path: Path, start):
    outcomes = {fuzz.run(number, tmp_path) for number in range(start, start + 50)}  # anything else is raised
    assert {"graph"} < outcomes <= {"graph", "GraphError", "DataFileError", "SettingsError"}


def test_blanks_around_labels_are_no_classes_and_capitals_are_asked_about(tmp_path):
    (tmp_path / "n.csv").write_text("id,topic,x\n1, food ,1\n2,food,2\n3,Sport,3\n4,sport,5\n")
    (tmp_path / "e.csv").write_text("source,target\n1,2\n3,4\n")
    graph = read_tables(tmp_path / "n.csv", tmp_path / "e.csv", label="topic").graph
    assert graph.classes == ("Sport", "food", "sport")
    assert "'Sport', 'sport'" in next(f.text for f in graph.findings if f.code == "case-variant-labels")


def test_dates_links_and_names_are_no_text(tmp_path):
    nodes = pd.DataFrame(
        {
            "id": range(30),
            "date": [f"2015-03-{i + 1:02}" for i in range(30)],
            "link": [f"https://example.com/papers/{i}" for i in range(30)],
            "title": [f"a study of graphs and of the number {i}" for i in range(30)],
            "words": [f"graphs;nodes;edges;w{i}" for i in range(30)],
        }
    )
    made = read_tables(nodes, pd.DataFrame({"source": [0], "target": [1]}))
    assert dict(made.columns.features) == {"title": "text", "words": "text"}
    assert "'date', 'link'" in next(f.text for f in made.graph.findings if f.code == "ignored-columns")


def test_imputed_and_nearly_numeric_columns_are_reported():
    nodes = pd.DataFrame({"id": range(40), "x": [1.5, None, *range(38)], "year": [*map(str, range(39)), "n.d."]})
    edges = pd.DataFrame({"source": [0], "target": [1]})
    made = read_tables(nodes, edges, impute="mean")
    texts = {finding.code: finding.text for finding in made.graph.findings}
    assert "1 numbers in columns 'x'" in texts["imputed-features"]
    assert "'year' holds numbers except 'n.d.', on row 39" in texts["nearly-numbers"]
    with pytest.raises(GraphError, match=r"the table of nodes: .*'x'"):
        read_tables(nodes, edges)


def test_words_that_are_not_known_are_refused_and_a_single_name_is_a_list():
    nodes = pd.DataFrame({"id": range(4), "year": [1, 2, 3, 4], "other": [4, 3, 2, 1]})
    edges = pd.DataFrame({"source": [0], "target": [1]})
    with pytest.raises(GraphError, match="impute='median'"):
        read_tables(nodes, edges, impute="median")
    with pytest.raises(GraphError, match="unknown_ids='ignore'"):
        read_tables(nodes, edges, unknown_ids="ignore")
    assert list(read_tables(nodes, edges, features="year").columns.features) == ["year"]


def test_an_error_about_ids_lists_the_guesses():
    nodes = pd.DataFrame({"title": list("abcd"), "paper": range(4), "x": [1, 2, 3, 5]}).set_index("x", drop=False)
    edges = pd.DataFrame({"source": [0, 1], "target": [1, 9]})
    with pytest.raises(GraphError, match=r"\(0, 1, 9\)") as caught:
        read_tables(nodes, edges)
    assert "id 'title' of the table of nodes" in caught.value.remedy
    assert "reset_index" in caught.value.remedy
