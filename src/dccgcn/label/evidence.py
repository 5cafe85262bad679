"""What a person sees of one node: its row, the prediction with its trust, the channels and the neighbours."""

from typing import Any

import numpy as np

from dccgcn.concord import channel_title
from dccgcn.label.events import TABLE, Annotations
from dccgcn.label.source import Source
from dccgcn.workflow import Result

MAX_NEIGHBOURS, MAX_CLASSES = 8, 5
MAX_FOUND, MAX_QUERY = 12, 200


def evidence(source: Source, labels: Annotations, node: int, result: Result | None) -> Any:
    """What is known of a node, as plain values for JSON. Shares are between 0 and 1."""
    name = source.ids[node]
    cells, more = source.row(node)
    return {
        "node": name,
        "title": source.title(node),
        "row": cells,
        "more": more,
        "answers": [[who or "the table", label] for who, label in labels.answers.get(name, {}).items()],
        "label": labels.labels.get(name),
        "prediction": _prediction(result, node),
        "neighbours": _neighbours(source, labels, node, result),
        "degree": int(source.graph.degree[node]),
    }


def _prediction(result: Result | None, node: int) -> Any:
    if result is None:
        return None
    prediction, trusted = result.prediction, result.trusted
    classes = [str(name) for name in result.graph.classes]

    def top(probabilities: np.ndarray, count: int) -> list[tuple[str, float]]:
        order = np.argsort(-probabilities, kind="stable")[:count]
        return [(classes[k], round(float(probabilities[k]), 4)) for k in order if probabilities[k] > 0]

    return {
        "label": classes[int(prediction.y_pred[node])],
        "confidence": round(float(trusted.confidence[node]), 4),
        "verdict": trusted.word if trusted.is_trusted[node] else "doubtful",
        "classes": top(prediction.probabilities[node], MAX_CLASSES),
        "channels": [[channel_title(name), *top(p[node], 1)[0]] for name, p in prediction.channels.items()],
    }


def _neighbours(source: Source, labels: Annotations, node: int, result: Result | None) -> list[Any]:
    """A few neighbours: labelled ones first, then the most confident."""
    adjacency = source.graph.adjacency
    near = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
    known = labels.labels
    rank = np.array([2.0 if source.ids[other] in known else 0.0 for other in near])
    if result is not None:
        rank += result.trusted.confidence[near]
    listed = []
    for other in near[np.argsort(-rank, kind="stable")[:MAX_NEIGHBOURS]].tolist():
        name = source.ids[other]
        about = {"node": name, "title": source.title(other), "label": known.get(name), "predicted": None, "trust": None}
        if name not in known and result is not None:
            about["predicted"] = str(result.graph.classes[int(result.prediction.y_pred[other])])
            about["trust"] = round(float(result.trusted.confidence[other]), 4)
        listed.append(about)
    return listed


def search(source: Source, query: str) -> list[dict[str, str]]:
    """Nodes whose id is the query, starts with it or contains it, then nodes with it in their name or a text."""
    query = query.strip().lower()[:MAX_QUERY]
    if not query:
        return []
    found: dict[int, None] = {}
    lower = source.graph.cached("label-ids", lambda: [node.lower() for node in source.ids])
    for matches in (str.__eq__, str.startswith, str.__contains__):
        for position, name in enumerate(lower):
            if len(found) == MAX_FOUND:
                break
            if matches(name, query):
                found[position] = None
    for texts in _texts(source) if len(found) < MAX_FOUND else ():
        for position, text in enumerate(texts):
            if len(found) == MAX_FOUND:
                break
            if query in text:
                found[position] = None
    return [{"node": source.ids[position], "title": source.title(position)} for position in found]


def _texts(source: Source) -> list[list[str]]:
    """The names of the nodes and the texts of their rows in lower case, for search."""

    def row_texts() -> list[str]:
        assert source.rows is not None
        columns = [name for name in source.rows if any(" " in str(cell) for cell in source.rows[name].head(100))]
        return [" ".join(str(cell) for cell in row).lower() for row in source.rows[columns].itertuples(index=False)]

    names, texts = source.graph.names, []
    if names is not None:
        texts.append(source.graph.cached("label-names", lambda: [str(name).lower() for name in names]))
    if source.rows is not None:
        texts.append(source.graph.cached("label-texts", row_texts))
    return texts


def authors(labels: Annotations) -> dict[str, int]:
    """Number of labels of each person; the table is not a person."""
    count: dict[str, int] = {}
    for answers in labels.answers.values():
        for who in answers:
            if who != TABLE:
                count[who] = count.get(who, 0) + 1
    return count
