"""AM-GCN's text files, read straight from their zip archive."""

import zipfile
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DataFileError, GraphError, SplitError
from dccgcn.graph import NodeGraph, Split

LABELS_PER_CLASS = (20, 40, 60)  # AM-GCN's three published splits


def read_am_gcn(path: Path, title: str | None = None) -> tuple[NodeGraph, list[Split]]:
    """The graph of an archive with .edge, .feature and .label files, and its splits "am-gcn-20", -40 and -60."""
    with _reading(path), zipfile.ZipFile(path) as archive:
        name = _only(archive, path, ".label").rsplit("/", 1)[-1].removesuffix(".label")
        labels = _integers(archive, _only(archive, path, ".label"), columns=1)[:, 0]
        graph = NodeGraph(
            _binary_features(archive, _only(archive, path, ".feature")),
            _integers(archive, _only(archive, path, ".edge"), columns=2),
            labels,
            classes=range(int(labels.max()) + 1),
            name=title or name,
        )
        splits = []
        for k in LABELS_PER_CLASS:
            train, test = (
                _integers(archive, _only(archive, path, f"/{part}{k}.txt"), columns=1) for part in ("train", "test")
            )
            splits.append(Split.from_parts(graph, f"am-gcn-{k}", train, [], test))
    return graph, splits


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise DataFileError(f"{path} is not a whole zip archive ({error}).", "Download it again.") from error
    except (GraphError, SplitError) as error:
        raise DataFileError(f"The files in {path} do not fit together: {error.what}", "Download it again.") from error


def _only(archive: zipfile.ZipFile, path: Path, ending: str) -> str:
    # ACM's edges are in acm_PAP.edge (papers that share an author), the others' in NAME.edge
    members = [member for member in archive.namelist() if member.endswith(ending)]
    if len(members) != 1:
        raise DataFileError(f"{path} holds {len(members)} files that end in {ending}, not one.", "Download it again.")
    return members[0]


def _integers(archive: zipfile.ZipFile, member: str, columns: int) -> np.ndarray:
    """A table of whole numbers from 0 up, one row per line."""
    numbers = array("q")
    with archive.open(member) as stream:
        for number, line in enumerate(stream, start=1):
            cells = line.split()
            if len(cells) != columns or not all(cell.isdigit() and len(cell) < 19 for cell in cells):
                raise _wrong_line(archive, member, number, f"{columns} whole numbers")
            numbers.extend(map(int, cells))
    if not numbers:
        raise DataFileError(f"{member} in {archive.filename} is empty.", "Download it again.")
    return np.array(numbers, dtype=np.int64).reshape(-1, columns)


def _binary_features(archive: zipfile.ZipFile, member: str) -> sp.csr_array:
    """A dense matrix of the digits 0 and 1, a blank or tab between two, kept sparse from the first line on."""
    columns: list[np.ndarray] = []
    width = 0
    with archive.open(member) as stream:
        for number, line in enumerate(stream, start=1):
            text = np.frombuffer(line.rstrip(), dtype=np.uint8)
            digits, gaps = text[::2], text[1::2]
            width = width or len(digits)
            if not (
                len(digits) == width > 0
                and len(gaps) == width - 1
                and ((digits == ord("0")) | (digits == ord("1"))).all()
                and ((gaps == ord(" ")) | (gaps == ord("\t"))).all()
            ):
                raise _wrong_line(archive, member, number, f"{width} digits 0 or 1 with one blank between two")
            columns.append(np.flatnonzero(digits == ord("1")).astype(np.int32))
    starts = np.cumsum([0, *map(len, columns)])
    indices = np.concatenate(columns) if columns else np.empty(0, dtype=np.int32)
    return sp.csr_array((np.ones(len(indices), dtype=np.float32), indices, starts), shape=(len(columns), width))


def _wrong_line(archive: zipfile.ZipFile, member: str, number: int, expected: str) -> DataFileError:
    return DataFileError(
        f"Line {number} of {member} in {archive.filename} is malformed: expected {expected}.", "Download it again."
    )
