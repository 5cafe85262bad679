"""Concord's settings: one set of defaults for every graph, described in docs/concord.md."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from dccgcn.settings import Settings, count, rate, steps, weight

DEFAULT_K = 6


def _string_keys(value: Any) -> Any:
    """Class names may be numbers in a YAML file; they are compared as text."""
    return {str(name): fraction for name, fraction in value.items()} if isinstance(value, dict) else value


ClassPrior = Annotated[dict[str, Annotated[float, Field(gt=0, lt=1)]], BeforeValidator(_string_keys)]


def family(channel: str) -> str:
    """The name of a channel without its relation: "cites.out.hop1" → "hop1"."""
    return channel.rpartition(".")[2]


class ConcordSettings(Settings):
    """The defaults were chosen on development splits of sixteen graphs together."""

    # views (C1, C2)
    k: int | None = Field(
        default=None, ge=1, description=f"Neighbours of each node in the feature graph; null: min({DEFAULT_K}, n-1)."
    )
    n_steps_topology: int = steps(8, "Propagation steps on the topology.")
    n_components: int = count(64, "Singular vectors kept of propagated features.")
    n_structural: int = count(32, "Singular vectors kept of the structural view.")
    scarcity_scale: float = rate(8.0, "Labels per class at which the scarcity q is one half.")
    spectral_weighting: float = weight(
        1.0, "How strongly scarce labels give weight to the leading singular vectors; 0: not at all.", most=1e6
    )
    # channels (C3, C4)
    l2: float = rate(0.1, "L2 penalty of each channel's softmax regression.")
    mi_weight: float = weight(
        4.0, "Weight of the mutual information of neighbours' predictions, in given labels per class; 0: not used."
    )
    exclude: tuple[str, ...] = Field(default=(), description="Channels to leave out, such as [labels, structure].")
    # ensemble (C6 to C10)
    stacking_l2: float = rate(1.5, "Penalty that keeps the channels' weights near equal ones.")
    n_smoothing: int = Field(
        default=3, ge=0, le=1000, description="Smoothing steps of the pool on the feature graph; 0: none."
    )
    n_refits: int = Field(default=3, ge=0, le=1000, description="Leave-one-out refits of the predictions; 0: none.")
    label_shares: Literal["auto", "use", "ignore"] = Field(
        default="auto",
        description="Whether the classes' shares of the labels are their shares of all nodes: use, if the labels were "
        "drawn at random; ignore, if they were chosen. auto: ignore if the two largest classes have equally many.",
    )
    class_prior: ClassPrior = Field(
        default={},
        description="Known class frequencies, such as {fraud: 0.02}; classes not named share the rest equally.",
    )

    def excludes(self, channel: str) -> bool:
        """Whether the channel is excluded, by its name or by that of all such channels: hop1 of every relation."""
        return channel in self.exclude or family(channel) in self.exclude

    @property
    def neighbours(self) -> int:
        return DEFAULT_K if self.k is None else self.k

    def k_for(self, n: int) -> int:
        """k on a graph of n nodes: only the default adapts to tiny graphs."""
        return min(DEFAULT_K, n - 1) if self.k is None else self.k
