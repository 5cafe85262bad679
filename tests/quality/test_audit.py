"""The audit's bounds: against literal definitions, and their coverage in ten thousand simulated audits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import betabinom, hypergeom

from dccgcn.errors import DccgcnError
from dccgcn.quality.audit import AuditSummary, checks_needed, fixed_bound, sequential_bound

AUDITS = 10_000
CHANCE = 3 * np.sqrt(0.05 * 0.95 / AUDITS)  # three standard errors of a simulated coverage


@st.composite
def audits(draw, largest=60):
    population = draw(st.integers(1, largest))
    checks = draw(st.integers(0, population))
    return draw(st.integers(0, checks)), checks, population


@given(audits())
def test_the_fixed_bound_is_the_largest_number_that_is_not_rejected(given_audit):
    errors, checks, population = given_audit
    possible = range(errors, population - checks + errors + 1)
    kept = [k for k in possible if hypergeom.cdf(errors, population, k, checks) > 0.05 * (1 - 1e-9)]
    assert fixed_bound(errors, checks, population) == max(kept)


def log_likelihood(k, errors, checks, population):
    """Of one sequence of checks with so many errors; -inf if it is impossible."""
    if not errors <= k <= population - checks + errors:
        return -np.inf
    return (
        gammaln(k + 1)
        - gammaln(k - errors + 1)
        + gammaln(population - k + 1)
        - gammaln(population - k - (checks - errors) + 1)
    )


@given(audits(25))
def test_the_sequential_bound_is_as_defined(given_audit):
    errors, checks, population = given_audit
    prior = betabinom.pmf(np.arange(population + 1), population, 0.5, 0.5)
    kept = []
    for k in range(population + 1):
        own = log_likelihood(k, errors, checks, population)
        if own == -np.inf:
            continue
        below = [prior[j] * np.exp(log_likelihood(j, errors, checks, population) - own) for j in range(k)]
        if k == 0 or sum(below) / prior[:k].sum() < 20:
            kept.append(k)
    assert sequential_bound(errors, checks, population) == max(kept)


@pytest.mark.parametrize("sequential", [False, True])
@given(population=st.integers(2, 300), share=st.sampled_from([0.01, 0.05, 0.1, 0.3]), errors=st.integers(0, 3))
def test_the_checks_needed_are_enough_and_one_less_is_not(sequential, population, share, errors):
    errors = min(errors, population)
    bound = sequential_bound if sequential else fixed_bound
    checks = checks_needed(share, population, errors, sequential=sequential)
    if errors <= share * population:
        assert bound(errors, checks, population) <= share * population
    else:
        assert checks == population
    if checks > max(errors, 1):
        assert bound(errors, checks - 1, population) > share * population


@pytest.mark.parametrize(
    ("population", "wrong", "checks"), [(80, 6, 29), (400, 20, 59), (3000, 30, 299), (3000, 0, 59)]
)
def test_the_fixed_bound_covers_in_ten_thousand_audits(population, wrong, checks):
    errors = np.random.default_rng(0).hypergeometric(wrong, population - wrong, checks, size=AUDITS)
    bounds = np.array([fixed_bound(e, checks, population) for e in range(errors.max() + 1)])
    assert (bounds[errors] >= wrong).mean() >= 0.95 - CHANCE


def fewest_errors(bound, wrong, population, last):
    """(last,) for each number of checks, the fewest errors with which the bound covers; bounds grow with the errors."""
    fewest, errors = [], 0
    for checks in range(1, last + 1):
        while bound(errors, checks, population) < wrong:
            errors += 1
        fewest.append(errors)
    return np.array(fewest)


@pytest.mark.parametrize("wrong", [4, 20, 80])
def test_the_sequential_bound_covers_at_all_times_of_ten_thousand_audits(wrong):
    population, last = 400, 200
    is_wrong = np.random.default_rng(0).permuted(np.tile(np.arange(population) < wrong, (AUDITS, 1)), axis=1)
    errors = is_wrong[:, :last].cumsum(axis=1)  # (audits, checks)
    covered = (errors >= fewest_errors(sequential_bound, wrong, population, last)).all(axis=1)
    assert covered.mean() >= 0.95 - CHANCE
    if wrong > 4:  # why looking again and again needs the sequential bound
        assert (errors >= fewest_errors(fixed_bound, wrong, population, last)).all(axis=1).mean() < 0.9


@pytest.mark.parametrize(
    ("kind", "design"), [("fixed", "planned before"), ("sequential", "a sequential bound, valid at any time")]
)
def test_the_sentence_states_design_and_bound_rounded_up(kind, design):
    counts = {
        "population": 1000,
        "planned": 59,
        "checked": 59,
        "errors": 1,
        "wrong_at_most": 78,
        "share_at_most": 0.0781,
    }
    about = {"date": "2026-01-02T03:04:05", "who": "Ann", "trusted": "all", "confidence": 0.95}
    assert AuditSummary(kind=kind, **counts, **about).sentence().replace("\u00a0", " ") == (
        "At most 7.9 % of the 1,000 trusted predictions are wrong, with 95 % confidence: of 59 drawn at random on "
        f"2026-01-02 and checked by a person, 1 were wrong ({design})."
    )


def test_impossible_audits_are_refused():
    for given_audit in ((2, 1, 10), (-1, 1, 10), (0, 11, 10)):
        with pytest.raises(DccgcnError):
            fixed_bound(*given_audit)
    with pytest.raises(DccgcnError, match="between 0 and 1"):
        checks_needed(0, 10)
    with pytest.raises(DccgcnError, match="between 0 and 1"):
        checks_needed(-0.1, 10)
    with pytest.raises(DccgcnError, match="confidence"):
        fixed_bound(0, 1, 10, confidence=1)


@given(audits())
def test_bounds_are_exact_after_all_checks_and_grow_with_the_errors(given_audit):
    errors, checks, population = given_audit
    for bound in (fixed_bound, sequential_bound):
        assert bound(errors, population, population) == errors
        assert errors == checks or bound(errors, checks, population) <= bound(errors + 1, checks, population)
    assert sequential_bound(*given_audit) >= fixed_bound(*given_audit)
