"""The command line: JSON, files, tables, errors with a remedy, exit codes."""

import json
import subprocess
import sys

import pandas as pd
import pytest
import yaml

from dccgcn import __version__
from dccgcn.cli.run_tables import print_scores
from dccgcn.graph.splits import Split, per_class
from dccgcn.report import load_data
from dccgcn.tables import read
from dccgcn.tables.write import write_tables
from dccgcn.workflow.fitting import run as train
from helpers.command import dccgcn, refused, success
from helpers.runs import QUICK, toy


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One quick run with a folder."""
    folder = tmp_path_factory.mktemp("run")
    done = success("fit", "cora", "--labels-per-class", "2", "--seed", "3", *QUICK, "--out", str(folder), "--json")
    return folder, json.loads(done.stdout)


def test_json_is_one_object_with_the_documented_keys(run):
    _, printed = run
    documented = "dataset method seed n_train n_test accuracy macro_f1 agreement accuracy_high accuracy_low_before"
    assert set(f"{documented} accuracy_low_after seconds".split()) <= set(printed)
    assert (printed["dataset"], printed["method"], printed["seed"]) == ("cora", "dcc-gcn", 3)
    assert (printed["n_train"], printed["n_test"]) == (14, 2694)
    assert printed["settings"]["epochs"] == 5
    assert printed["threads"] >= 1


def test_the_folder_holds_what_was_printed(run, cora):
    folder, printed = run
    stored = json.loads((folder / "result.json").read_text())
    assert stored == printed
    predictions = pd.read_csv(folder / "predictions.csv")
    assert predictions["node_id"].tolist() == cora.graph.ids.tolist()
    assert set(predictions["channels_agree"]) <= {"yes", "no"}
    assert predictions["probability"].between(0, 1).all()
    test = predictions[predictions["role"] == "test"]
    assert (test["prediction"] == test["label"]).mean() == pytest.approx(printed["accuracy"])
    agree = predictions["prediction_topology"] == predictions["prediction_features"]
    assert (agree == (predictions["channels_agree"] == "yes")).all()
    assert not ((predictions["corrected"] == "yes") & agree).any()
    assert yaml.safe_load((folder / "settings.yaml").read_text()) == {"format": 1, **printed["settings"]}
    assert Split.load(folder / "split.json", cora.graph).hash == printed["split"]["hash"]


def test_a_run_is_repeated_from_its_folder(run):
    folder, printed = run
    again = success(
        "fit", "cora", "--method", "dcc-gcn", "--seed", "3", "--settings", str(folder / "settings.yaml"),
        "--split", str(folder / "split.json"), "--json",
    )  # fmt: skip
    repeated = json.loads(again.stdout)
    assert {**repeated, "seconds": 0} == {**printed, "seconds": 0}


def test_report_renders_the_page_of_a_run_folder(run, tmp_path):
    folder, _ = run
    assert not (folder / "report.html").exists()  # only --report writes it
    success("report", str(folder), "--out", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    assert "2,694 nodes of cora were classified from 14 labels" in page
    assert "dccgcn fit cora --labels-per-class 2 --seed 3" in page


def test_the_table_of_nodes_is_read_once_and_its_rows_are_on_the_page(tmp_path, monkeypatch):
    write_tables(toy(40), tmp_path)
    tables_read, read_table = [], read.read_table
    monkeypatch.setattr(
        read, "read_table", lambda path, *rest: tables_read.append(path.name) or read_table(path, *rest)
    )
    success("fit", "--nodes", "nodes.csv", "--edges", "edges.csv", "--out", "run", "--report", cwd=tmp_path)
    assert tables_read == ["nodes.csv"]
    columns = load_data(tmp_path / "run").nodes.columns
    assert {column.name: column.cells for column in columns}["label"][:3] == pd.read_csv(tmp_path / "nodes.csv")[
        "label"
    ].tolist()[:3]


def test_the_tables_have_all_rows():
    done = success("fit", "cora", *QUICK, "--baseline", "gcn")
    for part in ("gcn, accuracy", "topology channel", "features channel", "channels agree", "disagree", "corrected"):
        assert part in done.stdout
    for part in ("before correction", "after correction", "macro-F1"):
        assert part in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "coraa"], ["coraa", "'cora'"]),
        (["fit", "cora", "--method", "dccgcn"], ["dccgcn", "dcc-gcn"]),
        (["fit", "cora", "--set", "kk=3"], ["kk"]),
        (["fit", "cora", "--set", "k=0"], ["k = 0"]),
        (["fit", "cora", "--method", "dcc-gcn", "--set", "m=0"], ["m = 0"]),
        (["fit", "cora", "--method", "gcn", "--set", "lr=-1"], ["lr = -1"]),
        (["fit", "cora", "--set", "k=5000"], ["5000", "2708"]),
        (["fit", "cora", "--set", "dropout"], ["dropout", "option=value"]),
        (["fit", "cora", "--label-rate", "0.01", "--labels-per-class", "2"], ["exclude"]),
        (["fit", "cora", "--label-rate", "2"], ["2.0"]),
        (["fit", "cora", "--labels-per-class", "500", "--small-classes", "error"], ["'Rule_Learning' (180)"]),
        (["fit", "cora", "--split", "nowhere.json"], ["nowhere.json", "public"]),
        (["fit", "cora", "--settings", "nowhere.yaml"], ["nowhere.yaml"]),
        (["compare", "cora", "--methods", "gcn,gnc"], ["gnc"]),
        (["datasets", "corra"], ["corra"]),
        (["report", "nowhere"], ["nowhere", "report.json", "--out"]),
    ],
)
def test_a_user_error_has_a_remedy(arguments, words, tmp_path):
    refused(dccgcn(*arguments, cwd=tmp_path), *words)


def test_datasets_and_methods_are_listed_as_json():
    listed = json.loads(dccgcn("datasets", "--json").stdout)
    assert {"cora", "citeseer", "pubmed", "acm", "flickr", "uai2010", "corafull"} <= {info["name"] for info in listed}
    assert json.loads(dccgcn("datasets", "cora", "--json").stdout)["pairs"] == 5278
    methods = json.loads(dccgcn("methods", "--json").stdout)
    assert {"dcc-gcn", "gcn"} <= {method["name"] for method in methods}
    assert all(method["summary"] and method["reference"] for method in methods)


def test_the_module_runs_as_a_program_and_help_needs_no_torch():
    code = "import sys, dccgcn.cli; sys.exit('torch' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=600).returncode == 0
    done = subprocess.run([sys.executable, "-m", "dccgcn", "fit", "-h"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0
    assert "--labels-per-class" in done.stdout


@pytest.mark.parametrize(("seconds", "is_shown"), [(0.0, False), (3.21, True)])
def test_seconds_of_compilation_are_shown(cora, capsys, seconds, is_shown):
    split = per_class(cora.graph, 2, seed=0)
    print_scores(train(cora.graph, split, "lp"), None, seconds)
    assert ("JIT compilation (cached)" in (shown := capsys.readouterr().out)) is is_shown
    assert ("3.2" in shown.splitlines()[-2]) is is_shown


def test_the_version_and_the_settings_of_a_method():
    assert dccgcn("--version").stdout.strip() == __version__
    assert "Number of propagation steps" in dccgcn("methods", "sgc").stdout
    found = json.loads(dccgcn("methods", "lp", "--json").stdout)
    assert not found["predicts_new_nodes"]
    assert {"name", "default", "meaning"} == set(found["settings"][0])
    refused(dccgcn("methods", "sgcc"), "Did you mean 'sgc'")


def test_a_comparison_needs_test_nodes(tmp_path):
    (tmp_path / "n.csv").write_text("id,label,x\n1,a,1\n2,b,2\n3,,3\n4,,5\n")
    (tmp_path / "e.csv").write_text("source,target\n1,3\n2,4\n")
    own = ["fit", "--nodes", str(tmp_path / "n.csv"), "--edges", str(tmp_path / "e.csv"), "--method", "lp"]
    refused(dccgcn(*own, "--baseline", "sgc"), "--baseline needs test nodes", "--hold-out")


def test_settings_of_another_method_are_named(tmp_path):
    success("fit", "cora", "--method", "lp", "--out", str(tmp_path / "run"))
    typed, again = (tmp_path / "run" / "settings.yaml").read_text().splitlines()[:2]
    assert typed == f"# dccgcn fit cora --method lp --out {tmp_path / 'run'}"
    assert "--method lp --seed 0 --settings settings.yaml --split split.json" in again
    refused(dccgcn("fit", "cora", "--settings", str(tmp_path / "run" / "settings.yaml")), "concord: There is no option")
