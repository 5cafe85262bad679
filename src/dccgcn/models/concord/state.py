"""The state that self-training leaves, and the arrays in which a saved model keeps it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dccgcn.models.arrays import ArraySpec, Sizes, probabilities
from dccgcn.models.concord.ensemble import log_opinion_pool
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.members import JOINT, Member, log_proba, member_layout
from dccgcn.models.concord.precompute import (
    FEATURES_IDF,
    NEIGHBOURS,
    NODE,
    STRUCTURE,
    Projections,
    embedding_specs,
)
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import Embedding
from dccgcn.operators import NumericColumns


@dataclass(frozen=True, eq=False)
class FitState:
    """Fitted members, their weights, and their predictions for one graph."""

    members: Sequence[Member]  # with heads
    given: Labels
    labels: Labels  # given labels, then pseudo-labels
    weights: np.ndarray  # (members,) of (C8)
    n_recovered: int  # given labels that the pool recovers in cross-validation
    log_probs: list[np.ndarray]  # log P of each member, (n, classes)
    pooled: np.ndarray  # F of (C7), (n, classes)


def to_arrays(projections: Projections, state: FitState) -> dict[str, np.ndarray]:
    """All that predictions for a larger graph need, under flat names."""
    arrays: dict[str, np.ndarray] = {}
    for name, embedding in projections.embeddings.items():
        arrays[f"components.{name}"] = embedding.components
        arrays[f"mean.{name}"] = embedding.mean
        arrays[f"scale.{name}"] = embedding.scale
    if projections.idf is not None:
        arrays["idf"] = projections.idf
    if projections.numeric is not None:
        arrays |= {f"numeric.{field}": array for field, array in vars(projections.numeric).items()}
    arrays |= {f"head.{member.embedding}": member.head for member in state.members if member.head is not None}
    arrays |= {f"labels.{field}": array for field, array in vars(state.labels).items()}
    counts = {"n_given": len(state.given.nodes), "n_recovered": state.n_recovered}
    arrays |= {name: np.array([number]) for name, number in counts.items()}
    return arrays | {"member_weights": state.weights}


def read_projections(arrays: Mapping[str, np.ndarray]) -> Projections:
    """The projections that ``to_arrays`` wrote."""
    mean, scale, numeric = _under(arrays, "mean."), _under(arrays, "scale."), _under(arrays, "numeric.")
    embeddings = {
        name: Embedding(np.empty((0, components.shape[1]), np.float32), components, mean[name], scale[name])
        for name, components in _under(arrays, "components.").items()
    }
    return Projections(embeddings, arrays.get("idf"), NumericColumns(**numeric) if numeric else None)


def read_state(arrays: Mapping[str, np.ndarray], members: Sequence[Member], settings: ConcordSettings) -> FitState:
    """The state that ``to_arrays`` wrote, with predictions for the graph of these members."""
    labels = Labels(**_under(arrays, "labels."))
    members = [replace(member, head=arrays.get(f"head.{member.embedding}")) for member in members]
    weights, log_probs = arrays["member_weights"], log_proba(members, labels, settings)
    return FitState(
        members=members,
        given=labels.subset(slice(n_given(arrays))),
        labels=labels,
        weights=weights,
        n_recovered=int(arrays["n_recovered"][0]),
        log_probs=log_probs,
        pooled=log_opinion_pool(log_probs, weights),
    )


def model_specs(model: Mapping[str, np.ndarray], sizes: Sizes, settings: ConcordSettings) -> dict[str, ArraySpec]:
    """What each array of ``to_arrays`` must be. The ranks r and the number of labels m are those of the arrays."""
    d, c = sizes.d, sizes.c
    embeddings = embedding_specs(settings, sizes.n, 1.0, with_idf="idf" in model)
    rank = {spec.name: _length(model, f"mean.{spec.name}") for spec in embeddings}
    members = member_layout(embeddings)
    specs: dict[str, ArraySpec] = {}
    for name, r in rank.items():
        specs[f"components.{name}"] = ArraySpec((sizes.n if name == STRUCTURE else d, r))
        specs[f"mean.{name}"] = ArraySpec((r,))
        specs[f"scale.{name}"] = ArraySpec((r,), low=0, high=1.001)
    if "idf" in model:
        specs["idf"] = ArraySpec((d,), low=0)
    if "numeric.columns" in model:
        n_numeric = _length(model, "numeric.columns")
        specs["numeric.columns"] = ArraySpec((n_numeric,), "int", 0, d - 1)
        specs |= {"numeric.mean": ArraySpec((n_numeric,)), "numeric.deviation": ArraySpec((n_numeric,), low=0)}
    width = {spec.name: rank[spec.name] for spec in embeddings if spec.channel}
    width[JOINT] = sum(width.values())
    specs |= {f"head.{name}": ArraySpec((r + 1, c)) for name, r in width.items()}
    m = _length(model, "labels.nodes")
    specs["labels.nodes"] = ArraySpec((m,), "int", 0, sizes.n - 1)
    specs["labels.targets"] = probabilities(m, c)
    specs["labels.weights"] = ArraySpec((m,), low=0)
    specs["n_given"] = ArraySpec((1,), "int", 1, m)
    specs["n_recovered"] = ArraySpec((1,), "int", 0, m)
    return specs | {"member_weights": ArraySpec((len(members),), low=1e-12)}


def _length(arrays: Mapping[str, np.ndarray], name: str) -> int:
    """Length of an array; 0 if it is missing or no array, which its spec then reports."""
    return len(array) if (array := arrays.get(name)) is not None and np.ndim(array) else 0


def n_given(arrays: Mapping[str, np.ndarray]) -> int:
    """Number of given labels at training."""
    return int(arrays["n_given"][0])


def _under(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


# Names of embeddings in model folders of format 3, in the order of their members.
_FORMAT_3 = {
    "topology.far": "topology.plain",
    "features.far": "features.plain",
    "topology.near": "topology.adaptive",
    "features.near": FEATURES_IDF,
    "topology.ties": STRUCTURE,
    "own": NODE,
    "around": NEIGHBOURS,
}


def from_last_format(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a model folder of format 3 under today's names. To be removed after one release."""
    result = {f"labels.{field}": array for field, array in _under(arrays, "labels.").items()}
    result |= {f"numeric.{field}": array for field, array in _under(arrays, "measured.").items()}
    for old, new in _FORMAT_3.items():
        if f"basis.{old}" in arrays:
            result[f"components.{new}"] = arrays[f"basis.{old}"]
            result[f"mean.{new}"], result[f"scale.{new}"] = arrays[f"offset.{old}"], arrays[f"spread.{old}"]
    if "rarity" in arrays:
        result["idf"] = arrays["rarity"]
    members = [new for new in _FORMAT_3.values() if new not in (NODE, NEIGHBOURS) and f"mean.{new}" in result]
    for name, number in zip([*members, JOINT], arrays["head_of_voice"], strict=False):  # the rest repeats or has none
        result[f"head.{name}"] = arrays[f"head.{number}"]
    given, recovered = arrays["counts"]
    return result | {
        "n_given": np.array([given]),
        "n_recovered": np.array([recovered]),
        "member_weights": arrays["weights"],
    }
