"""Running one job: from the job to its row."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from dccgcn.api import Result, run
from dccgcn.errors import DccgcnError
from dccgcn.evaluation.metrics import accuracy, channel_counts, macro_f1
from dccgcn.evaluation.signals import trust_record
from dccgcn.experiments.jobs import Job, graph_and_split, load_cached
from dccgcn.experiments.picture import embedding_map
from dccgcn.experiments.rows import JobFailure, RunRow
from dccgcn.models.registry import get_method
from dccgcn.runtime.cpu import cpu_description

_FROM_SUMMARY = (
    "n_train", "n_test", "accuracy", "macro_f1", "channel_accuracy", "agreement", "accuracy_high",
    "accuracy_low_before", "accuracy_low_after", "seconds", "threads", "device",
)  # fmt: skip


def attempt(job: Job, device: str = "cpu") -> RunRow | JobFailure:
    """Run a job; a user error is returned, so that it does not stop the other jobs."""
    try:
        return execute(job, device)
    except DccgcnError as error:
        return JobFailure(job.key(), job, error.what, error.remedy)


def execute(job: Job, device: str = "cpu") -> RunRow:
    """Run a job and return the row to store."""
    graph, split = graph_and_split(load_cached(job.dataset), job)
    method = get_method(job.method)
    result = run(graph, split, method, method.published_settings(job.dataset, job.options), job.seed, device=device)
    summary = result.summary()
    values: dict[str, Any] = {name: summary[name] for name in _FROM_SUMMARY}
    if job.picture:
        values["picture"] = embedding_map(result.prediction, graph.labels, job.picture, job.seed)
    return RunRow(
        key=job.key(),
        job=job,
        split_hash=split.hash,
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        corrected_share=summary["corrected"],
        cpu=cpu_description(),
        **values,
        **_test_metrics(result),
    )


def _test_metrics(result: Result) -> dict[str, Any]:
    """Metrics that the result's summary does not have."""
    test, prediction = result.split.test, result.prediction
    truth = result.graph.labels[test]
    metrics: dict[str, Any] = {"trust": trust_record(prediction, test, truth)}
    if prediction.uncorrected is not None:
        before = prediction.uncorrected.argmax(axis=1)[test]
        metrics |= {"accuracy_uncorrected": accuracy(truth, before), "macro_f1_uncorrected": macro_f1(truth, before)}
    if len(prediction.channels) == 2:
        first, second = (p.argmax(axis=1)[test] for p in prediction.channels.values())
        metrics["channel_counts"] = asdict(channel_counts(truth, first, second))
    return metrics
