"""What Concord keeps of a training, as plain arrays: enough to answer for nodes that come later."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dccgcn.models.concord.members import Heads, Labels
from dccgcn.models.concord.spectral_features import Representation
from dccgcn.operators import NumericColumns


@dataclass(frozen=True, eq=False)
class Learned:
    """What the rounds leave behind."""

    heads: Heads
    labels: Labels  # given first, then inferred
    n_given: int
    weights: np.ndarray  # of each voice
    found: int  # given labels that the voices together found unseen

    @property
    def given(self) -> Labels:
        """The labels that were given."""
        return self.labels.only(slice(self.n_given))

    @property
    def sought(self) -> int:
        """Given labels that could be found unseen: those of a class that has another one."""
        count = self.given.targets.sum(axis=0)
        return int(count[count > 1].sum())

    @property
    def chance(self) -> float:
        """The share of them that is found by guessing classes as often as they were given."""
        share = self.given.targets.mean(axis=0)
        return float(share @ share)

    def clamped(self, f: np.ndarray) -> np.ndarray:
        """Answers with the given labels in place of theirs."""
        f = f.copy()
        f[self.given.nodes] = self.given.targets
        return f


@dataclass(frozen=True, eq=False)
class Bases:
    """What makes representations from features."""

    parts: dict[str, Representation]  # by name, without nodes
    rarity: np.ndarray | None  # weights of the feature columns
    measured: NumericColumns | None  # the columns that are measurements


def to_arrays(bases: Bases, learned: Learned) -> dict[str, np.ndarray]:
    """All of it under flat names. Voices of one representation share a head, which is stored once."""
    arrays: dict[str, np.ndarray] = {}
    for name, part in bases.parts.items():
        arrays |= {f"basis.{name}": part.basis, f"offset.{name}": part.offset, f"spread.{name}": part.spread}
    if bases.rarity is not None:
        arrays["rarity"] = bases.rarity
    if bases.measured is not None:
        arrays |= {f"measured.{name}": array for name, array in vars(bases.measured).items()}
    kept: dict[int, int] = {}
    of_voice = [-1 if h is None else kept.setdefault(id(h), len(kept)) for h in learned.heads]
    for head, number in zip(learned.heads, of_voice, strict=True):
        if head is not None:
            arrays[f"head.{number}"] = head
    labels = learned.labels
    return arrays | {
        "head_of_voice": np.array(of_voice),
        "labels.nodes": labels.nodes,
        "labels.targets": labels.targets,
        "labels.weights": labels.weights,
        "counts": np.array([learned.n_given, learned.found]),
        "weights": learned.weights,
    }


def from_arrays(arrays: Mapping[str, np.ndarray]) -> tuple[Bases, Learned]:
    """The inverse of ``to_arrays``."""

    def under(prefix: str) -> dict[str, np.ndarray]:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    heads = under("head.")
    learned = Learned(
        [None if number < 0 else heads[str(number)] for number in arrays["head_of_voice"]],
        Labels(arrays["labels.nodes"], arrays["labels.targets"], arrays["labels.weights"]),
        int(arrays["counts"][0]),
        arrays["weights"],
        int(arrays["counts"][1]),
    )
    offset, spread = under("offset."), under("spread.")
    parts = {
        name: Representation(np.empty((0, basis.shape[1]), np.float32), basis, offset[name], spread[name])
        for name, basis in under("basis.").items()
    }
    measured = under("measured.")
    return Bases(parts, arrays.get("rarity"), NumericColumns(**measured) if measured else None), learned
