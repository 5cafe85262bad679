"""Audit: exact upper bounds on the share of wrong predictions, from checks of a random draw.

m of the N predictions are drawn at random without replacement and checked; e of them are wrong. The bounds assume
nothing but the random draw. K is the unknown number of wrong predictions among the N.

``fixed_bound`` is the tighter one. It holds if m was chosen before the first check. ``sequential_bound`` holds for all
numbers of checks at once, so that one may look at it after every check and stop whenever one likes.
"""

import math
from functools import lru_cache
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from scipy.special import betaln, gammaln

from dccgcn.errors import DccgcnError

CONFIDENCE = 0.95
_PRIOR = 0.5  # both parameters of the beta-binomial mixture (Jeffreys): few errors are likely, many are possible
_BELOW = 1 - 1e-9  # a probability equal to 1 - confidence but for rounding does not reject


class AuditSummary(BaseModel):
    """Trusted predictions that a person checked, and the exact bound that follows: audit.json of a run folder."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    date: str = Field(description="When the predictions were drawn, as ISO 8601, UTC")
    who: str = Field(description="Who drew them")
    trusted: str = Field(description="What counted as trusted")
    population: int = Field(ge=1, description="Trusted predictions at that time, from which was drawn at random")
    planned: int = Field(ge=1, description="Number of checks chosen before the first")
    checked: int = Field(ge=1, description="Predictions checked that the bound counts")
    errors: int = Field(ge=0, description="Of these, found wrong or impossible to tell")
    confidence: float = Field(ge=0, le=1, description="Probability with which the bound holds")
    kind: Literal["fixed", "sequential"] = Field(
        description="`fixed`: hypergeometric, for the planned number of checks; `sequential`: holds at any time"
    )
    wrong_at_most: int = Field(ge=0, description="Upper bound on the wrong ones among all trusted predictions")
    share_at_most: float = Field(ge=0, le=1, description="The same as a share of them")

    def sentence(self) -> str:
        """The audit in one sentence."""
        design = "planned before" if self.kind == "fixed" else "a sequential bound, valid at any time"
        share = math.ceil(1000 * self.share_at_most) / 10  # rounded up: it is a bound
        return (
            f"At most {share:g}\u00a0% of the {self.population:,} trusted predictions are wrong, with "
            f"{100 * self.confidence:g}\u00a0% confidence: of {self.checked:,} drawn at random on {self.date[:10]} and "
            f"checked by a person, {self.errors:,} were wrong ({design})."
        )


def fixed_bound(errors: int, checks: int, population: int, confidence: float = CONFIDENCE) -> int:
    """Upper bound on K: the largest K with P(at most e errors in m draws | K) > 1 - confidence (hypergeometric).

    >>> fixed_bound(0, 59, 1000), fixed_bound(0, 59, 100)
    (48, 3)
    """
    from scipy.stats import hypergeom  # slow to import

    _check(errors, checks, population, confidence)
    low, high = errors, population - checks + errors  # every unchecked prediction may be wrong
    while low < high:
        middle = (low + high + 1) // 2
        if hypergeom.cdf(errors, population, middle, checks) > (1 - confidence) * _BELOW:
            low = middle
        else:
            high = middle - 1
    return low


def sequential_bound(errors: int, checks: int, population: int, confidence: float = CONFIDENCE) -> int:
    """Upper bound on K that holds at all times at once.

    For each k, the ratio of two likelihoods of the checks so far, a mixture over all K < k against K = k, is a
    non-negative martingale with mean 1 if K = k. By Ville's inequality it ever reaches 1 / (1 - confidence) with a
    probability of at most 1 - confidence. The bound is the largest k whose ratio is below that (a betting confidence
    sequence for sampling without replacement, Waudby-Smith & Ramdas 2020, with a one-sided mixture).

    >>> sequential_bound(0, 59, 1000), sequential_bound(0, 75, 1000)
    (60, 47)
    """
    _check(errors, checks, population, confidence)
    low, high = errors, population - checks + errors  # all other K are impossible
    k = np.arange(low, high + 1, dtype=np.float64)
    likelihood = _log_falling(k, errors) + _log_falling(population - k, checks - errors)
    weight = _log_prior(population)
    mixture = np.full(len(k), -np.inf)  # Σ over K < k of prior · likelihood
    mixture[1:] = np.logaddexp.accumulate(weight[low:high] + likelihood[:-1])
    below = np.logaddexp.accumulate(weight)  # Σ over K ≤ k of prior
    if low == 0:
        ratio = mixture[1:] - below[:high] - likelihood[1:]
        ratio = np.concatenate([[-np.inf], ratio])  # K = 0 has no alternative below it
    else:
        ratio = mixture - below[low - 1 : high] - likelihood
    return int(k[np.flatnonzero(ratio < -np.log(1 - confidence) / _BELOW)[-1]])


@lru_cache(maxsize=128)
def checks_needed(
    share: float, population: int, errors: int = 0, confidence: float = CONFIDENCE, sequential: bool = False
) -> int:
    """Smallest number of checks after which the bound is at most this share of the population, given e errors in all.

    If even a check of every prediction leaves more wrong ones than that, all of them: ``population``.

    >>> [checks_needed(share, 10**7) for share in (0.1, 0.05, 0.01)]
    [29, 59, 299]
    """
    if not 0 < share < 1:
        raise DccgcnError(f"The wished bound is {share:g}.", "Give a share between 0 and 1, such as 0.05.")
    _check(min(errors, population), population, population, confidence)
    bound = sequential_bound if sequential else fixed_bound
    low, high = max(errors, 1), population
    while low < high:
        middle = (low + high) // 2
        if bound(errors, middle, population, confidence) <= share * population:
            high = middle
        else:
            low = middle + 1
    return low


def _log_falling(k: np.ndarray, m: int) -> np.ndarray:
    """log of k · (k - 1) ⋯ (k - m + 1)."""
    return np.asarray(gammaln(k + 1) - gammaln(k - m + 1))


@lru_cache(maxsize=8)
def _log_prior(population: int) -> np.ndarray:
    """(N + 1,) log of the beta-binomial weights of K = 0 … N."""
    k = np.arange(population + 1, dtype=np.float64)
    choose = -np.log(population + 1) - betaln(population - k + 1, k + 1)
    return np.asarray(choose + betaln(k + _PRIOR, population - k + _PRIOR) - betaln(_PRIOR, _PRIOR))


def _check(errors: int, checks: int, population: int, confidence: float) -> None:
    if not 0 <= errors <= checks:
        raise DccgcnError(f"{errors} errors in {checks} checks cannot be.", "Errors are counted among the checks.")
    if not checks <= population:
        raise DccgcnError(f"{checks} checks cannot be drawn from {population} predictions.", "Draw fewer.")
    if not 0 < confidence < 1:
        raise DccgcnError(f"The confidence is {confidence:g}.", "Give a number between 0 and 1, such as 0.95.")
