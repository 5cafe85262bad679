"""Audits: draw trusted predictions at random, and bound the share of wrong ones from the checks of a person."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from dccgcn.errors import DccgcnError
from dccgcn.label.events import Audit, Draw
from dccgcn.quality.audit import CONFIDENCE, AuditSummary, checks_needed, fixed_bound, sequential_bound
from dccgcn.quality.trust import trusted_nodes, trusted_text
from dccgcn.workflow.result import Result

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
    trusted = trusted_nodes(result.prediction)
    population = np.flatnonzero(trusted.is_trusted & result.is_predicted)
    n = len(population)
    if n == 0:
        raise DccgcnError("No prediction is trusted, so there is nothing to check.", "Label more nodes first.")
    planned = checks_needed(bound, n, confidence=_of_each(confidence)) if checks is None else checks
    if not 1 <= planned <= min(n, MAX_DRAWN):
        raise DccgcnError(f"{planned:,} checks were planned.", f"Plan 1 to {min(n, MAX_DRAWN):,}.")
    drawn = np.random.default_rng(seed).permutation(population)[:MAX_DRAWN]
    names = [str(result.graph.classes[k]) for k in result.prediction.y_pred[drawn]]
    return Draw(n, planned, confidence, trusted_text(trusted.basis), tuple(ids[node] for node in drawn), tuple(names))


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
