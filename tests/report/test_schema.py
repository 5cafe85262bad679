"""The schema of the report's data: what is generated from it, and how a stored report is checked against it."""

import json
from pathlib import Path

import pytest
from report_schema import COMMAND, generated

from dccgcn.errors import DataFileError
from dccgcn.graph.splits import per_class
from dccgcn.report.data import report_data
from dccgcn.report.store import load_data
from dccgcn.workflow.fitting import run
from helpers.runs import dual, toy

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def data():
    graph = toy()
    return report_data(dual(run(graph, per_class(graph, 3, seed=0), "lp")))


@pytest.mark.parametrize("path", generated(ROOT), ids=lambda path: path.name)
def test_generated_files_are_up_to_date(path):
    assert path.read_text(encoding="utf-8") == generated(ROOT)[path], f"stale; run: {COMMAND}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "not a report"),
        (b"[]", "not a report"),
        (b"\xff\xfe", "not a report"),
        (b"[" * 100_000, "not a report"),
        (b'{"format": "two"}', "not a report"),
        (b'{"format": 1}', r"format 1; this version reads format 4.*dccgcn fit"),
        (b'{"format": 4}', "headline: Field required"),
    ],
)
def test_other_files_are_refused_with_a_sentence(content, words, tmp_path):
    (tmp_path / "report.json").write_bytes(content)
    with pytest.raises(DataFileError, match=words):
        load_data(tmp_path)


def test_a_missing_file_is_refused_with_a_sentence(tmp_path):
    with pytest.raises(DataFileError, match=r"no report\.json"):
        load_data(tmp_path / "nowhere")
    (tmp_path / "report.json").mkdir()
    with pytest.raises(DataFileError, match="not a regular file"):
        load_data(tmp_path)


def test_an_old_report_beside_a_model_can_be_made_again(tmp_path):
    (tmp_path / "report.json").write_text('{"format": 1}')
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(DataFileError, match=r"Delete report\.json and run 'dccgcn report"):
        load_data(tmp_path)


def _set(*path_and_value):
    *path, last, value = path_and_value

    def alter(data):
        for key in path:
            data = data[key]
        data[last] = value

    return alter


@pytest.mark.parametrize(
    ("alter", "words"),
    [
        (_set("nodes", "prediction", 0, 3), "nodes.prediction: no such class"),
        (_set("nodes", "prediction", 0, "0"), "nodes.prediction.0"),
        (_set("nodes", "label", 0, -2), "nodes.label"),
        (_set("nodes", "role", 0, 9), "nodes.role"),
        (_set("nodes", "confidence", [1]), "differ in length"),
        (_set("nodes", "neighbours", 0, [60]), "nodes.neighbours"),
        (_set("nodes", "community", 0, 99), "nodes.community"),
        (_set("nodes", "columns", [{"name": "a", "cells": []}]), "differ in length"),
        (_set("nodes", "class_probabilities", {}), "a channel is missing"),
        (_set("nodes", "class_probabilities", "final", "classes", [0]), "nodes.class_probabilities"),
        (_set("nodes", "class_probabilities", "final", "classes", 0, 7), "nodes.class_probabilities"),
        (_set("channel_contingency", [[1]]), "channel_contingency"),
        (_set("map", "edges", [0, 60]), "map.edges"),
        (_set("map", "x", []), "map: lengths"),
        (_set("map", "nodes", 0, -1), "map: no such node"),
        (_set("run", "seconds", float("nan")), "run.seconds"),
        (_set("run", "settings", 0, "value", None), "run.settings.0.value"),
        (_set("trust", "basis", "hope"), "trust.basis"),
        (_set("calibration", "accuracy", 2), "calibration.accuracy"),
        (_set("extra", 1), "extra"),
    ],
)
def test_altered_data_are_refused_with_the_field(alter, words, data, tmp_path):
    content = json.loads(data.to_json())
    alter(content)
    (tmp_path / "report.json").write_text(json.dumps(content))
    with pytest.raises(DataFileError, match=words):
        load_data(tmp_path)
