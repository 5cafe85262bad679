"""Texts as words, by their meaning, and both: accuracy on graphs whose nodes have a text.

python -m paper meaning             reads the tables of DCCGCN_DATA/tables and writes docs/results/meaning.md
python -m paper meaning --stored    writes the page from the runs in docs/results/runs.parquet
"""

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn import NodeGraph, read_tables, run
from dccgcn.datasets import data_folder
from dccgcn.graph import per_class
from dccgcn.quality import summary
from dccgcn.text import markdown_table
from dccgcn.workflow.runner import Row
from paper.pages import rendered
from paper.runs import stored_runs, write_study

STUDY = "meaning"
CELLS = {"webkb-cornell": (2, 5, 20), "webkb-wisconsin": (2, 5, 20), "debian": (3, 10)}  # labels per class
N_SPLITS = {"webkb-cornell": 10, "webkb-wisconsin": 10, "debian": 5}
FORMS = ("words", "meaning", "both")


@cache
def graph_of(name: str) -> NodeGraph:
    """All columns of the tables; the texts as words and by their meaning."""
    folder = data_folder() / "tables"
    if name == "debian":
        nodes, edges = folder / "debian-nodes.csv.gz", folder / "debian-edges.csv.gz"
        ends = {"source": "package", "target": "needs", "unknown_ids": "drop"}
        options = {"id": "package", "label": "section", "text": "description"}
        return read_tables(nodes, pd.read_csv(edges)[["package", "needs"]], **(options | ends)).graph
    table = pd.read_csv(folder / f"{name}.csv")
    known = set(table.node_id)
    pairs = [(a, b) for a, near in zip(table.node_id, table.neighbor_ids, strict=True) for b in ast.literal_eval(near)]
    edges = pd.DataFrame([(a, int(b)) for a, b in pairs if int(b) in known], columns=["source", "target"])
    nodes = table[["node_id", "raw_text", "category"]]
    return read_tables(nodes, edges, id="node_id", label="category", text="raw_text").graph


def measure(name: str, k: int, seed: int) -> Row:
    """Accuracy of Concord on one split with each form of the texts."""
    both = graph_of(name)
    split = per_class(both, k, seed, "half")
    forms = {"words": both.with_vectors(None), "meaning": both.with_features(both.vectors).with_vectors(None)}
    scores = {form: run(forms.get(form, both), split).accuracy for form in FORMS}
    return {"study": STUDY, "dataset": name, "amount": k, "seed": seed, **scores}


def page(runs: pd.DataFrame) -> str:
    """Accuracy by graph and number of labels."""
    rows = []
    for (name, k), own in runs.groupby(["dataset", "amount"], sort=False):
        rows.append([str(name), f"{k:g}", str(len(own)), *(str(summary(100 * own[form])) for form in FORMS)])
    header = ["graph", "labels per class", "splits", "words", "meaning", "both"]
    return rendered(STUDY, table=markdown_table(header, rows))


def main(out: Path, store: Path, stored: bool) -> None:
    """Measure, unless the stored runs are wanted, and write the page."""
    jobs = [(name, k, seed) for name, ks in CELLS.items() for k in ks for seed in np.arange(N_SPLITS[name]).tolist()]
    write_study(out, STUDY, None if stored else lambda: pd.DataFrame(stored_runs(store, STUDY, measure, jobs)), page)
