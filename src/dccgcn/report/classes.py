"""Each class: its predictions, what can be said about them, and where to look for the nodes of a rare class."""

from collections.abc import Iterator

from dccgcn.palette import class_colours
from dccgcn.quality import class_table, rank_nodes, ranked_classes, rare_class_scores
from dccgcn.report.nodes import shown_ids
from dccgcn.report.schema import ClassRanking, ClassSummary, RankedNode
from dccgcn.text import printable, truncate
from dccgcn.workflow import Result

MAX_RANKED = 20  # nodes listed for a class
MOSTLY = 0.8  # share of trusted predictions from which a class is called mostly trusted
_MAX_NAMED = 4  # classes in one warning
_LONGEST_NAME = 90


def class_summaries(result: Result) -> list[ClassSummary]:
    """One row for each class, in the order of the graph's classes."""
    rows, _ = class_table(result.graph, result.split, result.prediction)
    palette = class_colours([row.predicted for row in rows])
    return [
        ClassSummary(
            name=row.name,
            colour=colour,
            labels=row.labels,
            trusted=row.trusted,
            doubtful=row.predicted - row.trusted,
            expected=_rounded(row.confidence),
            precision=_rounded(row.precision),
            recall=_rounded(row.recall),
            verdict=_verdict(row.labels, row.predicted, row.trusted, result.trusted.word),
        )
        for row, colour in zip(rows, palette, strict=True)
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _verdict(labels: int, predictions: int, trusted: int, word: str) -> str:
    if not predictions:
        return "never predicted" if labels else "no label to learn from"
    if not trusted:
        return f"none {word}"
    if trusted == predictions:
        return f"all {word}"
    return f"mostly {word}" if trusted >= MOSTLY * predictions else f"partly {word}"


def class_warnings(classes: list[ClassSummary], word: str) -> list[str]:
    """What the share of trusted predictions hides: classes that are never predicted, or never trusted.

    ``word``: what a trusted prediction is called.
    """
    if sum(row.trusted + row.doubtful for row in classes) == 0:
        return []
    return [
        *_warning(classes, "never predicted", "is never predicted", "are never predicted"),
        *_warning(classes, "no label to learn from", "has no training label", "have no training label"),
        *(
            _warning(classes, f"none {word}", f"has no prediction that is {word}", f"have no prediction that is {word}")
            if any(row.trusted for row in classes)
            else ()
        ),
    ]


def _warning(classes: list[ClassSummary], verdict: str, one: str, many: str) -> Iterator[str]:
    names = [_name(row.name) for row in classes if row.verdict == verdict]
    if len(names) == 1:
        yield f"The class {names[0]} {one}."
    elif names:
        more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
        yield f"{len(names)} of {len(classes)} classes {many}: {', '.join(names[:_MAX_NAMED])}{more}."


def _name(name: str) -> str:
    text = printable(" ".join(name[: 2 * _LONGEST_NAME].split()))
    return f"“{truncate(text, _LONGEST_NAME)}”"


def class_rankings(result: Result) -> list[ClassRanking]:
    """For each class that is rare or never predicted, the nodes that most probably belong to it."""
    graph, prediction = result.graph, result.prediction
    scores = {row["class"]: row for row in rare_class_scores(graph, result.split, prediction)}
    rankings = []
    for k in ranked_classes(graph, result.split, prediction):
        nodes = rank_nodes(graph, result.split, prediction, k)[:MAX_RANKED]
        score = scores.get(str(graph.classes[k]), {})
        rankings.append(
            ClassRanking(
                class_position=k,
                nodes=[
                    RankedNode(id=i, probability=round(1000 * float(p)), prediction=int(y))
                    for i, p, y in zip(
                        shown_ids(graph, nodes),
                        prediction.probabilities[nodes, k],
                        prediction.y_pred[nodes],
                        strict=True,
                    )
                ],
                average_precision=score.get("average_precision"),
                recall=score.get("recall_at_k"),
                test_nodes=score.get("k"),
            )
        )
    return rankings
