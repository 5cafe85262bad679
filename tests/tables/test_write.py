"""Tables that are written."""

import csv
import io

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn.graph import NodeGraph
from dccgcn.tables.read import read_tables
from dccgcn.tables.write import csv_text, to_frames, write_frames, write_tables

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


def test_hidden_labels_go_to_the_truth(small_cora, tmp_path):
    cora = small_cora
    kept = np.array([3, 5])
    write_tables(cora.graph, tmp_path, kept)
    graph = read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv").graph
    assert graph.labelled.tolist() == kept.tolist()
    truth = pd.read_csv(tmp_path / "truth.csv")
    assert len(truth) == cora.graph.n - 2
    write_tables(NodeGraph(np.eye(4), [(0, 1)], ["a", "b", "a", None]), tmp_path / "some", np.array([0]))
    assert (tmp_path / "some" / "truth.csv").read_text().splitlines() == [
        "id,label",
        "1,b",
        "2,a",
    ]


def test_csv_in_blocks_of_rows_is_the_same_text(monkeypatch):
    frame = pd.DataFrame(
        {
            "id": ["=x", "y", None, 'z"q', "é\n"],
            "=b": [1, 2, 3, 4, 5],
            "part": [1.5, np.nan, 2, 3, 4],
            "label": pd.Series([1, None, 2, 3, 4], dtype=object),
            "whole": pd.array([1, None, 2, 3, 4], dtype="Int64"),
            "mixed": pd.Series(["a", 1, 2.5, None, True], dtype=object),
        }
    )
    frames = [frame, frame.assign(id=["a", "b", "c", "d", "e\r"]), frame.iloc[:0], frame.set_axis([7, 3, 3, 1, 0])]
    whole = [csv_text(rows, float_format="%.6f") for rows in frames]
    monkeypatch.setattr("dccgcn.tables.write._CSV_ROWS", 2)
    assert [csv_text(rows, float_format="%.6f") for rows in frames] == whole


def test_parquet_is_written_in_pieces(tmp_path, monkeypatch):
    frame = pd.DataFrame({"id": [f"n{i}" for i in range(34)], "topic": ["a", None] * 17, "x": np.arange(34.0)})
    monkeypatch.setattr("dccgcn.tables.write._PARQUET_ROWS", 7)
    write_frames({"nodes": frame}, tmp_path / "nodes.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "nodes.parquet"), frame, check_dtype=False)
