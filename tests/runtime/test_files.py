"""Atomic writing and hashes."""

import os
import stat
from pathlib import Path

import pytest

from dccgcn.errors import DataFileError
from dccgcn.runtime.files import write_atomically


def test_writes_text_and_bytes_and_makes_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.txt"
    write_atomically(path, "größe\n")
    assert path.read_bytes() == "größe\n".encode()
    write_atomically(path, b"\x00\x01")
    assert path.read_bytes() == b"\x00\x01"
    assert os.listdir(path.parent) == ["file.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_row_41_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "file.txt"
    write_atomically(path, "old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(DataFileError, match="disk full"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_others_may_read_what_was_written(tmp_path: Path) -> None:
    plain, atomic = tmp_path / "plain", tmp_path / "atomic"
    plain.write_text("x")
    write_atomically(atomic, "x")
    assert stat.S_IMODE(atomic.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
