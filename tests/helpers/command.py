"""Run the command lines within the test process, which has torch loaded already."""

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from dccgcn.cli import main


class Done(NamedTuple):
    """Exit code and output of a command."""

    returncode: int
    stdout: str
    stderr: str


def dccgcn(*arguments: object, cwd: Path | None = None) -> Done:
    """Run ``dccgcn`` with these arguments, in the folder if one is given."""
    return _run(main, arguments, cwd)


def success(*arguments: object, cwd: Path | None = None) -> Done:
    """Run ``dccgcn``, which must succeed."""
    done = dccgcn(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done


def paper(*arguments: object, cwd: Path | None = None) -> Done:
    """Run ``python -m paper`` with these arguments."""
    from paper.__main__ import main as reproduce

    return _run(reproduce, arguments, cwd)


def benchmarks(*arguments: object) -> Done:
    """Run ``python -m benchmarks`` with these arguments."""
    from benchmarks.__main__ import main as measure

    return _run(measure, arguments)


def _run(program: Callable[[], None], arguments: tuple[object, ...], cwd: Path | None = None) -> Done:
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["dccgcn", *map(str, arguments)])
        patch.setenv("COLUMNS", "200")  # rich folds long cells on a narrow terminal
        if cwd:
            patch.chdir(cwd)
        try:
            program()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def refused(done: Done, *words: str) -> None:
    """Check for a user error: exit code 2, an error with a remedy that contains the words, and no other output."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "Error: " in done.stderr
    assert "Remedy: " in done.stderr
    for word in words:
        assert word in done.stderr
