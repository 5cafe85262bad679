"""What users do with a Result: tables of predictions, files, databases, a saved run."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import dccgcn
from dccgcn import NodeGraph, Prediction, Split
from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.tables.read import read_tables
from helpers.runs import toy


@pytest.fixture(scope="module")
def tables():
    """Sixty pages with names, of two kinds, half of them labelled."""
    graph = toy()
    nodes = pd.DataFrame(graph.features, columns=["x", "y", "z"])
    nodes["page"] = [f"p{i}" for i in range(graph.n)]
    nodes["title"] = [f"Page {i}" for i in range(graph.n)]
    nodes["kind"] = np.where(np.arange(graph.n) % 3, "movie", "actor")
    nodes["topic"] = [graph.classes[k] if i % 2 else "" for i, k in enumerate(graph.labels)]
    edges = pd.DataFrame(nodes["page"].to_numpy()[graph.edges], columns=["source", "target"])
    return read_tables(nodes, edges, label="topic", name="title", classify="kind=movie", ignore=["title", "kind"])


@pytest.fixture(scope="module")
def result(tables):
    return dccgcn.run(tables, method="ssgc")


def test_tables_are_run_and_saved_with_the_way_they_were_read(result, tables, tmp_path):
    result.save(tmp_path / "run")
    model = dccgcn.load_model(tmp_path / "run")
    assert model.result.tables.columns == tables.columns
    assert model.result.graph.names.tolist() == tables.graph.names.tolist()
    assert model.result.graph.targets.tolist() == tables.graph.targets.tolist()
    pd.testing.assert_frame_equal(model.result.to_frame(), result.to_frame())
    new = pd.DataFrame({"page": ["q"], "title": ["A new page"], "x": [1.0], "y": [0.0], "z": [0.0]})
    found = model.predict(new, probabilities=True, abstain_below=0.5)
    assert found["name"].tolist() == ["A new page"]
    assert found.filter(like="probability_").sum(axis=1).tolist() == pytest.approx([1], abs=1e-5)


def test_only_nodes_of_the_chosen_kind_are_answered_for(result, tables):
    frame = result.to_frame()
    assert len(frame) == 40
    assert set(frame["node_id"]) == set(tables.graph.ids[tables.graph.targets])
    assert result.is_predicted.sum() == (frame["role"] == "unlabelled").sum() == 20
    suggested = dccgcn.suggest_labels(result.graph, result.prediction, result.split.train, 20)
    assert {s.position for s in suggested} <= set(np.flatnonzero(tables.graph.targets))


def test_names_stand_beside_the_ids_wherever_nodes_are_listed(result):
    assert result.to_frame()[["node_id", "name"]].values.tolist()[0] == ["p1", "Page 1"]
    (first,) = dccgcn.suggest_labels(result.graph, result.prediction, result.split.train, 1)
    assert first.to_json()["name"] == f"Page {first.node_id[1:]}"
    from dccgcn.report.data import report_data

    data = report_data(result)
    assert data.nodes.id[7] == "Page 7 (p7)"
    assert "Page 7" in data.predictions_csv
    assert data.label_next[0].id.startswith("Page ")


def test_every_class_has_its_probability_and_doubtful_answers_are_marked(result):
    frame = result.to_frame(probabilities=True, abstain_below=0.6)
    listed = frame[[f"probability_class {k}" for k in range(3)]]
    assert listed.sum(axis=1).to_numpy() == pytest.approx(1, abs=1e-5)
    winner = listed.columns[listed.to_numpy().argmax(axis=1)].str.removeprefix("probability_")
    assert (winner == frame["prediction"]).all()
    assert (frame["abstain"] == np.where(frame["probability"] < 0.6, "yes", "no")).all()
    assert not {"abstain", "probability_class 0"} & set(result.to_frame().columns)
    with pytest.raises(DccgcnError, match="between 0 and 1"):
        result.to_frame(abstain_below=60)


@pytest.mark.parametrize("ending", ["csv", "parquet", "sqlite", "duckdb"])
def test_predictions_are_written_as_files_and_databases(result, tmp_path, ending):
    path = tmp_path / f"answers.{ending}"
    expected = result.to_frame(probabilities=True)
    if ending == "duckdb":
        pytest.importorskip("duckdb", reason="duckdb is not installed")
    result.write(path, probabilities=True)
    match ending:
        case "csv":
            again = pd.read_csv(path, keep_default_na=False)
            result.save(tmp_path / "run", probabilities=True)
            assert path.read_text() == (tmp_path / "run" / "predictions.csv").read_text()
        case "parquet":
            again = pd.read_parquet(path)
        case _:
            with pytest.raises(DataFileError, match="has a table predictions already"):
                result.write(path)
            result.write(path, probabilities=True, overwrite=True)
            connect = sqlite3.connect if ending == "sqlite" else pytest.importorskip("duckdb").connect
            with closing(connect(str(path))) as database:
                rows = database.execute("SELECT * FROM predictions").fetchall()
            again = pd.DataFrame(rows, columns=expected.columns)
    assert again["node_id"].tolist() == expected["node_id"].tolist()
    assert again["name"].tolist() == expected["name"].tolist()
    np.testing.assert_allclose(again["probability_class 1"], expected["probability_class 1"], atol=1e-6)


def test_a_result_prints_five_lines(result, cora):
    shown = repr(result)
    assert len(shown.splitlines()) == 5
    assert len(shown) < 500
    assert "20 from 20 labels" in shown
    tested = dccgcn.run(cora.graph, dccgcn.per_class(cora.graph, 2, seed=0), "lp")
    assert "on 2,694 nodes" in repr(tested)


def test_a_notebook_shows_the_verdict_the_classes_and_a_small_map(result, cora):
    page = result._repr_html_()
    ElementTree.fromstring(page)  # well formed
    assert page.count("<circle") == 60
    assert "20 nodes of" in page
    assert "class 1" in page
    assert not {"<script", "http:", "https:"} & set(page.lower().split("'"))
    large = dccgcn.run(cora.graph, dccgcn.per_class(cora.graph, 2, seed=0), "lp")._repr_html_()
    ElementTree.fromstring(large)
    assert large.count("<circle") == 300
    assert len(large) < 100_000


def test_names_of_classes_cannot_add_markup_to_a_notebook():
    page = dccgcn.run(toy(names=["<b>", "a&b", "c"]), method="lp")._repr_html_()
    assert "&lt;b&gt;" in page
    ElementTree.fromstring(page)


def test_accuracy_before_and_after_correction_looks_at_the_right_test_nodes(result):
    graph = NodeGraph(np.eye(7), [(0, 1)], ["a"] * 6 + ["b"])
    split = Split.from_parts(graph, "mine", [5, 6], test=[0, 1, 2, 3, 4])
    one_hot = np.eye(2, dtype=np.float32)
    p = Prediction(
        one_hot[[1, 1, 1, 0, 0, 0, 1]],
        channels={"own": one_hot[[0, 1, 1, 1, 1, 1, 1]]},
        channels_agree=np.array([1, 1, 1, 0, 0, 1, 1], dtype=bool),
        uncorrected=one_hot[[0, 0, 1, 1, 0, 0, 1]],
        corrected=np.array([1, 0, 0, 0, 0, 1, 1], dtype=bool),
    )
    made = replace(result, graph=graph, split=split, prediction=p)
    assert (made.accuracy, made.macro_f1, made.channel_accuracy) == (0.4, pytest.approx(4 / 7), {"own": 0.2})
    assert (made.agreement, made.accuracy_high, made.corrected) == (0.6, pytest.approx(2 / 3), 0.2)
    assert (made.accuracy_low_before, made.accuracy_low_after) == (0.5, 1.0)
    everywhere = replace(made, prediction=replace(p, channels_agree=np.ones(7, dtype=bool)))
    assert (everywhere.agreement, everywhere.accuracy_low_before, everywhere.accuracy_low_after) == (1.0, None, None)
    untested = replace(made, split=Split.from_parts(graph, "mine", [5, 6]))
    assert (untested.accuracy, untested.macro_f1, untested.channel_accuracy, untested.corrected) == (
        None,
        None,
        {},
        None,
    )
    assert (untested.macro_f1, untested.agreement, untested.accuracy_high) == (None, None, None)
