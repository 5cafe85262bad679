"""Concord: an ensemble of linear members on two channels, with self-training and calibrated confidence.

build_members → self_train → combine → confidence; docs/concord.md is its method section.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import uninformed_nodes
from dccgcn.models.base import Method
from dccgcn.models.concord.class_prior import relative_prior, shift_to_prior, sqrt_prior
from dccgcn.models.concord.confidence import confidence, rescale_to_confidence, uninformative_finding
from dccgcn.models.concord.cost import concord_cost
from dccgcn.models.concord.ensemble import (
    EnsembleOutput,
    cv_hits,
    log_opinion_pool,
    reliability_weights,
    select_pseudo_labels,
)
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.loo_ridge import log_linear_fuse, r_squared
from dccgcn.models.concord.members import JOINT, Member, fit_heads, initial_weights, log_proba, member_layout
from dccgcn.models.concord.neighbour_correction import corrected, correction_weights, without_rows
from dccgcn.models.concord.precompute import (
    CHANNELS,
    NEIGHBOURS,
    NODE,
    PROPAGATED,
    STRUCTURE,
    Precomputed,
    precompute,
    total_nnz,
)
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import scarcity, spectral_reweight
from dccgcn.models.concord.state import FitState, model_specs, n_given, read_projections, read_state, to_arrays
from dccgcn.models.prediction import Prediction
from dccgcn.progress import Progress
from dccgcn.runtime.threads import threads_for

# L-BFGS steps on (C5) in the last two rounds. Earlier, a weakly supervised head may swap classes irrecoverably.
_MI_STEPS = (4, 10)


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: ConcordSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes. Validation nodes are not used."""
    given = Labels.given(train, graph.labels[train], graph.c)
    prior = relative_prior(graph.classes, settings.class_prior)
    q = scarcity(len(train) / graph.c, settings.scarcity_scale)
    inputs = precompute(graph, settings, q)
    with threads_for(total_nnz(inputs.operators)):
        members = build_members(inputs, q, settings)
        state = self_train(members, given, sqrt_prior(prior), settings, seed, progress)
        prediction, nu = _predict(state, inputs, prior, settings, uninformed_nodes(graph, train))
    findings = (*inputs.findings, *uninformative_finding(nu, state))
    return replace(prediction, model=to_arrays(inputs.projections, state), findings=findings)


def predict_new(model: Mapping[str, np.ndarray], graph: NodeGraph, settings: ConcordSettings) -> Prediction:
    """Classify a graph that has grown since training: projections and heads stay, operators are those of the graph."""
    q = scarcity(n_given(model) / graph.c, settings.scarcity_scale)
    prior = relative_prior(graph.classes, settings.class_prior)
    inputs = precompute(graph, settings, q, read_projections(model))
    with threads_for(total_nnz(inputs.operators)):
        state = read_state(model, build_members(inputs, q, settings), settings)
        return _predict(state, inputs, prior, settings, uninformed_nodes(graph, state.given.nodes))[0]


def _predict(
    state: FitState, inputs: Precomputed, prior: np.ndarray, settings: ConcordSettings, no_evidence: np.ndarray
) -> tuple[Prediction, float]:
    output = combine(state, inputs, prior, settings)
    trust, nu = confidence(output, state, [inputs.regressors[NODE], inputs.regressors[PROPAGATED]])
    return to_prediction(output, state, trust, no_evidence), nu


def build_members(inputs: Precomputed, q: float, settings: ConcordSettings) -> list[Member]:
    """The members without heads; their embeddings are reweighted by (C3).

    The joint embedding is all of them side by side. In it the structural one is scaled by the scarcity q.
    """
    z = {
        spec.name: spectral_reweight(inputs.projections.embeddings[spec.name], q * settings.spectral_weighting)
        for spec in inputs.specs
        if spec.channel
    }
    parts = [rows * np.float32(q) if name == STRUCTURE else rows for name, rows in z.items()]
    z[JOINT] = np.hstack(parts) / np.float32(np.sqrt(len(parts)))
    return [
        Member(embedding, channel, graph, inputs.operators[graph], z.get(embedding))
        for embedding, channel, graph in member_layout(inputs.specs)
    ]


