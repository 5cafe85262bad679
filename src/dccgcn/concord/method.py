"""Concord: an ensemble of linear classifiers on views of the nodes, stacked on held-out labels, with calibrated trust.

precompute → build_channels → stack → smooth and refit → confidence; docs/concord.md is its method section.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from dccgcn.concord.channels import Channel, fit_full_head, held_out_log_proba, log_proba, spread_log_proba
from dccgcn.concord.class_prior import relative_prior, shift_to_labels, shift_to_prior
from dccgcn.concord.confidence import (
    Evidence,
    HeldOut,
    evidence_of,
    promise_findings,
    rescale_to_confidence,
    trust,
)
from dccgcn.concord.cost import concord_cost
from dccgcn.concord.labels import Labels
from dccgcn.concord.loo_ridge import LooRidge, log_linear_fuse, r_squared
from dccgcn.concord.settings import ConcordSettings, family
from dccgcn.concord.stacking import (
    assign_folds,
    cross_fitted_pool,
    log_opinion_pool,
    prior_weights,
    smooth_pool,
    softmax,
    stacking_weights,
)
from dccgcn.concord.stages import staged
from dccgcn.concord.state import FitState, model_specs, read_labels, read_projections, read_state, to_arrays
from dccgcn.concord.views import (
    JOINT,
    LABELS,
    SIMILAR,
    TOPOLOGY,
    Once,
    Precomputed,
    make_now,
    precompute,
    total_nnz,
)
from dccgcn.errors import Finding, SettingsError
from dccgcn.features import as_it_is, row_slices, scarcity, side_by_side, spectral_reweight
from dccgcn.graph import NodeGraph, uninformed_nodes
from dccgcn.methods import Method, Prediction, Task
from dccgcn.progress import Progress
from dccgcn.quality import are_random
from dccgcn.runtime import owned, row_max, row_mean, threads_for
from dccgcn.text import did_you_mean

POOL = "pool"  # of all channels, in Prediction.held_out


def fit(task: Task, settings: ConcordSettings) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes. Validation nodes are not used."""
    graph, train = task.graph, task.train
    labels = Labels.of(train, task.labels, graph.c)
    q = scarcity(labels.per_class, settings.scarcity_scale)
    inputs = precompute(graph, settings, progress=task.progress)
    with threads_for(total_nnz(inputs.operators)):
        channels = build_channels(inputs, q, settings)
        state = stack(channels, labels, settings, task.seed, task.progress, inputs.kept)
        prediction = predict(state, inputs, graph, settings, task.progress)
    findings = (*inputs.findings, *fit_findings(state, settings))
    return replace(prediction, model=to_arrays(inputs.projections, state), findings=findings)


def predict_new(model: Mapping[str, np.ndarray], graph: NodeGraph, settings: ConcordSettings) -> Prediction:
    """Classify a graph that has grown since training: projections and heads stay, operators are those of the graph."""
    labels = read_labels(model)
    q = scarcity(labels.per_class, settings.scarcity_scale)
    inputs = precompute(graph, settings, read_projections(model))
    with threads_for(total_nnz(inputs.operators)):
        state = read_state(model, build_channels(inputs, q, settings, model))
        return predict(state, inputs, graph, settings)


