"""Finished runs of a comparison on one's own tables: a file with one line of JSON per run."""

from functools import partial
from pathlib import Path
from typing import Literal

from dccgcn.experiments.rows import Stored
from dccgcn.experiments.store import append_line, parse_row, read_lines, with_checksum
from dccgcn.workflow.compare import FoldScore


class FoldRow(Stored):
    """The score of one finished run, by what identifies the run."""

    version: Literal[1] = 1
    key: str
    score: FoldScore


def read_fold_scores(store: Path) -> dict[str, FoldScore]:
    """Scores by key; an incomplete last line, left by a crash, is removed."""
    return {row.key: row.score for row in read_lines(store, partial(parse_row, kind=FoldRow, checksum_needed=True))}


def append_fold_score(store: Path, key: str, score: FoldScore) -> None:
    """Add a finished run, and wait until it is on disk."""
    append_line(store, with_checksum(FoldRow(key=key, score=score).model_dump_json()))
