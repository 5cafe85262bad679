"""The audit of a saved run: draw, checks by a person in a terminal or in a table, and the bound in the run's folder."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.graph.cells import is_missing, spell_id, spell_label
from dccgcn.label.audits import draw_predictions, next_check, summarise
from dccgcn.label.events import Audit, Labels
from dccgcn.label.log import EventLog
from dccgcn.label.source import Source
from dccgcn.quality.audit import AuditSummary
from dccgcn.report.audit import save_audit
from dccgcn.runtime.outputs import write_output
from dccgcn.store.model import load_model
from dccgcn.store.run_folder import LABELS
from dccgcn.tables.files import read_table
from dccgcn.tables.table import unescaped
from dccgcn.tables.write import csv_text

UNKNOWN = "?"  # in a table of checks: the class cannot be told
Ask = Callable[["RunAudit", str], tuple[str, str] | None]


@dataclass(eq=False)
class RunAudit:
    """An audit of the predictions in a folder. Its events are in the folder's log of labels."""

    folder: Path
    source: Source
    log: EventLog
    id: str

    @property
    def labels(self) -> Labels:
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

    def undo(self, who: str) -> str | None:
        """Undo the last answer of a person; its node, or None."""
        checks = [e for e in self.labels.undoable.get(who, []) if e.kind == "check" and e.target == self.id]
        if not checks:
            return None
        self.log.append(who, "undo", target=checks[-1].id)
        return checks[-1].node

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
        ids, labels = unescaped(table.frame[id_column]), unescaped(table.frame[label_column])
        given = {spell_id(i): label for i, label in zip(ids, labels, strict=True) if not is_missing(label)}
        audit, new = self.audit, 0
        for node in audit.predictions:
            if node in given:
                label = "" if given[node] == UNKNOWN else str(spell_label(given[node])).strip()
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
    folder: Path,
    who: str,
    *,
    nodes: Path | None = None,
    new: bool = False,
    bound: float = 0.05,
    checks: int | None = None,
    confidence: float = 0.95,
    seed: int | None = None,
) -> Iterator[RunAudit]:
    """Continue the last audit of a run's predictions, or draw a new one. The log is locked meanwhile."""
    model = load_model(folder)
    rows = None if nodes is None else read_table(nodes, "nodes").frame.reset_index(drop=True)
    if rows is not None and len(rows) != model.result.graph.n:
        n = model.result.graph.n
        raise DataFileError(f"{nodes} has {len(rows):,} rows, but the run {n:,} nodes.", "Give the run's own table.")
    source = Source.from_model(model, rows=rows)
    names = [str(name) for name in model.result.graph.classes]
    predicted = dict(zip(source.ids, (names[k] for k in model.result.prediction.y_pred), strict=True))

    def is_of_run(audit: Audit) -> bool:
        return all(predicted.get(n) == p for n, p in zip(audit.draw.nodes, audit.draw.predictions, strict=True))

    with closing(EventLog(folder / LABELS, source.fingerprint)) as log:
        found = [] if new else [audit.id for audit in source.replay(log.events).audits if is_of_run(audit)]
        if not found:
            draw = draw_predictions(
                model.result, source.ids, bound=bound, checks=checks, confidence=confidence, seed=seed
            )
            found = [log.append(who, "audit", data=draw.to_json()).id]
        yield RunAudit(folder, source, log, found[-1])


def ask_all(run: RunAudit, who: str, ask: Ask) -> None:
    """Ask for the next prediction until the planned checks are done or the person stops.

    ask : gets the audit and a node; returns ("check", class), ("check", "") if it cannot be told, ("undo", ""), or None
        to stop.
    """
    while len(run.audit.checked) < run.audit.draw.planned and (node := next_check(run.audit)) is not None:
        answer = ask(run, node)
        if answer is None:
            return
        if answer[0] == "undo":
            run.undo(who)
        else:
            run.check(who, node, answer[1])
