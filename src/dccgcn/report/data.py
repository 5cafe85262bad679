"""Result → report data. schema.py describes each field."""

import json
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from dccgcn.concord import channel_description, channel_title
from dccgcn.graph import NodeGraph
from dccgcn.methods import ENTRIES
from dccgcn.progress import Progress
from dccgcn.quality import AuditSummary, bars, calibration_error, risk_coverage
from dccgcn.report import drawing, schema
from dccgcn.report.advice import findings, label_suggestions, nodes_to_label
from dccgcn.report.classes import class_rankings, class_summaries, class_warnings
from dccgcn.report.nodes import node_columns, sample, shown_ids, table_columns
from dccgcn.report.schema import Calibration, CalibrationBin
from dccgcn.report.trust_summary import headline, summarise_trust, verdict
from dccgcn.workflow import Result, package_versions, run_csv

MAX_NODES = 20_000  # with their probabilities and neighbours in the page
MAX_CSV = 6_000_000  # characters of their rows
MAX_MAP_NODES = drawing.MAX_MAP_NODES
MAX_MAP_EDGES = drawing.MAX_MAP_EDGES
MAX_COMMUNITIES = 24
MIN_COMMUNITY = 0.01  # share of the nodes of a community that is named
STAGES = 2


def report_data(
    result: Result,
    command: str | None = None,
    progress: Progress | None = None,
    audit: AuditSummary | None = None,
    rows: pd.DataFrame | None = None,
) -> schema.Report:
    """All data of the page.

    command : what was typed to make the run, if anything.
    rows : the nodes' own rows; default: those that the tables of the result keep.
    """
    on_progress = progress or (lambda stage, done, total: None)
    graph, train, tables = result.graph, result.split.train, result.tables
    rows = tables.rows if rows is None and tables is not None else rows
    trust = summarise_trust(result)
    on_progress("report", 0, STAGES)
    size = max_nodes(result)
    drawn = drawing.draw_graph(graph, train, min(MAX_MAP_NODES, size), MAX_MAP_EDGES)
    to_label = nodes_to_label(result)
    linked = [suggestion.position for suggestion in to_label][: size - len(drawn.nodes)]
    always = np.union1d(drawn.nodes, linked).astype(np.int64)
    shown = sample(graph, train, result.trusted.confidence, size, always=always)
    community = _named_communities(drawn.community)
    on_progress("report", 1, STAGES)
    label_next, label_next_csv = label_suggestions(result, to_label)
    classes = class_summaries(result)
    report = schema.Report(
        format=schema.FORMAT,
        headline=headline(trust),
        warnings=class_warnings(classes, trust.word),
        verdict=verdict(result, trust),
        trust=trust,
        graph=schema.GraphSummary(
            name=graph.name,
            nodes=graph.n,
            edges=len(graph.edges),
            features=graph.d if graph.has_features.any() else 0,
            labels=len(train),
            target=None if tables is None else tables.columns.label,
        ),
        classes=classes,
        rankings=class_rankings(result),
        channels=_channels(result),
        channel_contingency=_channel_contingency(result),
        nodes=node_columns(result, shown, community, [] if rows is None else table_columns(rows, graph.n, shown)),
        predictions_csv=run_csv(result, shown),
        map=_map(result, shown, drawn, community),
        calibration=calibration(result),
        label_next=label_next,
        label_next_csv=label_next_csv,
        findings=findings(result),
        run=_run_summary(result, command),
        audit=audit,
    )
    on_progress("report", STAGES, STAGES)
    return report


def max_nodes(result: Result) -> int:
    """Fewer nodes fit where ids or class names are long."""
    n = result.graph.n
    probe = np.linspace(0, n - 1, min(n, 1000)).astype(np.int64)
    width = len(run_csv(result, probe)) / len(probe)
    return max(1, min(MAX_NODES, int(MAX_CSV / width)))


def _channels(result: Result) -> list[schema.ChannelSummary]:
    weights = result.prediction.channel_weights
    return [
        schema.ChannelSummary(
            name=name,
            title=channel_title(name),
            description=channel_description(name),
            weight=weights.get(name),
            accuracy=result.channel_accuracy.get(name),
        )
        for name in result.prediction.channels
    ]


def _channel_contingency(result: Result) -> list[list[int]] | None:
    """[i][j]: predictions for which the first channel predicts class i and the second class j."""
    if len(result.prediction.channels) != 2:
        return None
    c, predicted = result.graph.c, result.is_predicted
    first, second = (p.argmax(axis=1)[predicted] for p in result.prediction.channels.values())
    return np.bincount(first * c + second, minlength=c * c).reshape(c, c).tolist()


