"""A run in a notebook: five lines of text, or a short HTML summary with the verdict, the classes and a small map."""

from html import escape

import numpy as np

from dccgcn.report.classes import class_summaries, class_warnings
from dccgcn.report.drawing import draw_graph
from dccgcn.report.schema import ClassSummary
from dccgcn.report.trust_summary import headline, summarise_trust, verdict
from dccgcn.text import counted, first_few, printable, truncate
from dccgcn.workflow import Result

_MAP_NODES, _MAP_EDGES = 300, 900  # drawn at most
_SIZE = 260  # of the map, in pixels
_MOST_CLASSES = 12  # rows of the table


def summary_text(result: Result) -> str:
    """Five lines: what was run, the graph, the predictions, the test, the findings."""
    graph, train, predicted = result.graph, result.split.train, result.is_predicted
    trust = result.prediction.trust
    right = f", {trust[predicted].mean():.1%} expected right" if trust is not None and predicted.any() else ""
    tested = "none; hold some labels out to measure the accuracy"
    if balance := result.balance:
        tested = (
            f"accuracy {result.accuracy or 0:.1%}, macro-F1 {result.macro_f1 or 0:.1%} on {len(result.split.test):,} "
            f"nodes; {balance.majority:.1%} by always predicting the most frequent class"
        )
    warned = [finding.code for finding in result.findings if finding.level == "warning"]
    features = counted(graph.d if graph.has_features.any() else 0, "feature")
    return "\n".join(
        [
            f"Result of {result.method} on {truncate(printable(graph.name), 60)!r}, {result.seconds:.1f} s",
            f"  graph:       {graph.n:,} nodes, {len(graph.edges):,} edges, {features}, {graph.c} classes",
            f"  predictions: {int(predicted.sum()):,} from {len(train):,} labels{right}",
            f"  test:        {tested}",
            f"  warnings:    {first_few(warned) if warned else 'none'}",
        ]
    )


def summary_html(result: Result) -> str:
    """The verdict, a table of the classes, and a map of a sample of the nodes. No scripts, no files, no network."""
    trust, classes = summarise_trust(result), class_summaries(result)
    texts = [*class_warnings(classes, trust.word), f"{headline(trust)}.", *verdict(result, trust)]
    sentences = "".join(f"<p style='margin:0 0 .4em'>{escape(text)}</p>" for text in texts)
    warned = [finding.text for finding in result.findings if finding.level == "warning"]
    listed = "".join(f"<li>{escape(text)}</li>" for text in warned[:5])
    warnings = f"<details><summary>{len(warned)} warnings</summary><ul>{listed}</ul></details>" if warned else ""
    return (
        f"<div style='display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start'>"
        f"<div style='max-width:34em'><b>{escape(result.method)} on {escape(printable(result.graph.name))}</b>"
        f"{sentences}{_class_table(classes)}{warnings}</div>{_map(result, classes)}</div>"
    )


def _class_table(classes: list[ClassSummary]) -> str:
    rows = sorted(classes, key=lambda row: -(row.trusted + row.doubtful))
    cells = []
    for row in rows[:_MOST_CLASSES]:
        expected = "–" if row.expected is None else f"{row.expected:.1%}"
        dot = f"<span style='color:{row.colour}'>●</span>"
        name = escape(truncate(printable(row.name), 40))
        numbers = f"<td>{row.labels:,}</td><td>{row.trusted + row.doubtful:,}</td><td>{expected}</td>"
        cells.append(f"<tr><td style='text-align:left'>{dot} {name}</td>{numbers}</tr>")
    more = f"<tr><td>… {len(rows) - _MOST_CLASSES} more</td></tr>" if len(rows) > _MOST_CLASSES else ""
    head = "<tr><th style='text-align:left'>class</th><th>labels</th><th>predicted</th><th>expected right</th></tr>"
    return f"<table>{head}{''.join(cells)}{more}</table>"


def _map(result: Result, classes: list[ClassSummary]) -> str:
    """An SVG of the nodes or of a sample, coloured by class; training labels have a black rim."""
    drawn = draw_graph(result.graph, result.split.train, _MAP_NODES, _MAP_EDGES)
    position = 8 + (_SIZE - 16) * drawn.position
    lines = "".join(f"M{x1:.0f} {y1:.0f}L{x2:.0f} {y2:.0f}" for (x1, y1), (x2, y2) in position[drawn.edges])
    is_train = np.isin(drawn.nodes, result.split.train)
    dots = "".join(
        f"<circle cx='{x:.0f}' cy='{y:.0f}' r='3' fill='{classes[result.prediction.y_pred[node]].colour}'"
        f" stroke='{'black' if train else 'none'}'/>"
        for (x, y), node, train in zip(position, drawn.nodes, is_train, strict=True)
    )
    n, m = result.graph.n, len(drawn.nodes)
    which = "all nodes" if m == n else f"{m} of {n:,} nodes"
    return (
        f"<figure style='margin:0'><svg width='{_SIZE}' height='{_SIZE}' role='img' aria-label='Map of {which}'>"
        f"<path d='{lines}' stroke='#999' stroke-opacity='.4' fill='none'/>{dots}</svg>"
        f"<figcaption style='font-size:small'>Map of {which}; a rim marks training labels.</figcaption></figure>"
    )
