"""Rows as runs of the experiments would leave them, and the pages made from them."""

from dataclasses import asdict

from paper.pages import files_of
from paper.results import Results


def make_row(job, **values):
    """A row of the job; columns that are not given have arbitrary values, or none."""
    content = {
        "split_hash": "", "date": "2000-01-01", "cpu": "x86", "threads": 1, "seconds": 2.0, "n_train": 1, "n_test": 1,
        "accuracy": 0.5, "macro_f1": 0.4, "majority": 0.3, "smallest": "rare", "recall": 0.2, "average_precision": 0.1,
    }  # fmt: skip
    return {"key": job.key(), **asdict(job), "settings": job.settings_hash(), **content, **values}


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


def page_of(spec, rows, **about):
    files = files_of(Results(spec, rows, **about), f"python -m paper {spec.name}")
    return files[f"{spec.page or spec.name}.md"]


def table_lines(page):
    return [line for line in page.splitlines() if line.startswith("|")]
