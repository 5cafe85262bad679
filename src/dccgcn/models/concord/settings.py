"""Concord's settings: one set of defaults for every graph."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from dccgcn.settings import Settings, count, rate, share, weight


def _by_text(value: Any) -> Any:
    """Classes may be numbers in a file of settings; they are told apart by what is written."""
    return {str(name): share for name, share in value.items()} if isinstance(value, dict) else value


Frequencies = Annotated[dict[str, Annotated[float, Field(gt=0, lt=1)]], BeforeValidator(_by_text)]


class ConcordSettings(Settings):
    """Chosen on development splits of six graphs together; docs/concord.md says what each one does."""

    # the two channels
    k: int = count(6, "Neighbours of each node in the feature graph.")
    topology_steps: int = count(16, "Steps that features travel along the given edges.")
    feature_steps: int = count(4, "Steps that features travel on the feature graph.")
    own: float = share(0.05, "Share of a node's own features in what travels.")
    shorten: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="How far plentiful labels shorten the travel of features that are seen from near; 0: not at all.",
    )
    rank: int = count(64, "Directions kept of each channel's features.")
    ties: int = weight(32, "Directions kept of who is joined to whom; 0: only features travel along edges.")
    rarity: bool = Field(
        default=True, description="Where features are counts, hear them weighted by their rarity as well."
    )
    enough: float = rate(8.0, "Labels per class at which labels are no longer scarce: what stands in for them halves.")
    favour: float = weight(1.0, "How far scarce labels let the leading directions count more; 0: not at all.")
    # the voices
    ridge: float = rate(0.1, "Penalty on the weights of each voice's softmax regression.")
    accord: float = weight(
        4.0, "Weight of what neighbours' answers tell of one another, in given labels per class; 0: they are not asked."
    )
    teleport: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="How strongly an answer stays with its node when answers are smoothed; 1: they are not.",
    )
    smoothing: int = count(10, "Steps of smoothing.")
    # their concord
    prior: float = weight(10.0, "Labels that agreement is worth when a voice's reliability is judged.")
    sharpness: float = weight(2.0, "Power of a voice's log-odds of being right in its weight; 0: all voices alike.")
    # the rounds
    rounds: int = weight(5, "Rounds in which the voices' best answers become labels.")
    last_share: float = share(0.16, "Share of the nodes so labelled in the last round; half as many in each before.")
    pseudo_weight: float = weight(4.0, "Weight of all such labels, in given labels per class, while those are scarce.")
    most: int = count(2000, "At most so many such labels of each class.")
    frequencies: Frequencies = Field(
        default={},
        description="How frequent classes are, where that is known, such as {fraud: 0.02}; the others share the rest.",
    )
    # the repair
    repair: float = share(0.3, "Share of agreeing neighbours in the answer where the channels disagree.")
    # the echo
    echo: float = weight(1.0, "How far an answer follows what all other answers tell of its features; 0: not at all.")

    @property
    def neighbours(self) -> int:
        return self.k
