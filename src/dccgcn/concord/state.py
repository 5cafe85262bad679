"""What a fit leaves, and the arrays in which a saved model keeps it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dccgcn.concord.channels import Channel, log_proba
from dccgcn.concord.confidence import HeldOut
from dccgcn.concord.labels import Labels
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.stacking import log_opinion_pool
from dccgcn.concord.views import LABELS, N_OWN, Layout, Projections, ViewSpec, view_specs
from dccgcn.errors import DataFileError
from dccgcn.features import Embedding, NumericColumns
from dccgcn.methods import ArraySpec, Sizes, probability_spec

_FIELDS = ("components", "mean", "scale")  # of an Embedding, beside z


@dataclass(frozen=True, eq=False)
class FitState:
    """Fitted channels, their weights, and their predictions for one graph."""

    channels: Sequence[Channel]  # with heads
    labels: Labels
    weights: np.ndarray  # w of (C6), (channels,)
    held_out: HeldOut
    log_probs: list[np.ndarray]  # log P of each channel, (n, classes)
    pooled: np.ndarray  # F of (C6), (n, classes)
    held_out_proba: dict[str, np.ndarray] = field(default_factory=dict)  # by channel and of the pool, (m, classes)

    @property
    def spectral_views(self) -> list[np.ndarray]:
        """The views along a relation, (n, width) each."""
        return [channel.z[0] for channel in self.channels if channel.relation and channel.z]

    def share_of(self, name: str) -> float:
        """The share of a channel in the sum of all weights; 0 if there is no such channel."""
        at = [channel.name for channel in self.channels]
        return float(self.weights[at.index(name)] / self.weights.sum()) if name in at else 0.0


def to_arrays(projections: Projections, state: FitState) -> dict[str, np.ndarray]:
    """All that predictions for a larger graph need, under flat names."""
    arrays: dict[str, np.ndarray] = {}
    for name, embedding in projections.embeddings.items():
        kept = {part: getattr(embedding, part) for part in _FIELDS}
        arrays |= {f"{part}.{name}": array for part, array in kept.items() if array.size}
    if projections.idf is not None:
        arrays["idf"] = projections.idf
    if projections.numeric is not None:
        arrays |= {f"numeric.{part}": array for part, array in vars(projections.numeric).items()}
    arrays |= {f"head.{channel.name}": channel.head for channel in state.channels if channel.head is not None}
    arrays |= {f"labels.{part}": array for part, array in vars(state.labels).items()}
    return arrays | {"weights": state.weights, "n_recovered": np.array([state.held_out.n_recovered])}


def read_projections(arrays: Mapping[str, np.ndarray]) -> Projections:
    """The projections that ``to_arrays`` wrote."""
    parts = {part: _under(arrays, f"{part}.") for part in _FIELDS}
    names = dict.fromkeys(name for found in parts.values() for name in found)
    nothing = np.empty((0, 0), np.float32)
    embeddings = {name: Embedding(nothing, *(parts[part].get(name, nothing) for part in _FIELDS)) for name in names}
    numeric = _under(arrays, "numeric.")
    return Projections(embeddings, arrays.get("idf"), NumericColumns(**numeric) if numeric else None)


def read_labels(arrays: Mapping[str, np.ndarray]) -> Labels:
    """The labels of training."""
    return Labels(**_under(arrays, "labels."))


def read_state(arrays: Mapping[str, np.ndarray], channels: Sequence[Channel]) -> FitState:
    """The state that ``to_arrays`` wrote, with predictions for the graph of these channels."""
    if not arrays["weights"].any():
        raise DataFileError("The weights of a Concord model are all 0.", "Fit it again.")
    labels = read_labels(arrays)
    channels = [replace(channel, head=arrays.get(f"head.{channel.name}")) for channel in channels]
    log_probs = [log_proba(channel, labels) for channel in channels]
    return FitState(
        channels=channels,
        labels=labels,
        weights=arrays["weights"],
        held_out=HeldOut(float(arrays["n_recovered"][0]), int(labels.is_checkable.sum()), labels.chance),
        log_probs=log_probs,
        pooled=log_opinion_pool(log_probs, arrays["weights"]),
    )


def model_specs(model: Mapping[str, np.ndarray], sizes: Sizes, settings: ConcordSettings) -> dict[str, ArraySpec]:
    """What each array of ``to_arrays`` must be. The ranks r and the number of labels m are those of the arrays."""
    specs: dict[str, ArraySpec] = {}
    widths: dict[str, int] = {}
    layout = Layout.of(sizes.relations, sizes.directed, sizes.vectors > 0)
    views = view_specs(settings, sizes.n, layout)
    for view in views:
        widths[view.name] = _width(view, model, sizes)
        specs |= _embedding_specs(view, widths[view.name], sizes)
    if "idf" in model:
        specs["idf"] = ArraySpec((sizes.d,), low=0)
    if "numeric.columns" in model:
        n_numeric = _length(model, "numeric.columns")
        specs["numeric.columns"] = ArraySpec((n_numeric,), "int", 0, sizes.d - 1)
        specs |= {"numeric.mean": ArraySpec((n_numeric,)), "numeric.deviation": ArraySpec((n_numeric,), low=0)}
    heads = [name for name in widths if f"head.{name}" in model]
    joined = [spec.name for spec in views if spec.is_joined(layout)]
    widths["joint"] = sum(widths[name] for name in heads if name in joined)
    heads += ["joint"] * ("head.joint" in model)
    specs |= {f"head.{name}": ArraySpec((widths[name] + 1, sizes.c)) for name in heads}
    m = _length(model, "labels.nodes")
    specs["labels.nodes"] = ArraySpec((m,), "int", 0, sizes.n - 1)
    specs["labels.targets"] = probability_spec(m, sizes.c)
    specs["n_recovered"] = ArraySpec((1,), low=0, high=m)
    n_channels = len(heads) + sum(not settings.excludes(relation + LABELS) for relation in layout.relations)
    return specs | {"weights": ArraySpec((n_channels,), low=0)}


def _width(view: ViewSpec, model: Mapping[str, np.ndarray], sizes: Sizes) -> int:
    if view.kind != "hop" or sizes.width(view.source) <= N_OWN:
        return _length(model, f"mean.{view.name}")
    return _length(model, f"mean.{view.source}own")


def _embedding_specs(view: ViewSpec, r: int, sizes: Sizes) -> dict[str, ArraySpec]:
    d = sizes.width(view.source)
    if view.kind == "hop" and d > N_OWN:
        return {}
    specs = {f"mean.{view.name}": ArraySpec((r,)), f"scale.{view.name}": ArraySpec((r,), low=0)}
    if view.is_spectral or (view.kind == "own" and d > N_OWN):
        rows = sizes.n if view.kind == "structure" else d
        specs[f"components.{view.name}"] = ArraySpec((rows, r))
    return specs


def _length(arrays: Mapping[str, np.ndarray], name: str) -> int:
    """Length of an array; 0 if it is missing or no array, which its spec then reports."""
    return len(array) if (array := arrays.get(name)) is not None and np.ndim(array) else 0


def _under(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
