"""Finished runs of a comparison on one's own tables: a file with one line of JSON per run."""

import json
from pathlib import Path

from dccgcn.errors import DataFileError
from dccgcn.experiments.store import append_line, read_lines, with_checksum
from dccgcn.workflow.compare import FoldScore


def read_fold_scores(store: Path) -> dict[str, FoldScore]:
    """Scores by key; an incomplete last line, left by a crash, is removed."""
    return dict(read_lines(store, _parse))


def append_fold_score(store: Path, key: str, score: FoldScore) -> None:
    """Add a finished run, and wait until it is on disk."""
    append_line(store, _line(key, score))


def _line(key: str, score: FoldScore) -> str:
    return with_checksum(json.dumps({"key": key, "scores": list(score)}, separators=(",", ":")))


def _parse(line: bytes) -> tuple[str, FoldScore]:
    row = json.loads(line)
    key, score = str(row["key"]), FoldScore(*map(float, row["scores"]))
    if _line(key, score).encode() != line:
        raise DataFileError("the line was altered.", "Delete the line; its run will be made again.")
    return key, score
