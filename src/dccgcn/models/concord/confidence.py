"""Confidence: the probability that a prediction is right, from margins, votes, refits and cross-validation.

    e = E u / √λ,   EᵀE/n u = λ u, λ the largest eigenvalue                                           (C13)
    trust = (1-ν) sigmoid(β0 + β1 e + β2 log((h + 24) / (m - h + 8))) + ν g                           (C14)
    ν = π B0 / (π B0 + (1-π) B1),   B0 = Bin(h; m, g),   B1 = ∫ Bin(h; m, x) Beta(x; 4, 2) dx         (C15)

E (n, 4) holds normal scores of four features of each prediction: the margin of F, the mean vote of the members, and the
class margins of two leave-one-out refits (C10). Ranks are used because the level of confidence differs between graphs
far more than its order; the first principal component, because the misleading feature differs from graph to graph.
Cross-validation recovers h of m checkable labels; guessing would recover a share g. ν is the posterior probability,
with prior π, that neither edges nor features carry information about the classes. β is the same for every graph; it was
fitted on development splits of six (scripts/fit_confidence.py).
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import betaln, expit, logit, ndtri, xlog1py, xlogy

from dccgcn.errors import Finding
from dccgcn.models.concord.ensemble import EnsembleOutput, margin
from dccgcn.models.concord.loo_ridge import LooRidge
from dccgcn.models.concord.state import FitState

COEFFICIENTS = {
    "intercept": 0.249,
    "first principal component": 1.277,
    "log-odds of recovering a label": 1.319,
}
_PRIOR_RECOVERED, _PRIOR_MISSED = 24, 8  # pseudocounts of the odds in (C14)
_PRIOR_UNINFORMATIVE = 0.05  # π
_RECOVERY_BETA = 4, 2  # Beta distribution of the recovery rate on informative graphs


def confidence(output: EnsembleOutput, state: FitState, regressors: Sequence[LooRidge]) -> tuple[np.ndarray, float]:
    """The trust of each prediction, (n,), and ν."""
    nu = p_uninformative(state.n_recovered, state.given.n_checkable, state.given.chance)
    return trust(confidence_features(output, state, regressors), nu, state.given.chance), nu


def confidence_features(output: EnsembleOutput, state: FitState, regressors: Sequence[LooRidge]) -> np.ndarray:
    """(n, 3): the columns that COEFFICIENTS multiply."""
    f, predicted = state.given.clamp(output.f), output.f.argmax(axis=1)
    vote = mean_vote(state.log_probs, state.weights, predicted)
    features = [margin(output.f), vote, *(class_margin(ridge.predict_loo(f), predicted) for ridge in regressors)]
    e = first_pc(np.column_stack([normal_scores(feature) for feature in features]))
    n_missed = max(state.given.n_checkable - state.n_recovered, 0)
    log_odds = np.log((state.n_recovered + _PRIOR_RECOVERED) / (n_missed + _PRIOR_MISSED))
    return np.column_stack([np.ones(len(f)), e, np.full(len(f), log_odds)])


def first_pc(scores: np.ndarray) -> np.ndarray:
    """e of (C13), (n,): unit variance, or 0 where all scores are."""
    values, vectors = np.linalg.eigh(scores.T @ scores / len(scores))
    leading = vectors[:, -1]
    return np.asarray(scores @ leading * np.sign(leading.sum()) / np.sqrt(max(values[-1], 1e-12)))


def normal_scores(values: np.ndarray) -> np.ndarray:
    """Standard normal quantiles of the ranks; 0 where all values are equal."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2  # of equal values: their mean
    return np.asarray(ndtri((rank[index] - 0.5) / len(values)))


def class_margin(scores: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """(n,) score of the predicted class minus the largest other one."""
    rows, others = np.arange(len(predicted)), scores.copy()
    others[rows, predicted] = -np.inf
    return np.asarray(scores[rows, predicted] - others.max(axis=1))


def mean_vote(log_probs: Sequence[np.ndarray], weights: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """(n,) weighted mean over the members of the predicted class's probability."""
    rows = np.arange(len(predicted))
    shares = weights / weights.sum()
    votes = (share * np.exp(log_p[rows, predicted]) for share, log_p in zip(shares, log_probs, strict=True))
    return np.asarray(sum(votes))


def p_uninformative(n_recovered: int, n_checkable: int, chance: float) -> float:
    """ν of (C15): the posterior probability that labels are recovered by chance alone.

    By the logarithms of the binomial and the beta-binomial probability; the binomial coefficient of both cancels.
    """
    n_recovered = min(n_recovered, n_checkable)
    n_missed, (a, b) = n_checkable - n_recovered, _RECOVERY_BETA
    by_chance = xlogy(n_recovered, chance) + xlog1py(n_missed, -chance)
    informative = betaln(n_recovered + a, n_missed + b) - betaln(a, b)
    return float(expit(logit(_PRIOR_UNINFORMATIVE) + by_chance - informative))


def uninformative_finding(nu: float, state: FitState) -> list[Finding]:
    """A warning if edges and features are more likely uninformative than not."""
    if nu < 0.5:
        return []
    text = (
        f"Cross-validation recovers {state.n_recovered} of {state.given.n_checkable} labels, about chance: "
        "edges and features seem to carry no information about these classes."
    )
    return [Finding("warning", "uninformative", text)]


def trust(features: np.ndarray, nu: float, chance: float, beta: Sequence[float] | None = None) -> np.ndarray:
    """(C14), (n,), with COEFFICIENTS or other β."""
    informative = expit(features @ np.array(list(COEFFICIENTS.values()) if beta is None else beta))
    return np.asarray((1 - nu) * informative + nu * chance, dtype=np.float32)


def rescale_to_confidence(f: np.ndarray, target: np.ndarray) -> np.ndarray:
    """F^β, normalised, with one β per node such that its largest probability is its trust, but at least 1/C.

    The order of the classes stays. β is found by bisection.
    """
    c = f.shape[1]
    target = np.clip(target, 1 / c + 1e-4, 1 - 1e-4)
    log_f = np.log(np.maximum(f, 1e-12)).astype(np.float64)
    log_f -= log_f.max(axis=1, keepdims=True)
    low, high = np.full(len(f), -12.0), np.full(len(f), 12.0)  # log β
    for _ in range(24):
        middle = (low + high) / 2
        largest = 1 / (np.exp(np.exp(middle)[:, None] * log_f) @ np.ones(c))
        low, high = np.where(largest < target, middle, low), np.where(largest < target, high, middle)
    p = np.exp(np.exp(high)[:, None] * log_f)
    return np.asarray(p / p.sum(axis=1, keepdims=True), dtype=np.float32)
