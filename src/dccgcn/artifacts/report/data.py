"""All that the report shows, as plain values. docs/report-data.md explains each field."""

from datetime import UTC, datetime
from typing import Any

import numpy as np

from dccgcn.artifacts.report import advice, measured, nodes, notes
from dccgcn.artifacts.report.embedding import pictures
from dccgcn.artifacts.report.layout import force_layout
from dccgcn.artifacts.report.sample import sample
from dccgcn.artifacts.report.store import FORMAT
from dccgcn.artifacts.report.trusted import Trusted, counts, trusted, verdict
from dccgcn.models import registry
from dccgcn.palette import colours
from dccgcn.progress import Progress
from dccgcn.workflow.run import Run, run_csv

MOST_NODES = 20_000  # with their probabilities and neighbours in the page
MOST_CSV = 6_000_000  # characters of their rows
MOST_ON_MAP = 3_000
MOST_EDGES = 12_000  # drawn on the map
MOST_IN_PICTURES = 1_000  # t-SNE takes a second or two for so many
STAGES = 3

_ABOUT = {
    "topology": "Looks along the edges of the graph.",
    "features": "Looks at how similar the features of two nodes are.",
}


def report_data(result: Run, command: str | None = None, progress: Progress | None = None) -> dict[str, Any]:
    """What the page shows, ready for JSON. The command is what was typed to get the result, if anything was."""
    tell = progress or (lambda stage, done, of: None)
    graph, train = result.graph, result.split.train
    trust = trusted(result)
    counted = counts(result, trust)
    shown = sample(graph, train, trust.score, _most_nodes(result))
    tell("report", 0, STAGES)
    data: dict[str, Any] = {
        "format": FORMAT,
        "verdict": verdict(result, counted),
        "trust": counted,
        "graph": {
            "name": graph.name,
            "nodes": graph.n,
            "edges": len(graph.edges),
            "features": graph.d,
            "labels": len(train),
        },
        "classes": _classes(result, trust),
        "channels": _channels(result),
        "disagreement": _disagreement(result),
        "nodes": {"note": notes.in_table(graph, len(shown)), **nodes.columns(result, trust, shown)},
        "csv": run_csv(result, shown),
        "map": _map(result, trust, shown),
    }
    tell("report", 1, STAGES)
    data["pictures"] = _pictures(result, shown)
    tell("report", 2, STAGES)
    data |= {
        "measured": measured.measured(result, trust),
        **advice.to_label(result, shown),
        "findings": advice.oddities(result),
        "run": _run(result, command),
    }
    tell("report", STAGES, STAGES)
    return data


def _most_nodes(result: Run) -> int:
    """Ids and class names may be kilobytes long; then fewer nodes fit."""
    n = result.graph.n
    probe = np.linspace(0, n - 1, min(n, 1000)).astype(np.int64)
    width = len(run_csv(result, probe)) / len(probe)
    return max(1, min(MOST_NODES, int(MOST_CSV / width)))


def _classes(result: Run, trust: Trusted) -> list[dict[str, Any]]:
    graph, asked, test = result.graph, result.is_predicted, result.split.test
    prediction = result.prediction.y_pred
    right = prediction[test] == graph.labels[test]
    labels = np.bincount(graph.labels[result.split.train], minlength=graph.c)
    palette = colours(graph.c)
    rows = []
    for k, name in enumerate(graph.classes):
        here = asked & (prediction == k)
        scored = right[prediction[test] == k]
        rows.append(
            {
                "name": str(name),
                "colour": palette[k],
                "labels": int(labels[k]),
                "trusted": int((here & trust.yes).sum()),
                "doubtful": int((here & ~trust.yes).sum()),
                "right": round(float(scored.mean()), 6) if len(scored) else None,
            }
        )
    return rows


def _channels(result: Run) -> list[dict[str, Any]]:
    weights = result.prediction.channel_weights
    return [
        {
            "name": name,
            "about": _ABOUT.get(name, ""),
            "weight": weights.get(name),
            "accuracy": result.channel_accuracy.get(name),
        }
        for name in result.prediction.channels
    ]


def _disagreement(result: Run) -> list[list[int]] | None:
    """[i][j]: answered nodes to which the first channel gives class i and the second class j."""
    if len(result.prediction.channels) != 2:
        return None
    c, asked = result.graph.c, result.is_predicted
    first, second = (p.argmax(axis=1)[asked] for p in result.prediction.channels.values())
    table: list[list[int]] = np.bincount(first * c + second, minlength=c * c).reshape(c, c).tolist()
    return table


def _map(result: Run, trust: Trusted, shown: np.ndarray) -> dict[str, Any]:
    """Places and edges; nodes are given by their row in the page's list of nodes."""
    graph = result.graph
    on_map = sample(graph, result.split.train, np.where(result.is_predicted, trust.score, 2.0), MOST_ON_MAP)
    on_map = np.intersect1d(on_map, shown)
    row = np.searchsorted(shown, on_map)
    inside = np.full(graph.n, -1)
    inside[on_map] = np.arange(len(on_map))
    ends = inside[graph.edges]
    edges = np.flatnonzero((ends >= 0).all(axis=1))
    place = force_layout(graph.adjacency[on_map][:, on_map])
    drawn = edges
    if len(edges) > MOST_EDGES:
        drawn = np.sort(np.random.default_rng(0).choice(edges, MOST_EDGES, replace=False))
    return {
        "note": notes.on_map(graph, len(on_map), len(edges), len(drawn)),
        "nodes": row.tolist(),
        "x": _fixed(place[:, 0]),
        "y": _fixed(place[:, 1]),
        "edges": row[ends[drawn]].reshape(-1).tolist(),
    }


def _pictures(result: Run, shown: np.ndarray) -> dict[str, Any]:
    """The embeddings of one sample of nodes: labels, half of it at most, and a random choice of the others."""
    rng = np.random.default_rng(0)
    labels = np.intersect1d(result.split.train, shown)
    if len(shown) > MOST_IN_PICTURES and len(labels) > MOST_IN_PICTURES // 2:
        labels = rng.choice(labels, MOST_IN_PICTURES // 2, replace=False)
    others = np.setdiff1d(shown, result.split.train)
    others = rng.permutation(others)[: MOST_IN_PICTURES - len(labels)]
    chosen = np.sort(np.concatenate([labels, others]))
    drawn = pictures(result.prediction, chosen)
    return {
        "note": notes.in_pictures(result, len(chosen)),
        "nodes": np.searchsorted(shown, chosen).tolist(),
        "places": [{"name": name, "x": _fixed(p[:, 0]), "y": _fixed(p[:, 1])} for name, p in drawn.items()],
    }


def _run(result: Run, command: str | None) -> dict[str, Any]:
    summary = result.summary()
    known = registry.METHODS.get(result.method)
    fields = type(result.settings).model_fields
    return {
        "method": result.method,
        "about": known.summary if known else "",
        "reference": known.reference if known else "",
        "accuracy": result.accuracy,
        "macro_f1": result.macro_f1,
        "command": command,
        "seed": result.seed,
        "split": summary["split"],
        "seconds": summary["seconds"],
        "threads": result.threads,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": [
            {"name": name, "value": value, "meaning": fields[name].description or ""}
            for name, value in result.settings.model_dump().items()
        ],
        "versions": summary["versions"],
    }


def _fixed(values: np.ndarray) -> list[int]:
    """Positions in ten-thousandths: short in JSON and finer than a screen."""
    rounded: list[int] = np.rint(values * 10_000).astype(int).tolist()
    return rounded