def self_train(
    members: list[Member],
    given: Labels,
    prior: np.ndarray,
    settings: ConcordSettings,
    seed: int,
    progress: Progress | None = None,
) -> FitState:
    """Fit the members, weight them (C8), pseudo-label the nodes with the largest margins, and repeat.

    ``prior`` is C ψ. The fraction of pseudo-labelled nodes doubles from round to round.
    """
    hits, n_recovered = cv_hits(members, given, settings, seed)
    labels, initial, n_rounds = given, initial_weights(members), settings.n_rounds
    for turn in range(n_rounds + 1):
        late = turn - n_rounds + len(_MI_STEPS) - 1
        members = fit_heads(members, labels, settings, _MI_STEPS[late] if late >= 0 else 0, prior)
        log_probs = log_proba(members, labels, settings)
        pooled, weights = reliability_weights(log_probs, hits, len(given.nodes), initial, settings)
        if progress:
            progress("rounds", turn + 1, n_rounds + 1)
        if turn < n_rounds:
            fraction = settings.final_pseudo_fraction / 2 ** (n_rounds - 1 - turn)
            labels = select_pseudo_labels(pooled, given, fraction, settings, prior)
    return FitState(members, given, labels, weights, n_recovered, log_probs, pooled)


def combine(state: FitState, inputs: Precomputed, prior: np.ndarray, settings: ConcordSettings) -> EnsembleOutput:
    """Pool each channel, correct where they disagree (C9), and refit (C11). ``prior`` is C φ."""
    pools, mean_weights = {}, {}
    for channel in (*CHANNELS, JOINT):
        own = [v for v, member in enumerate(state.members) if member.channel == channel]
        pools[channel] = log_opinion_pool([state.log_probs[v] for v in own], state.weights[own])
        mean_weights[channel] = float(state.weights[own].mean())
    joint, _ = pools.pop(JOINT), mean_weights.pop(JOINT)
    channel_weights = {channel: weight / sum(mean_weights.values()) for channel, weight in mean_weights.items()}
    agree = pools["topology"].argmax(axis=1) == pools["features"].argmax(axis=1)
    support = correction_weights(inputs.operators, channel_weights, agree)

    def shifted(f: np.ndarray) -> np.ndarray:
        return shift_to_prior(f, prior) if settings.class_prior else f

    f = shifted(corrected(state.pooled, support, settings.correction))  # else the refit makes rare classes still rarer
    if settings.loo_weight:
        targets = state.given.clamp(f)
        r = inputs.regressors[NEIGHBOURS].predict_loo(targets)
        f = shifted(log_linear_fuse(f, r, targets.mean(axis=0), settings.loo_weight * r_squared(r, targets)))
    return EnsembleOutput(f, joint, pools, channel_weights, agree, support)


def to_prediction(output: EnsembleOutput, state: FitState, trust: np.ndarray, no_evidence: np.ndarray) -> Prediction:
    """Probabilities whose largest is the trust; given labels are returned as given.

    ``no_evidence`` are nodes whose component has neither a label nor a feature: their trust is chance level, 1/C.
    """
    trust[no_evidence] = 1 / output.f.shape[1]
    probabilities, given = rescale_to_confidence(output.f, trust), state.given
    probabilities[given.nodes], trust[given.nodes] = given.targets, 1
    support = without_rows(output.support, given.nodes)
    embeddings = {channel: _embedding(state, channel) for channel in CHANNELS}
    return Prediction(
        probabilities=probabilities,
        channels=output.channels,
        channels_agree=output.agree,
        uncorrected=state.pooled,
        joint=output.joint,
        corrected=np.diff(support.indptr) > 0,
        embeddings={**embeddings, JOINT: _embedding(state, JOINT)},
        trust=trust,
        channel_weights=output.channel_weights,
        support=support,
    )


def _embedding(state: FitState, channel: str) -> np.ndarray:
    """All embeddings of a channel's members side by side, (n, width)."""
    z = {member.embedding: member.z for member in state.members if member.channel == channel and member.z is not None}
    return np.hstack(list(z.values()))


METHOD = Method(
    name="concord",
    settings=ConcordSettings,
    fit=fit,
    predict_new=predict_new,
    model_specs=model_specs,
    cost=concord_cost,
)
