"""Events of labelling, and the labels that follow from them.

Nothing is ever changed or deleted: labels, skips, class names and audits are the result of replaying all events in the
order of their clocks, which count them.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass as checked_dataclass

from dccgcn.errors import DataFileError

Parsed = TypeVar("Parsed")
TABLE = ""  # the author of labels that were given with the graph
Kind = Literal["label", "skip", "undo", "class", "rename", "decide", "audit", "check", "fit"]
MAX_NAME = 10_000  # characters of the name of a class: with four bytes each it fits into a request
MAX_COUNT = 1_000_000_000  # of events, or of nodes
Name = Annotated[str, Field(max_length=MAX_NAME)]
Node = Annotated[str, Field(max_length=100_000)]
_STRICT = ConfigDict(strict=True, extra="forbid")


@checked_dataclass(frozen=True, order=True, config=_STRICT)
class Event:
    """One act of one person.

    kind     fields
    label    node, label: this person's label of the node
    skip     node: no answer; the node is not asked of this person again
    undo     target: an earlier event, which then has no effect
    class    label: a new class
    rename   target, label: a class and its new name; if the name is in use, the two classes are merged
    decide   node, label: the label of a node on which people disagree
    audit    data: a random draw of predictions to check, see Draw
    check    target, node, label: the true class of a node of an audit; no label: it cannot be told
    fit      data: a point of the curve, see Point; the act of the server
    """

    clock: Annotated[int, Field(ge=0, le=MAX_COUNT)]
    id: Annotated[str, Field(min_length=1, max_length=32)]  # random, unique
    who: Name
    time: Annotated[str, Field(max_length=40)]  # UTC, for people; the order does not depend on it
    kind: Kind
    node: Node = ""
    label: Name = ""
    target: Name = ""
    data: Annotated[str, Field(max_length=50_000_000)] = ""


@checked_dataclass(frozen=True, config=_STRICT)
class Draw:
    """Predictions drawn at random without replacement from all trusted ones, in the order in which to check them."""

    population: Annotated[int, Field(le=MAX_COUNT)]  # trusted predictions at that time
    planned: Annotated[int, Field(ge=1)]  # checks after which the fixed bound is valid
    confidence: Annotated[float, Field(gt=0, lt=1)]
    trusted: Name  # what counted as trusted, for people
    nodes: tuple[Node, ...]
    predictions: tuple[Name, ...]  # of the nodes, at that time

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        if not self.planned <= len(self.nodes) <= self.population:
            raise ValueError("more checks were planned than drawn")
        if len(self.nodes) != len(self.predictions) or len(set(self.nodes)) != len(self.nodes):
            raise ValueError("nodes and predictions are not pairs")
        return self

    def to_json(self) -> str:
        return _DRAW.dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str) -> "Draw":
        """Read and check a draw; a DataFileError if it is not one."""
        return _parse(_DRAW, text, "An audit")


_Share = Annotated[float, Field(ge=0, le=1)]
Point = tuple[Annotated[int, Field(ge=0, le=MAX_COUNT)], _Share, _Share]  # labels so far, trusted, estimated accuracy
_DRAW, _POINT = TypeAdapter(Draw), TypeAdapter(Point)


def point_json(labels: int, trusted: float, accuracy: float) -> str:
    """A point of the curve as an event keeps it; a DataFileError if it could not be read again."""
    text = json.dumps([labels, min(trusted, 1.0), min(accuracy, 1.0)])  # a mean may be rounded up
    _parse(_POINT, text, "A fit")
    return text


def _parse(kind: TypeAdapter[Parsed], text: str, what: str) -> Parsed:
    try:
        return kind.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]["msg"]
        raise DataFileError(f"{what} of the log is not valid ({first}).", "Name another log with --log.") from None


@dataclass
class Audit:
    """A draw and the checks of it so far."""

    id: str
    who: str
    time: str
    draw: Draw
    predictions: dict[str, str]  # by node, in the order of the draw, under the present names of the classes
    answers: dict[str, dict[str, str]] = field(default_factory=dict)  # node → person → class, "" for unknown

    @property
    def checked(self) -> list[bool]:
        """Whether each prediction is wrong, from the first of the draw to the last before one that is not checked.

        An answer that cannot be told counts as wrong, and so does one on which people disagree.
        """
        wrong = []
        for node, prediction in self.predictions.items():
            if node not in self.answers:
                break
            wrong.append(set(self.answers[node].values()) != {prediction})
        return wrong


@dataclass
class Annotations:
    """What follows from all events."""

    classes: list[str]
    answers: dict[str, dict[str, str]]  # node → person → label
    decided: dict[str, str] = field(default_factory=dict)  # node → label
    skipped: dict[str, set[str]] = field(default_factory=dict)  # person → nodes
    audits: list[Audit] = field(default_factory=list)
    curve: list[Point] = field(default_factory=list)  # one for each fit, oldest first
    undoable: dict[str, list[Event]] = field(default_factory=dict)  # person → events that have an effect, oldest first

    @property
    def labels(self) -> dict[str, str]:
        """Label of each node that was decided or on which all agree, in the order of the first labels."""
        return {
            node: self.decided.get(node, next(iter(answers.values())))
            for node, answers in self.answers.items()
            if node in self.decided or len(set(answers.values())) == 1
        }

    @property
    def disagreements(self) -> dict[str, dict[str, str]]:
        """Nodes with different labels of different people, and no decision."""
        return {
            node: answers
            for node, answers in self.answers.items()
            if node not in self.decided and len(set(answers.values())) > 1
        }


def replay(
    events: Iterable[Event], classes: Iterable[str] = (), first_labels: Mapping[str, str] | None = None
) -> Annotations:
    """The labels after all events, whatever the order in which they are passed.

    classes, first_labels : the classes and labels (by node) that came with the graph.
    """
    ordered = sorted(events)
    undone = {event.target for event in ordered if event.kind == "undo"}
    labels = Annotations(
        list(dict.fromkeys(classes)), {node: {TABLE: label} for node, label in (first_labels or {}).items()}
    )
    renamed: dict[str, str] = {}  # names that are no class any more
    audits: dict[str, Audit] = {}
    for event in ordered:
        if event.kind == "undo" or event.id in undone:
            continue
        if event.kind not in ("audit", "fit"):  # to draw again until the answers please would break the bound
            labels.undoable.setdefault(event.who, []).append(event)
        match event.kind:
            case "class":
                renamed.pop(event.label, None)
                _known(labels, renamed, event.label)
            case "rename":
                _rename(labels, audits.values(), renamed, event.target, event.label)
            case "skip":
                labels.skipped.setdefault(event.who, set()).add(event.node)
            case "label":
                _label(labels, event.who, event.node, _known(labels, renamed, event.label))
            case "decide":
                labels.decided[event.node] = _known(labels, renamed, event.label)
                labels.answers.setdefault(event.node, {}).setdefault(event.who, labels.decided[event.node])
            case "audit":
                draw = Draw.from_json(event.data)
                predictions = [_known(labels, renamed, name) for name in draw.predictions]
                audit = Audit(event.id, event.who, event.time, draw, dict(zip(draw.nodes, predictions, strict=True)))
                audits[event.id] = audit
            case "fit":
                labels.curve.append(_parse(_POINT, event.data, "A fit"))
            case "check":
                name = _known(labels, renamed, event.label) if event.label else ""
                if event.target in audits:
                    audits[event.target].answers.setdefault(event.node, {})[event.who] = name
                if name:
                    _label(labels, event.who, event.node, name)
    labels.audits = list(audits.values())
    return labels


def _label(labels: Annotations, who: str, node: str, label: str) -> None:
    labels.answers.setdefault(node, {})[who] = label
    labels.skipped.get(who, set()).discard(node)
    if labels.decided.get(node, label) != label:  # a later answer contradicts the decision
        del labels.decided[node]


def _known(labels: Annotations, renamed: Mapping[str, str], name: str) -> str:
    """The present name of a class; a name that was never used is a new class."""
    while name in renamed:  # ends: a name in use is not in it
        name = renamed[name]
    if name not in labels.classes:
        labels.classes.append(name)
    return name


def _rename(labels: Annotations, audits: Iterable[Audit], renamed: dict[str, str], old: str, new: str) -> None:
    old = _known(labels, renamed, old)
    if old == new:
        return
    renamed.pop(new, None)
    if new in labels.classes:
        labels.classes.remove(old)
    else:
        labels.classes[labels.classes.index(old)] = new
    renamed[old] = new
    tables: list[dict[str, Any]] = [*labels.answers.values(), labels.decided]
    for audit in audits:
        tables += [audit.predictions, *audit.answers.values()]
    for table in tables:
        table.update({key: new for key, label in table.items() if label == old})
