"""Rows as runs of the experiments would leave them."""

from dccgcn.experiments.rows import RunRow

TRUST = {"final": {"accuracy": 0.5, "confidence_gap": 0.0, "ece": 0.0, "bins": [], "signals": {}}}


def make_row(job, **values):
    """A row of the job; fields that are not given have arbitrary values."""
    content = {
        "key": job.key(), "job": job, "split_hash": "", "date": "2000-01-01", "n_train": 1, "n_test": 1,
        "accuracy": 0.5, "macro_f1": 0.4, "channel_accuracy": {}, "agreement": None, "accuracy_high": None,
        "accuracy_low_before": None, "accuracy_low_after": None, "corrected_share": None, "trust": TRUST,
        "seconds": 2.0, "threads": 1, "device": "cpu",
    }  # fmt: skip
    return RunRow(**{**content, **values})


def row_of(spec, name, c, nth, **values):
    """A row of the nth run of a system in column c, by its key."""
    job = spec.job(spec.system(name), spec.columns[c], nth)
    return {job.key(): make_row(job, **values)}


def fake_rows(spec, splits=10, spread=0.0, **values):
    """A row for each run: each system a point above the one before, each split a tenth of it."""
    rows = {}
    for i, system in enumerate(spec.systems):
        for c, column in enumerate(spec.columns):
            for nth in range(min(splits, column.splits)):
                if spec.job(system, column, nth):
                    value = 0.5 + 0.01 * i + 0.001 * nth + spread * ((nth * 7 + i * 3) % 5)
                    rows |= row_of(spec, system.name, c, nth, accuracy=value, macro_f1=value - 0.1, **values)
    return rows