def build_channels(
    inputs: Precomputed, q: float, settings: ConcordSettings, model: Mapping[str, np.ndarray] | None = None
) -> list[Channel]:
    """The channels without heads: one for each view that is not all 0, one for all of them, one for the labels.

    Spectral views are reweighted by (C2), as columns of one array. With the arrays of a model: those that it has.
    """
    n = inputs.feature_mean.shape[0]
    names = inputs.layout.channel_names(settings, n)
    known = {*names, *map(family, names)}
    if unknown := [name for name in settings.exclude if name not in known]:
        raise SettingsError(
            f"Option exclude: there is no channel {unknown[0]!r}.{did_you_mean(unknown[0], known)}",
            f"The channels are {', '.join(sorted(known))}.",
        )
    views = inputs.projections.embeddings
    specs = [
        spec
        for spec in inputs.specs
        if not settings.excludes(spec.name)
        and (f"head.{spec.name}" in model if model else row_max(views[spec.name].z.any()))
    ]
    widths = [views[spec.name].z.shape[1] for spec in specs if spec.is_spectral]
    columns = np.split(inputs.empty((n, sum(widths))), np.cumsum(widths)[:-1], axis=1) if widths else []
    channels = []
    for spec in specs:
        z, relation = views[spec.name].z, None
        if spec.is_spectral:
            z = spectral_reweight(views[spec.name], q * settings.spectral_weighting, columns.pop(0))
            relation = inputs.operators[spec.relation]
        # on edges alone (C4) finds communities, which need not be the classes, with too much confidence
        channels.append(
            Channel(spec.name, [z], relation, spec.kind == "structure", is_smoothed=family(spec.name) == SIMILAR)
        )
    if len(channels) > 1:
        joined = [c.z[0] for c, spec in zip(channels, specs, strict=True) if spec.is_joined(inputs.layout)]
        channels.append(Channel(JOINT, joined))
    channels += [Channel(r + LABELS, relation=inputs.operators[r + TOPOLOGY]) for r in inputs.layout.relations]
    used = [channel for channel in channels if not settings.excludes(channel.name)]
    if not used:
        raise SettingsError("Option exclude leaves no channel.", "Leave at least one in.")
    return used


def stack(
    channels: list[Channel],
    labels: Labels,
    settings: ConcordSettings,
    seed: int,
    progress: Progress | None = None,
    keep: Callable[[np.ndarray], np.ndarray] = as_it_is,
    once: Once = make_now,
) -> FitState:
    """Fit the heads (C3, C4), predict each label by heads that never saw it, and weight the channels by that (C6).

    ``keep``: where predictions of channels are kept; as they are, or in a file.
    """
    folds, fitted, held_out, log_probs = assign_folds(labels.y, seed), [], [], []

    def fit_channel(channel: Channel) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
        if not channel.z:
            held, log_p = spread_log_proba(channel, labels, folds)
            return None, held, keep(log_p)
        head = fit_full_head(channel, labels, settings)
        held = held_out_log_proba(channel, labels, folds, settings)
        return head, held, keep(log_proba(replace(channel, head=head), labels))

    for number, channel in enumerate(channels):
        head, held, log_p = once(("channel", channel.name), partial(fit_channel, channel))
        fitted.append(replace(channel, head=head))
        held_out.append(held)
        log_probs.append(log_p)
        if progress:
            progress("channels", number + 1, len(channels))
    held, y, counts = np.stack(held_out), labels.y, labels.is_checkable
    prior, l2 = prior_weights([channel.name for channel in channels]), settings.stacking_l2
    weights = stacking_weights(held[:, :, counts], y[counts], prior, l2)
    cross_fitted = cross_fitted_pool(held, y, counts, folds, prior, l2)
    hits = (cross_fitted.argmax(axis=-1) == y)[:, counts]
    return FitState(
        channels=fitted,
        labels=labels,
        weights=weights,
        held_out=HeldOut(float(hits.mean(axis=0).sum()), hits.shape[1], labels.chance),
        held_out_proba={
            **{channel.name: softmax(log_p).mean(axis=0) for channel, log_p in zip(channels, held_out, strict=True)},
            POOL: cross_fitted.mean(axis=0),
        },
        log_probs=log_probs,
        pooled=log_opinion_pool(log_probs, weights),
    )


def smooth_and_refit(
    state: FitState,
    inputs: Precomputed,
    settings: ConcordSettings,
    prior: np.ndarray | None,
    done: Callable[[int], None] = lambda steps: None,
) -> np.ndarray:
    """F, (n, classes): the pool smoothed on the feature graph (C7), fused with its leave-one-out refit (C8, C9).

    ``prior``: C φ of (C10), if it is given. ``done`` is called with the number of refits so far.
    """

    def shifted(f: np.ndarray) -> np.ndarray:
        return f if prior is None else shift_to_prior(f, prior)

    p = shifted(
        smooth_pool(
            state.pooled, inputs.feature_mean, state.share_of(inputs.layout.main + SIMILAR), settings.n_smoothing
        )
    )
    f = p
    for number in range(settings.n_refits):
        done(number)
        known = state.labels.clamp(f)
        r = inputs.regressor.predict_loo(known)
        f = log_linear_fuse(p, r, row_mean(known).astype(np.float32), r_squared(r, known))
    if prior is None and uses_label_shares(state.labels, settings):
        return shift_to_labels(f, state.labels.counts)
    return shifted(f)


