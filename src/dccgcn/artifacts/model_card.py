"""The model card: what a model was trained on, how sure it is, and where it is not."""

import html
import re

import numpy as np

from dccgcn import __version__
from dccgcn.errors import some
from dccgcn.models.registry import get_method
from dccgcn.text import markdown_table
from dccgcn.workflow.result import Result

SURE = 0.5  # below, an answer is more likely wrong than right


def card(result: Result) -> str:
    """The card in Markdown. Class names and ids are anybody's text, so all of them are escaped."""
    graph, split = result.graph, result.split
    labels = f"{len(split.train)} labels ({len(split.train) / graph.n:.2%} of the nodes)"
    return _PAGE.format(
        name=plain(graph.name),
        method=result.method,
        version=__version__,
        n=f"{graph.n:,}",
        edges=f"{len(graph.edges):,}",
        d=f"{graph.d:,}",
        c=graph.c,
        labels=labels,
        seed=result.seed,
        sure="\n".join(_sure(result)),
        classes=_class_table(result),
        unsure="\n".join(f"- {line}" for line in _unsure(result)),
        use=_USE if get_method(result.method).extend else _NO_USE.format(method=result.method),
        settings=result.settings.to_yaml().rstrip(),
    )


def plain(text: object, most: int = 80) -> str:
    """Somebody's text as Markdown that shows it and does nothing else."""
    shown = "".join(sign if sign.isprintable() else " " for sign in str(text))
    shown = shown if len(shown) <= most else shown[: most - 1] + "…"
    return re.sub(r"([\\`*_{}\[\]()#+!|~-])", r"\\\1", html.escape(shown, quote=False))


def _certainty(result: Result) -> tuple[str, np.ndarray]:
    """What says how sure an answer is, and how sure it is."""
    return "probability" if result.prediction.trust is None else "trust", result.prediction.confidence


def _sure(result: Result) -> list[str]:
    what, sure = _certainty(result)
    asked = np.flatnonzero(result.answered)
    lines = []
    if len(asked):
        lines.append(
            f"Of the {len(asked):,} nodes without a training label, {int((sure[asked] >= SURE).sum()):,} have a {what} "
            f"of {SURE:g} or more; the mean is {sure[asked].mean():.2f}."
        )
        if result.prediction.trust is None:
            lines.append(f"{result.method} does not estimate trust: its probabilities are not calibrated.")
        if result.prediction.channels_agree is not None:
            lines.append(f"Its two channels agree on {result.prediction.channels_agree[asked].mean():.1%} of them.")
    if result.accuracy is not None:
        lines.append(
            f"On {len(result.split.test):,} nodes whose labels were held back, {result.accuracy:.1%} of the answers "
            "were right."
        )
    else:
        lines.append("No label was held back, so how many answers are right was not measured.")
    return lines


def _class_table(result: Result) -> str:
    what, sure = _certainty(result)
    given = np.bincount(result.graph.labels[result.split.train], minlength=result.graph.c)
    asked = np.flatnonzero(result.answered)
    answer = result.prediction.y_pred[asked]
    rows = []
    for k, name in enumerate(result.graph.classes):
        own = sure[asked][answer == k]
        rows.append([plain(name), str(given[k]), str(len(own)), f"{own.mean():.2f}" if len(own) else "–"])
    return markdown_table(["class", "training labels", "nodes answered so", f"mean {what}"], rows)


def _unsure(result: Result) -> list[str]:
    what, sure = _certainty(result)
    graph, asked = result.graph, np.flatnonzero(result.answered)
    answer = result.prediction.y_pred[asked]
    weak = [k for k in range(graph.c) if (answer == k).any() and sure[asked][answer == k].mean() < SURE]
    names = ", ".join(plain(graph.classes[k]) for k in weak)
    lines = [f"Answers of these classes, whose mean {what} is below {SURE:g}: {names}."] if weak else []
    doubtful = asked[sure[asked] < SURE]
    if len(doubtful):
        lines.append(f"{len(doubtful):,} nodes with a {what} below {SURE:g}: {plain(some(graph.ids[doubtful]), 400)}.")
    lines += [plain(finding.text, 400) for finding in result.findings if finding.level == "warning"]
    return lines or ["Nothing was found."]


_PAGE = """# {name}, classified by {method}

Gives each node of the graph one of {c} classes. Trained by dccgcn {version}.

## What it was trained on

{n} nodes, {edges} edges, {d} features, {labels}; seed {seed}.
The graph is part of this folder, since new nodes are attached to it: who may not see the data must not get the model.

## How sure it is

{sure}

{classes}

## Where it is not

{unsure}

Classes that no label stood for are never answered. Nodes of another kind than those of training get an answer too,
and nothing warns of it.

## How to use it

{use}

## Settings

```yaml
{settings}
```
"""

_USE = """    dccgcn predict THIS_FOLDER --nodes more.csv --edges more-edges.csv

classifies nodes that are added to the graph, without training again. In Python it is
`dccgcn.load_model("THIS_FOLDER").predict("more.csv", "more-edges.csv")`. Loading checks the version, the order of the
classes and the hash of the arrays."""

_NO_USE = """{method} answers for the nodes above only: `dccgcn.load_model("THIS_FOLDER").result.to_frame()`.
Nodes that are added to the graph need another training."""