def _named_communities(community: np.ndarray) -> np.ndarray:
    """(n,) the communities that are named on the map; -1 for nodes of no such community."""
    size = np.bincount(community + 1, minlength=2)[1:]
    named = int((size[:MAX_COMMUNITIES] >= max(MIN_COMMUNITY * len(community), 3)).sum())  # the largest come first
    return np.where(community < named, community, -1)


def _map(result: Result, shown: np.ndarray, drawn: drawing.Drawing, community: np.ndarray) -> schema.GraphMap:
    row = np.searchsorted(shown, drawn.nodes)
    return schema.GraphMap(
        note=_map_note(result.graph, len(drawn.nodes), drawn.n_edges, len(drawn.edges)),
        nodes=row.tolist(),
        x=_fixed_point(drawn.position[:, 0]),
        y=_fixed_point(drawn.position[:, 1]),
        edges=row[drawn.edges].reshape(-1).tolist(),
        communities=[
            _community(result, np.flatnonzero(community == c), drawn.position[community[drawn.nodes] == c])
            for c in range(community.max(initial=-1) + 1)
        ],
    )


def _community(result: Result, nodes: np.ndarray, position: np.ndarray) -> schema.Community:
    """nodes: its members. position: those of its members on the map."""
    predicted = result.is_predicted[nodes]
    count = np.bincount(result.prediction.y_pred[nodes], minlength=result.graph.c)
    x, y = np.median(position[:, 0]), np.quantile(position[:, 1], 0.1)  # its name stands above most of its nodes
    return schema.Community(
        nodes=len(nodes),
        predictions=int(predicted.sum()),
        trusted=int((predicted & result.trusted.is_trusted[nodes]).sum()),
        prediction=int(count.argmax()),
        share=round(float(count.max() / len(nodes)), 4),
        hub=shown_ids(result.graph, nodes[[result.graph.degree[nodes].argmax()]])[0],
        x=round(10_000 * x),
        y=round(10_000 * y),
    )


def _run_summary(result: Result, command: str | None) -> schema.RunSummary:
    entry = ENTRIES.get(result.method)
    fields = type(result.settings).model_fields
    return schema.RunSummary(
        method=result.method,
        description=entry.summary if entry else "",
        reference=entry.reference if entry else "",
        accuracy=result.accuracy,
        macro_f1=result.macro_f1,
        # file names that are not UTF-8 reach Python as lone surrogates
        command=command and command.encode(errors="replace").decode(),
        seed=result.seed,
        split=schema.SplitSummary(kind=result.split.kind, seed=result.split.seed, hash=result.split.hash),
        seconds=round(result.seconds, 3),
        threads=result.threads,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        settings=[
            schema.Setting(
                name=name,
                value=value if isinstance(value, str) else json.dumps(value),
                description=fields[name].description or "",
            )
            for name, value in result.settings.model_dump(mode="json").items()
        ],
        versions=package_versions(),
    )


def _fixed_point(positions: np.ndarray) -> list[int]:
    """Ten-thousandths: short in JSON and finer than a screen."""
    return np.rint(positions * 10_000).astype(int).tolist()


def _map_note(graph: NodeGraph, nodes: int, edges: int, drawn: int) -> str:
    """Which nodes and edges the map shows."""
    if nodes == graph.n:
        note = f"All {nodes:,} nodes and {edges:,} edges."
    else:
        note = (
            f"{nodes:,} of {graph.n:,} nodes: the training labels and a random sample of each community, in proportion "
            f"to its size, with the {edges:,} edges between them."
        )
    return note if drawn == edges else f"{note} {drawn:,} of these edges are drawn, chosen at random."


BINS = 10
POINTS = 200  # of the risk-coverage curve


def calibration(result: Result) -> Calibration | None:
    """Reliability diagram and risk-coverage curve; None without test nodes."""
    test = result.split.test
    if len(test) == 0:
        return None
    confidence = result.trusted.confidence[test].astype(np.float64)
    is_right = result.prediction.y_pred[test] == result.graph.labels[test]
    bins = bars(confidence, is_right, BINS)
    curve = risk_coverage(confidence, is_right)
    points = np.unique(np.linspace(0, len(test) - 1, POINTS).astype(int))
    return Calibration(
        nodes=len(test),
        accuracy=round(float(is_right.mean()), 6),
        mean_confidence=round(float(confidence.mean()), 6),
        ece=round(calibration_error(bins), 6),
        bins=[
            CalibrationBin(count=b.count, confidence=round(b.confidence, 4), accuracy=round(b.accuracy, 4))
            for b in bins
        ],
        coverage=np.round(curve.coverage[points], 4).tolist(),
        risk=np.round(curve.risk[points], 4).tolist(),
        aurc=round(curve.area, 6),
    )
