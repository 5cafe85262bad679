"""Run → report data. schema.py describes each field."""

import json
from datetime import UTC, datetime

import numpy as np

from dccgcn.artifacts.report import notes, schema
from dccgcn.artifacts.report.advice import findings, label_suggestions
from dccgcn.artifacts.report.calibration import calibration
from dccgcn.artifacts.report.embedding import project
from dccgcn.artifacts.report.layout import force_layout
from dccgcn.artifacts.report.nodes import node_columns
from dccgcn.artifacts.report.sample import sample
from dccgcn.artifacts.report.trust_summary import TrustedNodes, summarise_trust, trusted_nodes, verdict
from dccgcn.models import registry
from dccgcn.palette import colours
from dccgcn.progress import Progress
from dccgcn.workflow.run import Run, run_csv

MAX_NODES = 20_000  # with their probabilities and neighbours in the page
MAX_CSV = 6_000_000  # characters of their rows
MAX_MAP_NODES = 3_000
MAX_MAP_EDGES = 12_000
MAX_EMBEDDED = 1_000  # t-SNE takes a second or two for so many nodes
STAGES = 3

_CHANNELS = {
    "topology": "Uses the edges: nodes that are connected tend to share a class.",
    "features": "Uses the features: nodes with similar features tend to share a class.",
    "own": "Uses the node’s own features.",
    "hop1": "Uses the mean features of the neighbours.",
    "hop2": "Uses the mean features of the neighbours’ neighbours.",
    "propagated": "Uses features propagated along the edges.",
    "structure": "Uses the edges alone: nodes with the same neighbours are alike.",
    "similar": "Uses the nodes with the most similar features.",
    "sizes": "Uses the number of edges and the amount of features.",
    "joint": "Uses all views of a node together.",
    "labels": "Uses the labels nearby, spread along the edges.",
}


def report_data(
    run: Run,
    command: str | None = None,
    progress: Progress | None = None,
    audit: schema.AuditSummary | None = None,
) -> schema.Report:
    """All data of the page. command: what was typed to make the run, if anything."""
    on_progress = progress or (lambda stage, done, total: None)
    graph, train = run.graph, run.split.train
    trusted = trusted_nodes(run)
    trust = summarise_trust(run, trusted)
    shown = sample(graph, train, trusted.confidence, max_nodes(run))
    on_progress("report", 0, STAGES)
    drawing = _map(run, trusted, shown)
    on_progress("report", 1, STAGES)
    embeddings = _embeddings(run, shown)
    on_progress("report", 2, STAGES)
    label_next, label_next_csv = label_suggestions(run, shown)
    report = schema.Report(
        format=schema.FORMAT,
        verdict=verdict(run, trust),
        trust=trust,
        graph=schema.GraphSummary(
            name=graph.name, nodes=graph.n, edges=len(graph.edges), features=graph.d, labels=len(train)
        ),
        classes=_classes(run, trusted),
        channels=_channels(run),
        channel_contingency=_channel_contingency(run),
        nodes=node_columns(run, trusted, shown),
        predictions_csv=run_csv(run, shown),
        map=drawing,
        embeddings=embeddings,
        calibration=calibration(run, trusted),
        label_next=label_next,
        label_next_csv=label_next_csv,
        findings=findings(run),
        run=_run_summary(run, command),
        audit=audit,
    )
    on_progress("report", STAGES, STAGES)
    return report


def max_nodes(run: Run) -> int:
    """Fewer nodes fit where ids or class names are long."""
    n = run.graph.n
    probe = np.linspace(0, n - 1, min(n, 1000)).astype(np.int64)
    width = len(run_csv(run, probe)) / len(probe)
    return max(1, min(MAX_NODES, int(MAX_CSV / width)))


def _classes(run: Run, trusted: TrustedNodes) -> list[schema.ClassSummary]:
    graph, predicted, test = run.graph, run.is_predicted, run.split.test
    y_pred = run.prediction.y_pred
    is_right = y_pred[test] == graph.labels[test]
    labels = np.bincount(graph.labels[run.split.train], minlength=graph.c)
    palette = colours(graph.c)
    rows = []
    for k, name in enumerate(graph.classes):
        of_class = predicted & (y_pred == k)
        tested = is_right[y_pred[test] == k]
        rows.append(
            schema.ClassSummary(
                name=str(name),
                colour=palette[k],
                labels=int(labels[k]),
                trusted=int((of_class & trusted.is_trusted).sum()),
                doubtful=int((of_class & ~trusted.is_trusted).sum()),
                precision=round(float(tested.mean()), 6) if len(tested) else None,
            )
        )
    return rows


