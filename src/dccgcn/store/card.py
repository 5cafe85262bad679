"""The model card: what a model was trained on, how reliable its predictions are, and where they are not."""

import html
import re

import numpy as np

from dccgcn import __version__
from dccgcn.methods import get_method
from dccgcn.quality import PROMISE, TESTED_ON, AuditSummary, class_table, labels_per_class, not_promised
from dccgcn.text import first_few, markdown_table, printable, truncate
from dccgcn.workflow import Result

LOW_CONFIDENCE = 0.5  # below this a prediction is more likely wrong than right


def model_card(result: Result, audit: AuditSummary | None = None) -> str:
    """The card in Markdown. Class names and ids come from users, so all of them are escaped."""
    graph, split = result.graph, result.split
    labels = f"{len(split.train)} labels ({len(split.train) / graph.n:.2%} of the nodes)"
    return _PAGE.format(
        name=escape(graph.name),
        method=result.method,
        version=__version__,
        n=f"{graph.n:,}",
        edges=f"{len(graph.edges):,}",
        d=f"{graph.d:,}",
        c=graph.c,
        labels=labels,
        seed=result.seed,
        relations=_relations(result),
        reliability="\n".join([*_reliability(result), *([audit.sentence()] if audit else [])]),
        classes=_class_table(result),
        channels=_channel_table(result),
        limits="\n".join(f"- {line}" for line in _limits(result)),
        use=_USE if get_method(result.method).predict_new else _NO_USE.format(method=result.method),
        settings=result.settings.to_yaml().rstrip(),
    )


def escape(text: object, max_length: int = 80) -> str:
    """Text of a user as Markdown that shows it without markup, on one line and shortened."""
    shown = truncate(printable(text), max_length)
    return re.sub(r"([\\`*_{}\[\]()#+!|~-])", r"\\\1", html.escape(shown, quote=False))


def _confidence(result: Result) -> tuple[str, np.ndarray]:
    """The name of the confidence column, trust or probability, and its values, (n,)."""
    return "probability" if result.prediction.trust is None else "trust", result.prediction.confidence


def _reliability(result: Result) -> list[str]:
    name, confidence = _confidence(result)
    predicted = np.flatnonzero(result.is_predicted)
    lines = []
    if len(predicted):
        n_high = int((confidence[predicted] >= LOW_CONFIDENCE).sum())
        lines.append(
            f"Of the {len(predicted):,} nodes without a training label, {n_high:,} have a {name} of "
            f"{LOW_CONFIDENCE:g} or more; the mean is {confidence[predicted].mean():.2f}."
        )
        if result.prediction.trust is None:
            lines.append(f"{result.method} does not estimate trust: its probabilities are not calibrated.")
        if result.prediction.channels_agree is not None:
            agree = result.prediction.channels_agree[predicted].mean()
            lines.append(f"Its {len(result.prediction.channels)} channels agree on {agree:.1%} of them.")
        if result.trusted.basis == "trust":
            lines += ["", f"{PROMISE} {TESTED_ON}"]
        elif result.trusted.basis == "estimate":
            lines += ["", not_promised(labels_per_class(result.graph, result.split))]
    if result.accuracy is not None:
        lines.append(f"Accuracy on {len(result.split.test):,} test nodes: {result.accuracy:.1%}.")
    else:
        lines.append("All labels were used for training, so the accuracy was not measured.")
    return lines


def _class_table(result: Result) -> str:
    rows = [
        [escape(row.name), str(row.labels), str(row.predicted), f"{row.confidence:.2f}" if row.predicted else "–"]
        for row in class_table(result.graph, result.split, result.prediction)[0]
    ]
    return markdown_table(["class", "training labels", "predicted nodes", f"mean {_confidence(result)[0]}"], rows)


def _relations(result: Result) -> str:
    """The kinds of edges, if they are told apart."""
    if not result.graph.relations:
        return ""
    listed = ", ".join(f"{escape(name)} ({n:,})" for name, n in result.graph.relation_sizes.items())
    direction = "directed edges" if result.graph.directed else "edges"
    return f"\nIts {direction} are of these relations: {listed}."


def _channel_table(result: Result) -> str:
    """The channels by weight; names of those along edges start with their relation."""
    weights = result.prediction.channel_weights
    rows = [[escape(name), f"{weight:.1%}"] for name, weight in sorted(weights.items(), key=lambda item: -item[1])]
    return f"\n{markdown_table(['channel', 'weight'], rows)}\n" if rows else ""


def _limits(result: Result) -> list[str]:
    name, confidence = _confidence(result)
    graph, predicted = result.graph, np.flatnonzero(result.is_predicted)
    y_pred = result.prediction.y_pred[predicted]
    low = [
        k for k in range(graph.c) if (y_pred == k).any() and confidence[predicted][y_pred == k].mean() < LOW_CONFIDENCE
    ]
    names = ", ".join(escape(graph.classes[k]) for k in low)
    lines = [f"Predicted classes whose mean {name} is below {LOW_CONFIDENCE:g}: {names}."] if low else []
    nodes = predicted[confidence[predicted] < LOW_CONFIDENCE]
    if len(nodes):
        ids = escape(first_few(graph.ids[nodes]), 400)
        lines.append(f"{len(nodes):,} nodes with a {name} below {LOW_CONFIDENCE:g}: {ids}.")
    lines += [escape(finding.text, 400) for finding in result.findings if finding.level == "warning"]
    return lines or ["No problem was found."]


_PAGE = """# {name}, classified by {method}

Predicts one of {c} classes for each node of the graph. Trained by dccgcn {version}.

## Training data

{n} nodes, {edges} edges, {d} features, {labels}; seed {seed}.{relations}
The graph is part of this folder, because new nodes are appended to it: share the model only with those who may see the
data.

## Reliability

{reliability}

{classes}
{channels}
## Limits

{limits}

Classes without training labels are never predicted. Nodes from another distribution than the training data get a
prediction too, without a warning.

## Use

{use}

## Settings

```yaml
{settings}
```
"""

_USE = """    dccgcn predict THIS_FOLDER --nodes more.csv --edges more-edges.csv

classifies new nodes without training again. In Python:
`dccgcn.load_model("THIS_FOLDER").predict("more.csv", "more-edges.csv")`. Loading checks the version, the order of the
classes and the hash of the arrays."""

_NO_USE = """{method} predicts the nodes above only: `dccgcn.load_model("THIS_FOLDER").result.to_frame()`.
New nodes need another training."""
