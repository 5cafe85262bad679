"""Measuring one job: what is stored of a run."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors

from dccgcn.methods.prediction import Prediction
from dccgcn.quality.metrics import accuracy, macro_f1
from dccgcn.workflow.jobs import Job, run_job
from dccgcn.workflow.result import Result
from paper.cpu import cpu_description
from paper.signals import trust_columns
from paper.theory import channel_counts

DIGITS = 7  # of stored shares: so many survive the runs' Parquet file, which has 32 bits for each
MAP_UNITS = 10  # per unit of t-SNE, of stored coordinates
_NEIGHBOURS = 10


@dataclass(frozen=True)
class PaperJob(Job):
    """A job of the reproduction."""

    map_nodes: int = 0  # number of nodes on a stored map of the embeddings; 0: no map


def measure(job: Job) -> dict[str, Any]:
    """Run a job and return the columns to store. Accuracies are shares of the test nodes."""
    result = run_job(job)
    values = {
        "split_hash": result.split.hash[:12],
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "cpu": cpu_description(),
        "threads": result.threads,
        "seconds": round(result.seconds, 3),
        "n_train": len(result.split.train),
        "n_test": len(result.split.test),
        "accuracy": result.accuracy,
        "macro_f1": result.macro_f1,
        "agreement": result.agreement,
        "accuracy_low_before": result.accuracy_low_before,
        "accuracy_low_after": result.accuracy_low_after,
        **_of_channels(result),
        **trust_columns(result.prediction, result.split.test, result.graph.labels[result.split.test]),
    }
    if isinstance(job, PaperJob) and job.map_nodes:
        values |= embedding_map(result.prediction, result.graph.labels, job.map_nodes, job.seed)
    rounded = {name: round(x, DIGITS) if isinstance(x, float) else x for name, x in values.items()}
    return {name: x for name, x in rounded.items() if x is not None}


def _of_channels(result: Result) -> dict[str, Any]:
    """Before calibration (DCC-GCN) or refit (Concord), and of each of two channels."""
    test, prediction = result.split.test, result.prediction
    truth = result.graph.labels[test]
    values: dict[str, Any] = {}
    if prediction.uncorrected is not None:
        before = prediction.uncorrected.argmax(axis=1)[test]
        values |= {"accuracy_uncorrected": accuracy(truth, before), "macro_f1_uncorrected": macro_f1(truth, before)}
    if len(prediction.channels) == 2:
        first, second = (p.argmax(axis=1)[test] for p in prediction.channels.values())
        values |= {"accuracy_channel1": accuracy(truth, first), "accuracy_channel2": accuracy(truth, second)}
        values |= asdict(channel_counts(truth, first, second))
    return values


def embedding_map(prediction: Prediction, labels: np.ndarray, limit: int, seed: int) -> dict[str, Any]:
    """t-SNE of ``map_nodes``, x and y in turn, and how often neighbours on the map have the same class."""
    shown = map_nodes(labels, limit)
    x = _embedding(prediction)[shown]
    if x.shape[1] > 50:  # as t-SNE's authors recommend
        x = PCA(50, random_state=seed).fit_transform(x)
    perplexity = min(30.0, (len(x) - 1) / 3)
    init = "pca" if np.ptp(x, axis=0).any() else "random"  # a network may give all nodes the same embedding
    xy = TSNE(random_state=seed, init=init, perplexity=perplexity, n_jobs=1).fit_transform(x)
    k = min(_NEIGHBOURS, len(xy) - 1)
    near = NearestNeighbors(n_neighbors=k).fit(xy).kneighbors(return_distance=False)
    purity = float((labels[shown][near] == labels[shown][:, None]).mean())
    return {"map": np.round(MAP_UNITS * xy).astype(int).reshape(-1).tolist(), "purity": purity}


def map_nodes(labels: np.ndarray, limit: int) -> np.ndarray:
    """At most so many of the labelled nodes, evenly spread over their positions."""
    labelled = np.flatnonzero(labels >= 0)
    return labelled[:: max(1, -(-len(labelled) // limit))]


def _embedding(prediction: Prediction) -> np.ndarray:
    """Input of the final layer: the joint embedding if there is one, else those of all channels concatenated."""
    parts = prediction.embeddings
    if not parts:
        return prediction.probabilities
    return parts["joint"] if "joint" in parts else np.hstack(list(parts.values()))
