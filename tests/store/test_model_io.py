"""Model folders: to the bit and back, or refused with a remedy."""

import hashlib
import json
import random
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn import NodeGraph, Prediction, append_nodes, load_model, per_class, run
from dccgcn.errors import DataFileError, DccgcnError, Finding
from dccgcn.graph.splits import PARTS
from dccgcn.methods.base import get_method
from dccgcn.store.card import escape, model_card
from dccgcn.store.model_io import CARD, DESCRIPTION, TENSORS, read_run
from dccgcn.workflow.inductive import predict_new


def toy(seed=0, n=30, dense=False, **options):
    rng = np.random.default_rng(seed)
    features = rng.random((n, 5)) * (rng.random((n, 5)) < 0.5)
    features[0] = rng.random(5)
    labels = [["cat", "dog"][i % 2] if i < 6 else None for i in range(n)]
    edges = rng.integers(0, n, (2 * n, 2))
    given = {"labels": labels, "ids": [f"n{i}" for i in range(n)], **options}
    return NodeGraph(features if dense else sp.csr_array(features), edges, **given)


@pytest.fixture
def saved(tmp_path):
    result = run(toy(), method="ssgc", seed=3)
    result.save(tmp_path)
    return tmp_path, result


def same(one, other):
    """Two values are the same to the bit, types included."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if sp.issparse(one):
        parts = ("data", "indices", "indptr")
        return one.shape == other.shape and all(same(getattr(one, p), getattr(other, p)) for p in parts)
    if isinstance(one, np.ndarray) and one.dtype == object:
        return one.tolist() == other.tolist() and [type(x) for x in one] == [type(x) for x in other]
    if isinstance(one, np.ndarray):
        return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    return type(one) is type(other) and one == other


def same_result(one, other):
    arrays = ("features", "edges", "weights", "labels", "ids", "classes", "findings", "name")
    return (
        all(same(getattr(one.graph, name), getattr(other.graph, name)) for name in arrays)
        and all(same(getattr(one.split, part), getattr(other.split, part)) for part in PARTS)
        and all(same(getattr(one.prediction, f.name), getattr(other.prediction, f.name)) for f in fields(Prediction))
        and one.summary() == other.summary()
    )


def test_everything_of_a_dual_channel_run_comes_back(tmp_path, cora):
    split = per_class(cora.graph, 2, seed=0)
    options = {"epochs": 3, "hidden1": 8, "hidden2": 4}
    method = get_method("dcc-gcn")
    result = run(cora.graph, split, method, method.published_settings("cora", options))
    n = cora.graph.n
    full = replace(
        result.prediction,
        trust=np.linspace(0, 1, n),
        channel_weights={"topology": 0.1, "feature": 0.9},
        model={"empty": np.empty((0, 3)), "flags": np.array([True, False])},
        findings=(Finding("note", "odd", "so"),),
    )
    result = replace(result, prediction=full, seconds=1.5, threads=1, device="cuda")
    result.save(tmp_path)
    again = load_model(tmp_path)
    assert again.result.accuracy == result.accuracy
    assert same_result(result, again.result)
    pd.testing.assert_frame_equal(again.result.to_frame(), result.to_frame())
    again.result.save(tmp_path / "again")
    for file in (CARD, DESCRIPTION, TENSORS, "predictions.csv"):
        assert (tmp_path / file).read_bytes() == (tmp_path / "again" / file).read_bytes()


names = st.lists(
    st.one_of(st.integers(-(2**70), 2**70).filter(lambda i: i != -1), st.text(min_size=1), st.booleans()),
    min_size=2,
    max_size=4,
    unique_by=lambda name: str(name).strip(),
).filter(lambda names: all(str(name).strip() not in ("", "-1") for name in names))


@settings(max_examples=25)
@given(classes=names, n=st.integers(8, 20), dense=st.booleans(), seed=st.integers(0, 99), whole_ids=st.booleans())
def test_save_and_load_are_bitwise(tmp_path_factory, classes, n, dense, seed, whole_ids):
    labels = [classes[i % len(classes)] if i < 6 else None for i in range(n)]
    ids = [3 * i - 2**40 for i in range(n)] if whole_ids else [f"<{i}>\n" for i in range(n)]
    graph = toy(seed, n, dense, labels=labels, ids=ids)
    method = get_method("ssgc")
    result = run(graph, method=method, settings=method.settings(epochs=2), seed=seed)
    folder = tmp_path_factory.mktemp("model")
    result.save(folder)
    assert same_result(result, load_model(folder).result)


@pytest.mark.parametrize("method", ["concord", "dgcn", "sgc", "lp"])
def test_what_can_be_saved_can_be_loaded_at_the_bounds_of_numbers(tmp_path, method):
    graph = toy(dense=True)
    weights = np.where(np.arange(len(graph.edges)) % 3, 1.0, 9e14)
    large = NodeGraph(graph.features * 9e14, graph.edges, graph.labels, edge_weights=weights)
    result = run(large, method=method)
    result.save(tmp_path / "run")
    assert same_result(result, load_model(tmp_path / "run").result)
    beyond = replace(result.prediction, embeddings={"output": np.full((graph.n, 1), 1e16)})
    with pytest.raises(DataFileError, match="not between"):
        replace(result, prediction=beyond).save(tmp_path / "beyond")
    assert not (tmp_path / "beyond").exists()


def altered(folder, **changes):
    """The folder after model.json was edited and its hash corrected."""
    content = json.loads((folder / DESCRIPTION).read_text())
    content.pop("hash")
    content |= changes
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    (folder / DESCRIPTION).write_text(json.dumps({**content, "hash": digest}))


def test_row_40_a_folder_cut_short_anywhere_is_refused(saved):
    folder, _ = saved
    for file in (DESCRIPTION, TENSORS):
        whole = (folder / file).read_bytes()
        for length in (0, 7, 100, len(whole) // 2, len(whole) - 2):
            (folder / file).write_bytes(whole[:length])
            with pytest.raises(DataFileError, match=rf"{file}.*(cut short|altered).*train the model again"):
                load_model(folder)
        (folder / file).unlink()
        with pytest.raises(DataFileError, match=file):
            load_model(folder)
        (folder / file).write_bytes(whole)
    load_model(folder)


def test_row_40_a_single_altered_byte_is_refused(saved):
    folder, _ = saved
    rng = random.Random(0)
    for file in (DESCRIPTION, TENSORS):
        whole = (folder / file).read_bytes()
        for place in rng.sample(range(len(whole) - 1), 40):
            other = bytearray(whole)
            other[place] ^= 1 << rng.randrange(7)
            if file == DESCRIPTION and _same_json(whole, bytes(other)):
                continue  # white space
            (folder / file).write_bytes(other)
            with pytest.raises(DccgcnError):
                load_model(folder)
        (folder / file).write_bytes(whole)


def _same_json(one, other):
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


def test_row_40_another_version_is_refused_and_named(saved):
    folder, _ = saved
    altered(folder, format=9, dccgcn="9.1")
    with pytest.raises(DataFileError, match=r"model\.json is of format 9, saved by dccgcn 9\.1.*reads format 5"):
        load_model(folder)


@pytest.mark.parametrize("directed", [False, True])
def test_several_relations_come_back(tmp_path, directed):
    graph = toy()
    graph = graph.with_relations({"likes": graph.edges[:20], "pays": graph.edges[20:]}, directed)
    result = run(graph)
    result.save(tmp_path)
    read = read_run(tmp_path)
    assert same_result(result, read)
    assert read.graph.directed == directed
    assert same(read.graph.relations, graph.relations)
    larger = append_nodes(read.graph, read.graph.features[:1], {"pays": [(30, 1)]}, ids=["new"])
    assert len(predict_new(read, larger).y_pred) == 31
    altered(tmp_path, relations=["likes"])
    with pytest.raises(DataFileError, match="relations"):
        load_model(tmp_path)


def test_row_40_another_class_order_is_refused(saved):
    folder, _ = saved
    altered(folder, classes=["dog", "cat"])
    with pytest.raises(DataFileError, match="classes in another order"):
        load_model(folder)
    altered(folder, classes=["cat", "dog"])
    load_model(folder)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "no such"}, "no method"),
        ({"settings": {"k": 0}}, "k = 0"),
        ({"settings": {"of a later version": 1}}, "no option"),
        ({"findings": {}}, "findings.graph: Field required"),
        ({"split": {"dataset": "graph", "kind": "x", "seed": 0, "nodes": "others"}}, "other nodes"),
        ({"ids": ["a"] * 30}, "occurs 30 times"),
        ({"tables": {"encoder": {}, "columns": {}}}, "tables.columns.id: Field required"),
    ],
    ids=str,
)
def test_content_that_fits_nothing_is_refused(saved, changes, words):
    folder, _ = saved
    altered(folder, **changes)
    with pytest.raises(DccgcnError, match=words):
        load_model(folder)


def test_no_folder_and_no_model_say_so(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(DataFileError, match="There is no model in"):
            load_model(folder)


def test_the_card_says_what_it_was_trained_on_and_where_it_is_uncertain(cora):
    split = per_class(cora.graph, 2, seed=0)
    result = run(cora.graph, split, "ssgc")
    trust = np.full(cora.graph.n, 0.9)
    trust[result.prediction.y_pred == 0] = 0.2  # Theory
    text = model_card(replace(result, prediction=replace(result.prediction, trust=trust)))
    assert "2,708 nodes, 5,278 edges, 1,433 features, 14 labels" in text
    assert f"Accuracy on 2,694 test nodes: {result.accuracy:.1%}." in text
    assert "mean trust is below 0.5: Theory." in text
    assert "76 components, 218 nodes, hold no training label" in text
    doubtful = np.flatnonzero(trust < 0.5)
    doubtful = np.setdiff1d(doubtful, split.train)
    assert f"{len(doubtful):,} nodes with a trust below 0.5" in text
    assert "dccgcn predict THIS_FOLDER" in text
    quiet = model_card(run(cora.graph, split, "lp"))
    assert "probabilities are not calibrated" in quiet
    assert "dccgcn predict" not in quiet  # it cannot


def test_row_42_names_in_the_card_are_text_and_nothing_else():
    evil = "<script>alert(1)</script>|[x](http://a)\n# big \u202e" + "y" * 10_000
    shown = escape(evil)
    assert "<" not in shown
    assert "\n" not in shown
    assert "\u202e" not in shown
    assert "\\|\\[x\\]" in shown
    assert len(shown) < 200
    labels = [[evil, "dog"][i % 2] if i < 6 else None for i in range(30)]
    text = model_card(run(toy(labels=labels, ids=[f"<b>{i}" for i in range(30)], name=evil), method="ssgc"))
    assert "<script" not in text
    assert "<b>" not in text