def uses_label_shares(labels: Labels, settings: ConcordSettings) -> bool:
    """Whether the classes' shares of the labels count (C10')."""
    if settings.class_prior or settings.label_shares == "ignore":
        return False
    return settings.label_shares == "use" or are_random(labels.counts)


def fit_findings(state: FitState, settings: ConcordSettings) -> list[Finding]:
    """Why nothing is trusted, if nothing is promised; and whether labels were taken for a random draw."""
    findings = promise_findings(state.held_out)
    if uses_label_shares(state.labels, settings):
        text = "The classes' shares of the labels were taken for their shares of all nodes. If the labels were chosen "
        text += "rather than drawn at random, say so: --set label_shares=ignore."
        findings.append(Finding("note", "label-shares", text))
    return findings


def collect_evidence(state: FitState, inputs: Precomputed, f: np.ndarray) -> Evidence:
    """What distinguishes the predictions F: their refits are on own and hop1, and on the spectral views."""
    known = state.labels.clamp(f)
    refits = [inputs.regressor.predict_loo(known)]
    if spectral := state.spectral_views:
        refits.append(LooRidge.fit(*spectral).predict_loo(known))
    return evidence_of(f, state.pooled, state.log_probs, state.weights, refits)


def predict(
    state: FitState,
    inputs: Precomputed,
    graph: NodeGraph,
    settings: ConcordSettings,
    progress: Progress | None = None,
) -> Prediction:
    """Classes, trust, and what each channel predicts."""

    def done(steps: int) -> None:
        if progress:
            progress("predictions", steps, settings.n_refits + 2)

    prior = relative_prior(graph.classes, settings.class_prior) if settings.class_prior else None
    no_evidence = uninformed_nodes(graph, state.labels.nodes)
    return predict_rows(state, inputs, settings, prior, no_evidence, done)


def predict_rows(
    state: FitState,
    inputs: Precomputed,
    settings: ConcordSettings,
    prior: np.ndarray | None,
    no_evidence: np.ndarray,
    done: Callable[[int], None] = lambda steps: None,
) -> Prediction:
    """``predict`` without the graph; ``done`` is told the steps that are finished, of ``n_refits + 2``."""
    f = smooth_and_refit(state, inputs, settings, prior, done)
    done(settings.n_refits)
    confidence = trust(collect_evidence(state, inputs, f), state.held_out).astype(np.float32)
    done(settings.n_refits + 1)
    prediction = to_prediction(state, f, confidence, no_evidence)
    done(settings.n_refits + 2)
    return prediction


def to_prediction(state: FitState, f: np.ndarray, confidence: np.ndarray, no_evidence: np.ndarray) -> Prediction:
    """Probabilities whose largest is the trust; given labels are returned as given.

    ``no_evidence`` are nodes whose component has neither a label nor a feature: their trust is chance level, 1/C.
    The log-probabilities of the state become the channels' probabilities, in place.
    """
    confidence[no_evidence] = 1 / f.shape[1]
    probabilities, labels = rescale_to_confidence(f, confidence), state.labels
    which, at = owned(labels.nodes)
    probabilities[at], confidence[at] = labels.targets[which], 1
    names = [channel.name for channel in state.channels]
    by_name = dict(zip(names, state.log_probs, strict=True))
    predicted, votes = probabilities.argmax(axis=1), np.zeros(len(f))
    for name, p in by_name.items():
        for rows in row_slices(len(f)):
            p[rows] = softmax(p[rows])
        votes += state.share_of(name) * (p.argmax(axis=1) == predicted)
    return Prediction(
        probabilities=probabilities,
        channels=by_name,
        channels_agree=np.asarray(votes > 0.5),
        uncorrected=state.pooled,
        embeddings={JOINT: side_by_side(state.spectral_views or [f])},
        trust=confidence,
        promised=state.held_out.is_promised,
        channel_weights={name: state.share_of(name) for name in names},
        held_out=state.held_out_proba,
    )


METHOD = Method(
    name="concord",
    settings=ConcordSettings,
    fit=fit,
    predict_new=predict_new,
    model_specs=model_specs,
    cost=concord_cost,
    uses_relations=True,
    staged=staged,
)
