"""The bound of an audit that a person may stop: sequential first, fixed when the planned checks are done."""

from dataclasses import dataclass

import numpy as np

from dccgcn.label.audits import summarise
from dccgcn.label.events import Draw
from dccgcn.quality.audit import checks_needed

POPULATION, BOUND = 400, 0.1


@dataclass
class Checks:
    """As much of an Audit as a bound needs."""

    draw: Draw
    checked: list
    time: str = "2026-01-01"
    who: str = "Ann"


def draw_of(planned):
    return Draw(POPULATION, planned, 0.95, "all", tuple(map(str, range(POPULATION))), ("a",) * POPULATION)


def test_stopping_when_the_bound_looks_best_keeps_the_confidence():
    """Wrong answers are just above the bound; a person stops as soon as it is reported, which must be rare."""
    rng, n_wrong, planned = np.random.default_rng(0), int(BOUND * POPULATION) + 1, 60
    draw = draw_of(planned)
    wrong = np.arange(POPULATION) < n_wrong
    bounds = {}  # by errors, those among the planned checks, and checks
    broken = 0
    for _ in range(2000):
        errors = np.cumsum(rng.permutation(wrong)[: 2 * planned])
        for checks in range(1, 2 * planned + 1):  # checks may go on after the planned ones
            all_errors, early = int(errors[checks - 1]), int(errors[min(checks, planned) - 1])
            key = all_errors, early, checks
            if key not in bounds:
                done = np.arange(checks) < early
                done[checks - (all_errors - early) :] = True
                bounds[key] = summarise(Checks(draw, done.tolist())).wrong_at_most
            if bounds[key] < n_wrong:
                broken += 1
                break
    assert broken <= 0.05 * 2000


def test_the_planned_checks_are_enough_without_errors():
    planned = checks_needed(BOUND, POPULATION, confidence=0.975)
    draw = draw_of(planned)
    summary = summarise(Checks(draw, [False] * planned))
    assert summary.kind == "fixed"
    assert summary.share_at_most <= BOUND
    early = summarise(Checks(draw, [False] * (planned - 1)))  # a person may stop here, so that this bound is wider
    assert (early.kind, early.checked) == ("sequential", planned - 1)
    assert early.wrong_at_most > summary.wrong_at_most + 1
    more = summarise(Checks(draw, [False] * planned + [True]))  # a check beyond the plan does not count
    assert (more.kind, more.checked, more.errors) == ("fixed", planned, 0)
    many = summarise(Checks(draw, [False] * 4 * planned))  # but enough of them tighten it
    assert (many.kind, many.checked) == ("sequential", 4 * planned)
    assert many.wrong_at_most < summary.wrong_at_most
