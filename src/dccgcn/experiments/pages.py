"""What an experiment leaves behind: a Markdown page, the same as JSON, and pictures."""

import json
from typing import Any

import numpy as np

from dccgcn import datasets
from dccgcn.experiments import confidence, figures, theorems
from dccgcn.experiments.experiment import Experiment
from dccgcn.experiments.markdown import markdown_table, provenance
from dccgcn.experiments.measured import Missing, Rows, to_json
from dccgcn.experiments.tables import table_body

Files = dict[str, str | bytes]


def files_of(e: Experiment, rows: Rows, missing: Missing, command: str) -> Files:
    """Contents by file name."""
    drawn: dict[str, Any] = {}
    match e.kind:
        case "table":
            body, data = table_body(e, rows, missing), to_json(e, rows, missing)
        case "curves":
            body, data = table_body(e, rows, missing), to_json(e, rows, missing)
            drawn = {e.name: figures.curves(e, rows)}
        case "map":
            body, data = f"{table_body(e, rows, missing)}\n\n{purity_table(e, rows)}", to_json(e, rows, missing)
            data["maps"] = _maps(e, rows)
            drawn = (
                {e.name: figures.maps(e, rows, lambda name: datasets.load(name).graph.labels)} if data["maps"] else {}
            )
        case "surface":
            data = {"experiment": e.name, "title": e.title, **figures.surfaces()}
            body, drawn = ridge_table(data), {e.name: figures.surface(data)}
        case "theorems":
            body, data = theorems.theorems_body(e, rows, missing), theorems.theorems_json(e, rows)
        case "confidence":
            body, data = confidence.confidence_body(e, rows, missing), confidence.confidence_json(e, rows)
            drawn = {
                f"{e.name}-reliability": figures.reliability_diagrams(e, rows),
                f"{e.name}-risk": figures.risk_coverage_curves(e, rows),
            }
    files: Files = {f"{e.name}.json": json.dumps(data, indent=1) + "\n"}
    for name, figure in drawn.items():
        files |= {f"{name}.{kind}": content for kind, content in figures.saved(figure).items()}
    pictures = "\n\n".join(f"![{e.title}]({name}.svg)" for name in drawn)
    parts = [f"# {e.title}", f"The paper: {e.claim}" if e.claim else "", protocol(e), pictures, body, e.reading]
    parts.append(provenance(command, e.rows(rows)))
    files[f"{e.name}.md"] = "\n\n".join(part for part in parts if part) + "\n"
    return files


def protocol(e: Experiment) -> str:
    """How the numbers came about."""
    if not e.columns:
        return ""
    if all(column.is_drawn for column in e.columns):
        how = "class-balanced evaluation splits (seeds from 0), without validation, tested on all other labelled nodes"
    else:
        how = "Planetoid's public split with its 500 validation nodes and 1000 test nodes, one seed each"
    runs = f"Mean ± standard deviation over {e.runs} runs" if e.runs > 1 else "One run"
    return f"{runs} on {how}. Every system sees the same splits and has its published settings."


def purity_table(e: Experiment, rows: Rows) -> str:
    """How well the classes lie apart on the maps of Figure 6."""
    found = [(line.name, rows.get(e.keys.get((line.name, 0, 0), ""), {}).get("picture")) for line in e.lines]
    shown = [[name, f"{100 * picture['purity']:.1f}"] for name, picture in found if picture]
    return markdown_table(["map", "ten nearest nodes of the same class, %"], shown) if shown else ""


def _maps(e: Experiment, rows: Rows) -> dict[str, Any]:
    found = {line.name: rows.get(e.keys.get((line.name, 0, 0), ""), {}).get("picture") for line in e.lines}
    return {name: picture for name, picture in found.items() if picture}


def ridge_table(data: dict[str, Any]) -> str:
    """For some p1, the p2 at which each expression of Figure 7 is greatest; the paper says p2 = p1."""
    p1, p2 = np.array(data["p1"]), np.array(data["p2"])
    shown = []
    for name, by_classes in data["bounds"].items():
        for c, values in by_classes.items():
            z = np.array(values)
            at = [int(np.abs(p1 - p).argmin()) for p in (0.5, 0.6, 0.7, 0.8, 0.9)]
            shown.append([name, c, *(f"{p2[z[i].argmax()]:.2f} ({z[i].max():.3f})" for i in at)])
    header = [
        "p2 where the bound is greatest (its value)",
        "classes",
        *(f"p1 = {p}" for p in (0.5, 0.6, 0.7, 0.8, 0.9)),
    ]
    return markdown_table(header, shown)