def _channels(run: Run) -> list[schema.Channel]:
    weights = run.prediction.channel_weights
    return [
        schema.Channel(
            name=name,
            description=_CHANNELS.get(name.rpartition(".")[2], ""),
            weight=weights.get(name),
            accuracy=run.channel_accuracy.get(name),
        )
        for name in run.prediction.channels
    ]


def _channel_contingency(run: Run) -> list[list[int]] | None:
    """[i][j]: predictions for which the first channel predicts class i and the second class j."""
    if len(run.prediction.channels) != 2:
        return None
    c, predicted = run.graph.c, run.is_predicted
    first, second = (p.argmax(axis=1)[predicted] for p in run.prediction.channels.values())
    table: list[list[int]] = np.bincount(first * c + second, minlength=c * c).reshape(c, c).tolist()
    return table


def _map(run: Run, trusted: TrustedNodes, shown: np.ndarray) -> schema.GraphMap:
    """Positions and edges of some of the nodes shown."""
    graph = run.graph
    confidence = np.where(run.is_predicted, trusted.confidence, 2.0)  # training nodes are never the least confident
    on_map = np.intersect1d(sample(graph, run.split.train, confidence, MAX_MAP_NODES), shown)
    row = np.searchsorted(shown, on_map)
    index = np.full(graph.n, -1)
    index[on_map] = np.arange(len(on_map))
    ends = index[graph.edges]
    edges = np.flatnonzero((ends >= 0).all(axis=1))
    drawn = edges
    if len(edges) > MAX_MAP_EDGES:
        drawn = np.sort(np.random.default_rng(0).choice(edges, MAX_MAP_EDGES, replace=False))
    position = force_layout(graph.adjacency[on_map][:, on_map])
    return schema.GraphMap(
        note=notes.map_note(graph, len(on_map), len(edges), len(drawn)),
        nodes=row.tolist(),
        x=_fixed_point(position[:, 0]),
        y=_fixed_point(position[:, 1]),
        edges=row[ends[drawn]].reshape(-1).tolist(),
    )


def _embeddings(run: Run, shown: np.ndarray) -> schema.Embeddings:
    """A sample of the nodes shown: training nodes, at most half of it, and random others."""
    rng = np.random.default_rng(0)
    labels = np.intersect1d(run.split.train, shown)
    if len(shown) > MAX_EMBEDDED and len(labels) > MAX_EMBEDDED // 2:
        labels = rng.choice(labels, MAX_EMBEDDED // 2, replace=False)
    others = np.setdiff1d(shown, run.split.train)
    others = rng.permutation(others)[: MAX_EMBEDDED - len(labels)]
    chosen = np.sort(np.concatenate([labels, others]))
    return schema.Embeddings(
        note=notes.embeddings_note(run.graph, run.prediction, len(chosen)),
        nodes=np.searchsorted(shown, chosen).tolist(),
        projections=[
            schema.Projection(name=name, x=_fixed_point(p[:, 0]), y=_fixed_point(p[:, 1]))
            for name, p in project(run.prediction, chosen).items()
        ],
    )


def _run_summary(run: Run, command: str | None) -> schema.RunSummary:
    entry = registry.ENTRIES.get(run.method)
    fields = type(run.settings).model_fields
    return schema.RunSummary(
        method=run.method,
        description=entry.summary if entry else "",
        reference=entry.reference if entry else "",
        accuracy=run.accuracy,
        macro_f1=run.macro_f1,
        # file names that are not UTF-8 reach Python as lone surrogates
        command=command and command.encode(errors="replace").decode(),
        seed=run.seed,
        split=schema.SplitSummary(kind=run.split.kind, seed=run.split.seed, hash=run.split.hash),
        seconds=round(run.seconds, 3),
        threads=run.threads,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        settings=[
            schema.Setting(
                name=name,
                value=value if isinstance(value, str) else json.dumps(value),
                description=fields[name].description or "",
            )
            for name, value in run.settings.model_dump(mode="json").items()
        ],
        versions=run.summary()["versions"],
    )


def _fixed_point(positions: np.ndarray) -> list[int]:
    """Ten-thousandths: short in JSON and finer than a screen."""
    rounded: list[int] = np.rint(positions * 10_000).astype(int).tolist()
    return rounded
