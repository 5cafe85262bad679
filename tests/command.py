"""The command line within the tests' own process: a subprocess takes seconds to import everything."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from dccgcn.cli import main


def dccgcn(*arguments: object) -> tuple[int, str, str]:
    """The exit code, and what was printed to either stream."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["dccgcn", *map(str, arguments)])
        patch.setenv("COLUMNS", "200")
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()
