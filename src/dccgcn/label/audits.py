"""Audits: draw trusted predictions at random, and bound the share of wrong ones from the checks of a person.

The audit of a saved run is kept in its folder: the draw and the checks in the log of labels, the bound in audit.json.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.graph import is_missing, spell_id, spell_label
from dccgcn.label.events import Annotations, Audit, Draw
from dccgcn.label.log import EventLog
from dccgcn.label.source import Source
from dccgcn.quality import (
    CONFIDENCE,
    AuditSummary,
    checks_needed,
    fixed_bound,
    sequential_bound,
    trusted_text,
)
from dccgcn.report import save_audit
from dccgcn.runtime import write_output
from dccgcn.store import LABELS, load_model
from dccgcn.tables import csv_text, read_table
from dccgcn.workflow import Result

BOUND = 0.05  # share of wrong predictions to aim for
WISHES = (0.1, 0.05, 0.02, 0.01)
MAX_DRAWN = 5000  # a person who checks more has checked everything


def draw_predictions(
    result: Result,
    ids: Sequence[str],
    *,
    bound: float = BOUND,
    checks: int | None = None,
    confidence: float = CONFIDENCE,
    seed: int | None = None,
) -> Draw:
    """Draw trusted predictions at random, in the order in which to check them.

    ids : of all nodes, as text.
    bound : share of wrong predictions to be shown; without errors the planned checks are enough for it.
    checks : number of checks to plan instead.
    seed : of the draw; omitted, the draw cannot be predicted.
    """
    population = np.flatnonzero(result.trusted.is_trusted & result.is_predicted)
    n = len(population)
    if n == 0:
        raise DccgcnError("No prediction is trusted, so there is nothing to check.", "Label more nodes first.")
    planned = checks_needed(bound, n, confidence=_of_each(confidence)) if checks is None else checks
    if not 1 <= planned <= min(n, MAX_DRAWN):
        raise DccgcnError(f"{planned:,} checks were planned.", f"Plan 1 to {min(n, MAX_DRAWN):,}.")
    drawn = np.random.default_rng(seed).permutation(population)[:MAX_DRAWN]
    names = [str(result.graph.classes[k]) for k in result.prediction.y_pred[drawn]]
    return Draw(
        n, planned, confidence, trusted_text(result.trusted.basis), tuple(ids[node] for node in drawn), tuple(names)
    )


def next_check(audit: Audit) -> str | None:
    """The first node of the draw without an answer; None if all are answered."""
    return next((node for node in audit.predictions if node not in audit.answers), None)


def summarise(audit: Audit) -> AuditSummary | None:
    """The bound: until the planned checks are done the sequential one, then the smaller of the two.

    Which of them is reported depends on when a person stops, so both must hold together: each has half of the risk.
    """
    draw, wrong = audit.draw, audit.checked
    if not wrong:
        return None
    level, first = _of_each(draw.confidence), wrong[: draw.planned]
    kind: Literal["fixed", "sequential"] = "sequential"
    counted = wrong
    at_most = sequential_bound(sum(wrong), len(wrong), draw.population, level)
    if len(first) == draw.planned:
        fixed = fixed_bound(sum(first), len(first), draw.population, level)
        if fixed <= at_most:
            kind, counted, at_most = "fixed", first, fixed
    return AuditSummary(
        date=audit.time,
        who=audit.who,
        trusted=draw.trusted,
        population=draw.population,
        planned=draw.planned,
        checked=len(counted),
        errors=sum(counted),
        confidence=draw.confidence,
        kind=kind,
        wrong_at_most=at_most,
        share_at_most=at_most / draw.population,
    )


def status(audit: Audit) -> dict[str, Any]:
    """Progress of an audit as plain values: the bound now, and the checks that wished bounds would need."""
    draw, wrong = audit.draw, audit.checked
    summary, errors, n = summarise(audit), sum(wrong), draw.population
    level = _of_each(draw.confidence)
    now = sequential_bound(errors, len(wrong), n, level) / n
    needed = {}
    for wish in WISHES:
        total = checks_needed(wish, n, errors, level, sequential=True)
        needed[f"{wish:g}"] = max(0, total - len(wrong)) if errors <= wish * n else None
    return {
        "id": audit.id,
        "date": audit.time,
        "population": n,
        "planned": draw.planned,
        "confidence": draw.confidence,
        "trusted": draw.trusted,
        "checked": len(wrong),
        "waiting": len(audit.answers) - len(wrong),  # for one before them in the draw that somebody else is checking
        "errors": errors,
        "any_time": now,
        "more_checks": needed,
        "done": len(wrong) >= draw.planned,
        "sentence": summary.sentence() if summary else "",
    }


def _of_each(confidence: float) -> float:
    """Confidence of each of two bounds that together hold with the given one."""
    return (1 + confidence) / 2


UNKNOWN = "?"  # in a table of checks: the class cannot be told


@dataclass(eq=False)
class RunAudit:
    """An audit of the predictions in a folder. Its events are in the folder's log of labels."""

    folder: Path
    source: Source
    log: EventLog
    id: str

    @property
    def labels(self) -> Annotations:
        return self.source.replay(self.log.events)

    @property
    def audit(self) -> Audit:
        return next(audit for audit in self.labels.audits if audit.id == self.id)

    @property
    def classes(self) -> list[str]:
        return self.labels.classes

    def check(self, who: str, node: str, label: str) -> None:
        """Write one answer; an empty label: the class cannot be told."""
        if label and label not in self.classes:
            raise DccgcnError(f"{label!r} is not a class of the run.", f"Classes are {', '.join(self.classes)}.")
        self.log.append(who, "check", target=self.id, node=node, label=label)

    def undo(self, who: str) -> None:
        """Undo the last answer of a person, if there is one."""
        checks = [e for e in self.labels.undoable.get(who, []) if e.kind == "check" and e.target == self.id]
        if checks:
            self.log.append(who, "undo", target=checks[-1].id)

    def write_draw(self, path: Path) -> None:
        """The planned checks as a table with an empty column of labels, beside the rows of the nodes if known."""
        audit = self.audit
        nodes = list(audit.predictions)[: audit.draw.planned]
        answers = [next(iter(audit.answers.get(node, {"": ""}).values())) for node in nodes]
        columns = {"node_id": nodes, "prediction": [audit.predictions[node] for node in nodes], "label": answers}
        frame = pd.DataFrame(columns)
        if self.source.rows is not None:
            rows = self.source.rows.iloc[[self.source.position[node] for node in nodes]].reset_index(drop=True)
            frame = pd.concat([frame, rows.drop(columns=[c for c in rows if c in frame])], axis=1)
        write_output(path, csv_text(frame))

    def read_checks(self, path: Path, who: str) -> int:
        """Record the answers of a table of node_id and label; how many were new. An empty label is not checked yet."""
        table = read_table(path, "checks")
        names = {name.lower(): name for name in table.frame}
        id_column, label_column = names.get("node_id") or names.get("id"), names.get("label")
        if id_column is None or label_column is None:
            raise DataFileError(f"{path} has no columns node_id and label.", "Fill in the table that --draw wrote.")
        ids, labels = table.frame[id_column], table.frame[label_column]
        label_of = {spell_id(i): label for i, label in zip(ids, labels, strict=True) if not is_missing(label)}
        audit, new = self.audit, 0
        for node in audit.predictions:
            if node in label_of:
                label = "" if label_of[node] == UNKNOWN else str(spell_label(label_of[node])).strip()
                if audit.answers.get(node, {}).get(who) != label:
                    self.check(who, node, label)
                    new += 1
        return new

    def save(self) -> AuditSummary | None:
        """Write the bound so far into the folder: audit.json, model card and report."""
        summary = summarise(self.audit)
        if summary is not None:
            save_audit(summary, load_model(self.folder).result, self.folder)
        return summary


@contextmanager
def open_audit(
    folder: Path, who: str, *, nodes: Path | None = None, new: bool = False, **plan: Any
) -> Iterator[RunAudit]:
    """Continue the last audit of a run's predictions, or draw a new one. The log is locked meanwhile.

    nodes : the table of nodes, to show their rows. new : draw again. plan : options of ``draw_predictions``.
    """
    model = load_model(folder)
    source = Source.from_model(model, nodes)
    names = [str(name) for name in model.result.graph.classes]
    predicted = dict(zip(source.ids, (names[k] for k in model.result.prediction.y_pred), strict=True))

    def is_of_run(audit: Audit) -> bool:
        return all(predicted.get(n) == p for n, p in zip(audit.draw.nodes, audit.draw.predictions, strict=True))

    with closing(EventLog(folder / LABELS, source.fingerprint)) as log:
        found = [] if new else [audit.id for audit in source.replay(log.events).audits if is_of_run(audit)]
        if not found:
            draw = draw_predictions(model.result, source.ids, **plan)
            found = [log.append(who, "audit", data=draw.to_json()).id]
        yield RunAudit(folder, source, log, found[-1])
