"""Concord's settings: one set of defaults for every graph, described in docs/concord.md."""

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from dccgcn.settings import Settings, count, rate, share, steps, weight

DEFAULT_K = 6


def _string_keys(value: Any) -> Any:
    """Class names may be numbers in a YAML file; they are compared as text."""
    return {str(name): fraction for name, fraction in value.items()} if isinstance(value, dict) else value


ClassPrior = Annotated[dict[str, Annotated[float, Field(gt=0, lt=1)]], BeforeValidator(_string_keys)]


class ConcordSettings(Settings):
    """The defaults were chosen on development splits of six graphs together."""

    renamed: ClassVar[dict[str, str]] = {
        "topology_steps": "n_steps_topology", "feature_steps": "n_steps_features", "own": "alpha",
        "shorten": "adaptive_steps", "rank": "n_components", "ties": "n_structural", "rarity": "idf",
        "enough": "scarcity_scale", "favour": "spectral_weighting", "ridge": "l2", "accord": "mi_weight",
        "smoothing": "n_smoothing", "prior": "agreement_pseudocount", "sharpness": "weight_power",
        "rounds": "n_rounds", "last_share": "final_pseudo_fraction", "most": "max_pseudo_per_class",
        "frequencies": "class_prior", "repair": "correction", "echo": "loo_weight",
    }  # fmt: skip

    # embeddings (C1 to C3)
    k: int | None = Field(
        default=None, ge=1, description=f"Neighbours of each node in the feature graph; null: min({DEFAULT_K}, n-1)."
    )
    n_steps_topology: int = steps(16, "Propagation steps on the topology.")
    n_steps_features: int = steps(4, "Propagation steps on the feature graph.")
    alpha: float = share(0.05, "Weight of a node's own features in the propagation filter.")
    adaptive_steps: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="How far many labels shorten the propagation of the adaptive embedding; 0: not at all.",
    )
    n_components: int = count(64, "Singular vectors kept of each feature embedding.")
    n_structural: int = weight(32, "Singular vectors kept of the structural embedding; 0: no structural embedding.")
    idf: bool = Field(default=True, description="Where features are counts, add embeddings of idf-weighted features.")
    scarcity_scale: float = rate(8.0, "Labels per class at which the scarcity q is one half.")
    spectral_weighting: float = weight(
        1.0, "How strongly scarce labels give weight to the leading singular vectors; 0: not at all.", most=1e6
    )
    # members (C4 to C6)
    l2: float = rate(0.1, "L2 penalty of each member's softmax regression.")
    mi_weight: float = weight(
        4.0, "Weight of the mutual information of neighbours' predictions, in given labels per class; 0: not used."
    )
    teleport: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="Teleport probability of the personalised PageRank that smooths predictions; 1: no smoothing.",
    )
    n_smoothing: int = steps(10, "Power iterations of that PageRank.")
    # ensemble (C7, C8)
    agreement_pseudocount: float = weight(
        10.0, "Labels that agreement with the ensemble counts for in a member's reliability."
    )
    weight_power: float = weight(2.0, "Power of the reliability's log-odds in a member's weight; 0: equal weights.")
    # self-training
    n_rounds: int = weight(5, "Rounds of self-training.")
    final_pseudo_fraction: float = share(
        0.16, "Fraction of the nodes pseudo-labelled in the last round; half as many in each round before."
    )
    pseudo_weight: float = weight(
        4.0, "Total weight of the pseudo-labels, in given labels per class, while labels are scarce."
    )
    max_pseudo_per_class: int = count(2000, "Upper limit of pseudo-labels per class.")
    class_prior: ClassPrior = Field(
        default={},
        description="Known class frequencies, such as {fraud: 0.02}; classes not named share the rest equally.",
    )
    # correction (C9) and leave-one-out refit (C11)
    correction: float = share(0.3, "Weight of agreeing neighbours in the prediction where the channels disagree.")
    loo_weight: float = weight(
        1.0, "Weight of the leave-one-out ridge refit in the final prediction; 0: no refit.", most=1e6
    )

    @property
    def neighbours(self) -> int:
        return DEFAULT_K if self.k is None else self.k

    def k_for(self, n: int) -> int:
        """k on a graph of n nodes: only the default adapts to tiny graphs."""
        return min(DEFAULT_K, n - 1) if self.k is None else self.k
