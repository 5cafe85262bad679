"""Trust: how likely an answer is right, from margin, agreement and neighbourhood together.

    e = E u / √λ,   E'E/n u = λ u, λ the largest                                                        (C13)
    trust = (1-ν) sigmoid(β0 + β1 e + β2 log odds of a label's being found unseen) + ν g               (C14)
    ν = π B0 / (π B0 + (1-π) B1),   B0 = Bin(h; m, g),   B1 = ∫ Bin(h; m, x) Beta(x; 4, 2) dx          (C15)

A row of E holds the evidence for one node: its margin, how probable its voices find its answer, and how far that answer
leads in two echoes of all other nodes' answers (C10), one in what a node has of its own and one in all that both
channels know of it and of those around it. Evidence counts by its rank among the nodes of its graph: how
confident voices sound differs from graph to graph far more than who sounds most confident. And it counts as far as it
is in concord with the rest: on each graph another kind of evidence misleads, and nothing else tells which. How far a
graph's answers can be believed as a whole is told by how many of the given labels are found unseen: h of m. It may also
be that neither edges nor features tell anything of the classes: ν is how likely that is, if h labels were found where g
of them are found by chance, and π how likely it was before. The coefficients are the same for every graph; they were
fitted on development splits of six. Of nodes that neither a label nor a feature can tell anything of, the answer is a
guess, and is trusted as one.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, ndtri
from scipy.stats import betabinom, binom, rankdata

from dccgcn.errors import Finding
from dccgcn.models.concord.ensemble import Concord, margin
from dccgcn.models.concord.loo_ridge import Room
from dccgcn.models.concord.state import Learned

COEFFICIENTS = {
    "constant": 0.249,
    "evidence": 1.277,
    "graph: labels found unseen": 1.319,
}
_RIGHT, _WRONG = 24, 8  # before any label is looked for, as if so many had been: a handful says little by itself
_USELESS = 0.05  # π: how often a graph tells nothing of its classes
_FOUND = 4, 2  # of Beta: how often labels are found unseen on a graph that does tell something


def evidence(concord: Concord, rooms: Sequence[Room], learned: Learned) -> np.ndarray:
    """The evidence for each node, (n, columns) in the order of COEFFICIENTS."""
    f, answer = learned.clamped(concord.f), concord.f.argmax(axis=1)
    of_voices = approval(concord.said, learned.weights, answer)
    kinds = [margin(concord.f), of_voices, *(lead(room.echo(f), answer) for room in rooms)]
    shared = in_common(np.column_stack([normal_scores(kind) for kind in kinds]))
    missed = max(learned.sought - learned.found, 0)
    found = np.log((learned.found + _RIGHT) / (missed + _WRONG))
    return np.column_stack([np.ones(len(f)), shared, np.full(len(f), found)])


def in_common(scores: np.ndarray) -> np.ndarray:
    """What kinds of evidence say in common: their first principal component, of variance 1 where they differ, (n,)."""
    values, directions = np.linalg.eigh(scores.T @ scores / len(scores))
    leading = directions[:, -1]
    return np.asarray(scores @ leading * np.sign(leading.sum()) / np.sqrt(max(values[-1], 1e-12)))


def normal_scores(values: np.ndarray) -> np.ndarray:
    """What a standard normal variable has at each value's rank; 0 where all are alike."""
    return np.asarray(ndtri((rankdata(values) - 0.5) / len(values)))


def lead(scores: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """How far the answers are ahead of any other class, (n,)."""
    rows, rest = np.arange(len(answer)), scores.copy()
    rest[rows, answer] = -np.inf
    return np.asarray(scores[rows, answer] - rest.max(axis=1))


def approval(said: Sequence[np.ndarray], weights: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """How probable the voices find the answers, in the mean by weight, (n,)."""
    rows = np.arange(len(answer))
    shares = weights / weights.sum()
    return np.asarray(sum(share * np.exp(log_p[rows, answer]) for share, log_p in zip(shares, said, strict=True)))


def by_luck(found: int, sought: int, chance: float) -> float:
    """ν of (C15): how likely it is that nothing can be told, and labels were found by chance alone."""
    found = min(found, sought)
    luck, skill = binom.pmf(found, sought, chance), betabinom.pmf(found, sought, *_FOUND)
    return float(_USELESS * luck / (_USELESS * luck + (1 - _USELESS) * skill))


def doubts(learned: Learned) -> list[Finding]:
    """Where given labels are found no more often than by chance, most answers may be guesses."""
    if by_luck(learned.found, learned.sought, learned.chance) < 0.5:
        return []
    text = (
        f"Only {learned.found} of {learned.sought} given labels were found when they were held out, about as many as "
        "by chance: edges and features seem to tell nothing of these classes."
    )
    return [Finding("warning", "by-chance", text)]


def trust(columns: np.ndarray, luck: float, chance: float, beta: Sequence[float] | None = None) -> np.ndarray:
    """(C14), (n,), by the coefficients above or others."""
    sure = expit(columns @ np.array(list(COEFFICIENTS.values()) if beta is None else beta))
    return np.asarray((1 - luck) * sure + luck * chance, dtype=np.float32)


def with_confidence(f: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """F^β, normalised, with a β for each node such that its largest probability is its trust.

    Classes keep their order. An answer cannot be less probable than chance.
    """
    c = f.shape[1]
    goal = np.clip(confidence, 1 / c + 1e-4, 1 - 1e-4)
    log_f = np.log(np.maximum(f, 1e-12)).astype(np.float64)
    log_f -= log_f.max(axis=1, keepdims=True)
    low, high = np.full(len(f), -12.0), np.full(len(f), 12.0)  # log β
    for _ in range(24):
        middle = (low + high) / 2
        largest = 1 / (np.exp(np.exp(middle)[:, None] * log_f) @ np.ones(c))
        low, high = np.where(largest < goal, middle, low), np.where(largest < goal, high, middle)
    p = np.exp(np.exp(high)[:, None] * log_f)
    return np.asarray(p / p.sum(axis=1, keepdims=True), dtype=np.float32)
