"""RunRow: what is stored of one finished run, as one line of JSON. JobFailure: why a job has no row."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from dccgcn.evaluation.metrics import ChannelCounts
from dccgcn.experiments.jobs import Job

VERSION: Literal[2] = 2  # of the format; version 1 had other field names and other keys


class Stored(BaseModel):
    """What a line of a store is made of: frozen, and without fields that this version does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SignalMetrics(Stored):
    """How well one signal ranks right predictions above wrong ones."""

    auroc: float | None  # None: all predictions are right, or all wrong
    aurc: float  # area under the risk-coverage curve
    risk: list[float]  # share of wrong predictions at each of evaluation.signals.COVERAGES


class ConfidenceMetrics(Stored):
    """Calibration and ranking quality of one set of predictions on the test nodes."""

    accuracy: float
    confidence_gap: float  # mean confidence less accuracy; positive: over-confident
    ece: float
    bins: list[tuple[int, float, float]]  # count, mean confidence, accuracy
    signals: dict[str, SignalMetrics]


class TrustMetrics(Stored):
    """Confidence metrics of the final predictions and, of a dual-channel method, of its first channel."""

    final: ConfidenceMetrics
    first_channel: ConfidenceMetrics | None = None
    # AUROC of the margin, confidence and entropy of each channel, of the pool of all members before the refit and of
    # the joint model, for errors of the final predictions
    other_auroc: dict[str, dict[str, float | None]] = {}


class Picture(Stored):
    """A t-SNE map of the embeddings."""

    nodes: list[int]
    xy: list[tuple[float, float]]
    purity: float  # share of the ten nearest nodes on the map that have the same class


class RunRow(Stored):
    """One finished run. Accuracies are shares of the test nodes."""

    version: Literal[2] = VERSION
    key: str
    job: Job
    split_hash: str
    date: str
    n_train: int
    n_test: int
    accuracy: float
    macro_f1: float
    accuracy_uncorrected: float | None = None  # before calibration (DCC-GCN) or refit (Concord)
    macro_f1_uncorrected: float | None = None
    channel_accuracy: dict[str, float]
    agreement: float | None  # share of nodes on which both channels agree
    accuracy_high: float | None  # where the channels agree
    accuracy_low_before: float | None  # where they disagree, before calibration
    accuracy_low_after: float | None
    corrected_share: float | None  # share of nodes whose predicted class was corrected
    channel_counts: ChannelCounts | None = None
    trust: TrustMetrics
    picture: Picture | None = None
    seconds: float
    threads: int
    device: str
    cpu: str | None = None  # model and vector extensions; None: the run is older than this field


@dataclass(frozen=True)
class JobFailure:
    """A job that could not run for a reason that the user can change."""

    key: str
    job: Job
    reason: str
    remedy: str


Rows = dict[str, RunRow]  # by key
Failures = dict[str, JobFailure]
