"""The store of finished runs: a file with one line of JSON per run, plain or gzipped.

A plain line ends with the SHA-256 of the rest of it, as a last field of the object. Lines of a gzipped store, which has
a checksum of its own, may lack it.
"""

import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dccgcn.errors import DataFileError
from dccgcn.experiments.rows import Rows, RunRow

R = TypeVar("R", bound=BaseModel)

_CHECKSUM = re.compile(rb',"sha256":"([0-9a-f]{64})"}$')
_REMEDY = "Delete the line; its job will be run again."


def append(store: Path, row: BaseModel) -> None:
    """Add a row and wait until it is on disk. What a full disk leaves of it is removed by the next call."""
    try:
        with store.open("a", encoding="utf-8") as file:
            file.write(with_checksum(row.model_dump_json()) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise DataFileError(
            f"{store} cannot be written ({error.strerror or error}).",
            "Free some space and repeat the command: finished runs are kept.",
        ) from None


def with_checksum(line: str) -> str:
    """A line of JSON with its own SHA-256 as the last field.

    >>> with_checksum('{"a":1}')[:24]
    '{"a":1,"sha256":"015abd7'
    """
    return f'{line[:-1]},"sha256":"{hashlib.sha256(line.encode()).hexdigest()}"}}'


def pack(rows: Iterable[RunRow]) -> bytes:
    """A gzipped store; the same runs give the same bytes."""
    lines = sorted(row.model_dump_json() + "\n" for row in rows)
    return gzip.compress("".join(lines).encode(), mtime=0)


def stores_in(folder: Path) -> list[Path]:
    """All stores of a folder, gzipped ones first."""
    return [*sorted(folder.glob("*.jsonl.gz")), *sorted(folder.glob("*.jsonl"))]


def read_stores(store: Path, others: Iterable[Path] = ()) -> Rows:
    """Rows of several stores by key; on equal keys the first store takes precedence, then the last of the others."""
    rows: Rows = {}
    for other in others:
        if other != store:
            rows |= read_store(other, repair=False)
    return rows | read_store(store)


def read_store(store: Path, repair: bool = True) -> Rows:
    """Finished runs by key; the last line of equal keys wins."""
    rows = read_rows(store, RunRow, checksum_needed=store.suffix != ".gz", repair=repair)
    return {row.key: row for row in rows}


def read_rows(store: Path, kind: type[R], checksum_needed: bool, repair: bool = True) -> list[R]:
    """The rows of all complete lines. An incomplete last line, left by a crash, is ignored; its job runs again.

    repair: also remove that line from the file, so that the next one can be appended. Leave it off for a store that
    another process may be writing to.
    """
    if not store.exists():
        return []
    content = store.read_bytes()
    if store.suffix == ".gz":
        content, repair = _gunzip(store, content), False
    complete = content[: content.rfind(b"\n") + 1]
    if repair and len(complete) < len(content):
        os.truncate(store, len(complete))
    rows = []
    for number, line in enumerate(complete.splitlines(), 1):
        try:
            rows.append(_parse_row(line, kind, checksum_needed))
        except DataFileError as error:
            raise DataFileError(f"{store}, line {number}: {error.what}", error.remedy) from None
        except ValueError:
            raise DataFileError(f"{store}, line {number} is not a run.", _REMEDY) from None
    return rows


def _parse_row(line: bytes, kind: type[R], checksum_needed: bool) -> R:
    """A line as a row of a kind that has a version; altered lines and those of other versions are refused."""
    if found := _CHECKSUM.search(line):
        line = line[: found.start()] + b"}"
        if hashlib.sha256(line).hexdigest().encode() != found[1]:
            raise DataFileError("the line was altered: its checksum does not fit.", _REMEDY)
    elif checksum_needed and _version(line, kind) == _current(kind):  # rows of older versions have none
        raise DataFileError("the line was altered: it has no checksum.", _REMEDY)
    try:
        return kind.model_validate_json(line)
    except ValidationError:
        if (version := _version(line, kind)) == _current(kind):
            raise
        raise DataFileError(
            f"the run is stored in format {repr(version)[:20]}, and this version of dccgcn reads format "
            f"{_current(kind)}.",
            "Move the file out of the folder; its jobs will be run again.",
        ) from None


def _version(line: bytes, kind: type[BaseModel]) -> Any:
    """The version of a row, 1 if it has none."""
    row = json.loads(line)
    return row.get("version", 1) if isinstance(row, dict) else _current(kind)


def _current(kind: type[BaseModel]) -> int:
    return int(kind.model_fields["version"].default)


def _gunzip(store: Path, content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise DataFileError(f"{store} is not a complete gzip file.", "Copy it again, or delete it.") from None
