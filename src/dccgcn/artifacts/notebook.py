"""A run in a notebook: five lines of text, or a short HTML summary with the verdict, the classes and a small map."""

from html import escape

import numpy as np

from dccgcn.artifacts.report.layout import force_layout
from dccgcn.artifacts.report.trust_summary import summarise_trust, trusted_nodes, verdict
from dccgcn.palette import colours
from dccgcn.text import first_few, printable, truncate
from dccgcn.workflow.class_summary import class_counts
from dccgcn.workflow.run import Run

_MAP_NODES, _MAP_EDGES = 300, 900  # drawn at most
_SIZE = 260  # of the map, in pixels
_MOST_CLASSES = 12  # rows of the table


def summary_text(run: Run) -> str:
    """Five lines: what was run, the graph, the predictions, the test, the findings."""
    graph, train, predicted = run.graph, run.split.train, run.is_predicted
    trust = run.prediction.trust
    right = f", {trust[predicted].mean():.1%} expected right" if trust is not None and predicted.any() else ""
    tested = "none; hold some labels out to measure the accuracy"
    if run.accuracy is not None:
        tested = f"accuracy {run.accuracy:.1%}, macro-F1 {run.macro_f1 or 0:.1%} on {len(run.split.test):,} nodes"
    warned = [finding.code for finding in run.findings if finding.level == "warning"]
    return "\n".join(
        [
            f"Result of {run.method} on {truncate(printable(graph.name), 60)!r}, {run.seconds:.1f} s",
            f"  graph:       {graph.n:,} nodes, {len(graph.edges):,} edges, {graph.d:,} features, {graph.c} classes",
            f"  predictions: {int(predicted.sum()):,} from {len(train):,} labels{right}",
            f"  test:        {tested}",
            f"  warnings:    {first_few(warned) if warned else 'none'}",
        ]
    )


def summary_html(run: Run) -> str:
    """The verdict, a table of the classes, and a map of a sample of the nodes. No scripts, no files, no network."""
    trust = summarise_trust(run, trusted_nodes(run))
    sentences = "".join(f"<p style='margin:0 0 .4em'>{escape(text)}</p>" for text in verdict(run, trust))
    warned = [finding.text for finding in run.findings if finding.level == "warning"]
    listed = "".join(f"<li>{escape(text)}</li>" for text in warned[:5])
    warnings = f"<details><summary>{len(warned)} warnings</summary><ul>{listed}</ul></details>" if warned else ""
    return (
        f"<div style='display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start'>"
        f"<div style='max-width:34em'><b>{escape(run.method)} on {escape(printable(run.graph.name))}</b>"
        f"{sentences}{_class_table(run)}{warnings}</div>{_map(run)}</div>"
    )


def _class_table(run: Run) -> str:
    rows = sorted(class_counts(run.graph, run.split, run.prediction), key=lambda row: -row["predicted"])
    palette = dict(zip(map(str, run.graph.classes), colours(run.graph.c), strict=True))
    cells = []
    for row in rows[:_MOST_CLASSES]:
        trust = "–" if row["expected_accuracy"] is None else f"{row['expected_accuracy']:.1%}"
        dot = f"<span style='color:{palette[row['class']]}'>●</span>"
        name = escape(truncate(printable(row["class"]), 40))
        numbers = f"<td>{row['labels']:,}</td><td>{row['predicted']:,}</td><td>{trust}</td>"
        cells.append(f"<tr><td style='text-align:left'>{dot} {name}</td>{numbers}</tr>")
    more = f"<tr><td>… {len(rows) - _MOST_CLASSES} more</td></tr>" if len(rows) > _MOST_CLASSES else ""
    head = "<tr><th style='text-align:left'>class</th><th>labels</th><th>predicted</th><th>expected right</th></tr>"
    return f"<table>{head}{''.join(cells)}{more}</table>"


def _map(run: Run) -> str:
    """An SVG of a random sample of the nodes with their edges, coloured by class; training labels have a black rim."""
    graph, rng = run.graph, np.random.default_rng(0)
    nodes = np.arange(graph.n)
    if graph.n > _MAP_NODES:  # whole neighbourhoods: a random sample would have hardly any edges
        nodes = _neighbourhood(run, rng)
    index = np.full(graph.n, -1)
    index[nodes] = np.arange(len(nodes))
    ends = index[graph.edges]
    ends = ends[(ends >= 0).all(axis=1)]
    if len(ends) > _MAP_EDGES:
        ends = ends[np.sort(rng.choice(len(ends), _MAP_EDGES, replace=False))]
    position = 8 + (_SIZE - 16) * force_layout(graph.adjacency[nodes][:, nodes])
    lines = "".join(f"M{x1:.0f} {y1:.0f}L{x2:.0f} {y2:.0f}" for (x1, y1), (x2, y2) in position[ends])
    palette, is_train = colours(graph.c), np.isin(nodes, run.split.train)
    dots = "".join(
        f"<circle cx='{x:.0f}' cy='{y:.0f}' r='3' fill='{palette[run.prediction.y_pred[node]]}'"
        f" stroke='{'black' if train else 'none'}'/>"
        for (x, y), node, train in zip(position, nodes, is_train, strict=True)
    )
    which = "all nodes" if len(nodes) == graph.n else f"{len(nodes)} of {graph.n:,} nodes"
    return (
        f"<figure style='margin:0'><svg width='{_SIZE}' height='{_SIZE}' role='img' aria-label='Map of {which}'>"
        f"<path d='{lines}' stroke='#999' stroke-opacity='.4' fill='none'/>{dots}</svg>"
        f"<figcaption style='font-size:small'>Map of {which}; a rim marks training labels.</figcaption></figure>"
    )


def _neighbourhood(run: Run, rng: np.random.Generator) -> np.ndarray:
    """Nodes reached from random training nodes, hop by hop, until there are enough."""
    graph = run.graph
    chosen = np.zeros(graph.n, dtype=bool)
    starts = run.split.train if len(run.split.train) <= 20 else rng.choice(run.split.train, 20, replace=False)
    chosen[starts] = True
    while (left := _MAP_NODES - int(chosen.sum())) > 0:
        near = np.flatnonzero((graph.adjacency @ chosen.astype(np.float32) > 0) & ~chosen)
        near = near if len(near) else np.flatnonzero(~chosen)
        chosen[near if len(near) <= left else rng.choice(near, left, replace=False)] = True
    return np.flatnonzero(chosen)
