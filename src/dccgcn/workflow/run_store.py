"""The store of finished runs: a file with one line of JSON per run.

A line ends with the SHA-256 of the rest of it, as a last field of the object.
"""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from dccgcn.errors import DataFileError

Row = dict[str, Any]  # one run: its key, the fields of its job, and what was measured
Rows = dict[str, Row]  # by key

VERSION = 3  # of the format; rows of version 1 and 2 had other fields and other keys
_START = b'{"version":'  # of every line
_CHECKSUM = re.compile(rb',"sha256":"([0-9a-f]{64})"}$')
_REMEDY = "Delete the line; its job will be run again."


def append(store: Path, row: Row) -> None:
    """Add a row and wait until it is on disk. What a full disk leaves of it is removed by the next call."""
    line = json.dumps({"version": VERSION, **row}, ensure_ascii=False, separators=(",", ":"))
    try:
        with store.open("a", encoding="utf-8") as file:
            file.write(with_checksum(line) + "\n")
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


def read_store(store: Path, repair: bool = True) -> Rows:
    """Finished runs by key; the last line of equal keys wins.

    An incomplete last line, left by a crash, is ignored; its job runs again.

    repair: also remove that line from the file, so that the next one can be appended. Leave it off for a store that
    another process may be writing to.
    """
    if not store.exists():
        return {}
    content = store.read_bytes()
    complete = content[: content.rfind(b"\n") + 1]
    rows = {}
    for number, line in enumerate(complete.splitlines(), 1):
        try:
            row = _parse_row(line)
            rows[str(row["key"])] = row
        except DataFileError as error:
            raise DataFileError(f"{store}, line {number}: {error.what}", error.remedy) from None
        except (ValueError, KeyError):
            raise DataFileError(f"{store}, line {number} is not a run.", _REMEDY) from None
    if repair and len(complete) < len(content):
        if not content.startswith(_START, len(complete)) and not _START.startswith(content[len(complete) :]):
            raise DataFileError(f"{store} ends in a line that is not a run.", "Choose another folder for the runs.")
        os.truncate(store, len(complete))
    return rows


def _parse_row(line: bytes) -> Row:
    """A line as a row; altered lines and those of other versions are refused."""
    checksum = _CHECKSUM.search(line)
    if checksum:
        line = line[: checksum.start()] + b"}"
        if hashlib.sha256(line).hexdigest().encode() != checksum[1]:
            raise DataFileError("the line was altered: its checksum does not fit.", _REMEDY)
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError
    version = row.pop("version", 1)
    if version != VERSION:
        raise DataFileError(
            f"the run is stored in format {repr(version)[:20]}, and this version of dccgcn reads format {VERSION}.",
            "Move the file out of the folder; its jobs will be run again.",
        )
    if not checksum:
        raise DataFileError("the line was altered: it has no checksum.", _REMEDY)
    return row
