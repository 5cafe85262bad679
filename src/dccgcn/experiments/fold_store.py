"""Finished runs of a comparison on one's own tables: a file with one line of JSON per run."""

from pathlib import Path
from typing import Literal

from dccgcn.experiments.rows import Stored
from dccgcn.experiments.store import append, read_rows
from dccgcn.workflow.compare import FoldScore


class FoldRow(Stored):
    """The score of one finished run, by what identifies the run."""

    version: Literal[1] = 1
    key: str
    score: FoldScore


def read_fold_scores(store: Path) -> dict[str, FoldScore]:
    """Scores by key; an incomplete last line, left by a crash, is removed."""
    return {row.key: row.score for row in read_rows(store, FoldRow, checksum_needed=True)}


def append_fold_score(store: Path, key: str, score: FoldScore) -> None:
    """Add a finished run, and wait until it is on disk."""
    append(store, FoldRow(key=key, score=score))
