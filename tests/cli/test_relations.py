"""Relations and direction on the command line, from tables to the saved model and new nodes."""

import json

import numpy as np
import pandas as pd
import pytest

from dccgcn import NodeClassifier, load_model
from dccgcn.cli.options import edge_files
from dccgcn.errors import DccgcnError
from helpers.command import dccgcn, refused, success

N = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of two groups: cites joins nodes of one group, likes any two; kinds.csv holds both."""
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)
    group = np.arange(N) % 2
    labels = np.where(np.arange(N) < 12, np.array(["even", "odd"])[group], "")
    pd.DataFrame({"id": [f"n{i}" for i in range(N)], "group": labels, "size": rng.normal(size=N)}).to_csv(
        folder / "nodes.csv", index=False
    )
    first = rng.integers(0, N, 240)
    same = group[first] + 2 * rng.integers(0, N // 2, 240)
    frames = {
        "cites": pd.DataFrame({"source": first, "target": same, "weight": 1 + np.arange(240) % 3}),
        "likes": pd.DataFrame({"source": first, "target": rng.integers(0, N, 240), "weight": 1}),
    }
    for name, frame in frames.items():
        frame = frame[frame.source != frame.target]
        frames[name] = frame.assign(source=[f"n{i}" for i in frame.source], target=[f"n{i}" for i in frame.target])
        frames[name].to_csv(folder / f"{name}.csv", index=False)
    pd.concat([frame.assign(kind=name) for name, frame in frames.items()]).to_csv(folder / "kinds.csv", index=False)
    pd.DataFrame({"id": ["new"], "size": [0.0]}).to_csv(folder / "more.csv", index=False)
    pd.DataFrame({"source": ["new"] * 4, "target": ["n20", "n22", "n24", "n26"], "weight": 1, "kind": "cites"}).to_csv(
        folder / "more-edges.csv", index=False
    )
    return folder


TWO = ("--edges", "cites.csv", "--edges", "likes.csv")
COLUMN = ("--edges", "kinds.csv", "--relation", "kind")


@pytest.fixture(scope="module")
def fitted(folder):
    done = success(
        "fit", "--nodes", "nodes.csv", *TWO, "--label", "group", "--out", "two", "--directed", "--json", cwd=folder
    )
    return json.loads(done.stdout)


def test_predictions_card_and_model_name_the_channels_of_each_relation(folder, fitted):
    columns = pd.read_csv(folder / "two/predictions.csv").columns
    assert {"prediction_cites.out.hop1", "prediction_cites.in.hop1", "prediction_likes.labels"} <= set(columns)
    card = (folder / "two/MODEL.md").read_text()
    assert "directed edges are of these relations: cites (2" in card
    assert "| cites.out.hop1 |" in card
    report = json.loads((folder / "two/report.json").read_text())
    assert {"cites.labels", "likes.in.hop2"} <= {channel["name"] for channel in report["channels"]}
    model = load_model(folder / "two")
    assert model.result.graph.directed
    assert list(model.result.graph.relations) == ["cites", "likes"]
    assert model.result.graph.relations["cites"].max() == 3


def test_files_and_a_column_give_the_same_predictions(folder, fitted):
    base = ("fit", "--nodes", "nodes.csv", "--label", "group", "--directed")
    success(*base, *COLUMN, "--out", "column", cwd=folder)
    assert (folder / "column/predictions.csv").read_bytes() == (folder / "two/predictions.csv").read_bytes()


def test_new_nodes_come_with_edges_of_a_relation(folder, fitted):
    new = ("--nodes", "more.csv", "--json")
    done = success("predict", "two", *new, "--edges", "cites=more-edges.csv", cwd=folder)
    assert json.loads(done.stdout)["predictions"][0]["prediction"] == "even"
    refused(
        dccgcn("predict", "two", *new, "--edges", "more-edges.csv", cwd=folder),
        "called 'more-edges'", "'cites', 'likes'", "--edges cites=FILE",
    )  # fmt: skip
    missing = pd.read_csv(folder / "more-edges.csv").drop(columns="weight")
    with pytest.raises(DccgcnError, match="no column 'weight' for the weight, as at training"):
        load_model(folder / "two").predict(folder / "more.csv", {"cites": missing})


def test_the_doctor_looks_at_each_relation(folder):
    done = success("doctor", "--nodes", "nodes.csv", *COLUMN, "--label", "group", "--no-check-labels", cwd=folder)
    assert "Relations: cites " in done.stdout
    assert "Relation cites: 100% of the edges between labelled nodes" in done.stdout
    assert "Relation likes: " in done.stdout


def test_other_methods_say_that_they_merge_relations(folder):
    base = ("--nodes", "nodes.csv", *TWO, "--label", "group")
    done = success("fit", *base, "--method", "lp", cwd=folder)
    assert "lp takes the relations 'cites', 'likes' as edges of one kind" in done.stderr
    success("compare", *base, "--methods", "lp,poisson", "--folds", "2", "--repeats", "1", cwd=folder)


def test_labels_are_asked_and_exported_for_relations(folder):
    base = ("label", "--nodes", "nodes.csv", *TWO, "--label", "group")
    success(*base, "--answers", "answers.csv", cwd=folder)
    assert "prediction_likes.hop1" in pd.read_csv(folder / "answers.csv").columns


def test_mistakes_name_the_option(folder):
    base = ("fit", "--nodes", "nodes.csv", "--label", "group")
    refused(dccgcn(*base, *TWO, "--relation", "kind", cwd=folder), "Each table of edges is a relation", "--relation")
    refused(dccgcn(*base, "--edges", "a=cites.csv", "--edges", "a=likes.csv", cwd=folder), "same name", "cites=FILE")
    refused(dccgcn(*base, "--edges", "a=missing.csv", cwd=folder), "no file missing.csv")
    refused(dccgcn("fit", "cora", "--directed"), "no direction", "--directed")
    refused(dccgcn("compare", "cora", "--methods", "lp", "--directed"), "without direction", "--directed")


def test_a_file_whose_name_has_an_equals_sign_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b.csv").touch()
    assert list(map(str, edge_files(["a=b.csv"]))) == ["a=b.csv"]
    assert {name: str(file) for name, file in edge_files(["x=b.csv", "y.csv.gz"]).items()} == {
        "x": "b.csv",
        "y": "y.csv.gz",
    }
    assert edge_files([]) is None


def test_the_estimator_takes_relations_and_direction():
    x, y = np.eye(8, dtype=np.float32), ["a", "b", "a", "b", None, None, None, None]
    edges = {"cites": [(0, 4), (1, 5), (2, 6), (3, 7)], "likes": [(4, 5)]}
    fitted = NodeClassifier(directed=True).fit(x, y, edges)
    assert {"cites.in.hop1", "likes.labels"} <= set(fitted.result_.prediction.channels)
    assert fitted.transduction_[4:].tolist() == ["a", "b", "a", "b"]
    assert fitted.predict(x[:1] * 0 + 0.5, {"cites": [(0, 8)]}).shape == (1,)
    one = NodeClassifier(directed=True).fit(x, y, edges["cites"])
    assert list(one.result_.graph.relations) == ["edges"]
    assert one.predict(x[:1] * 0 + 0.5, [(0, 8)]).shape == (1,)
