"""The folder of compiled kernels."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dccgcn
from dccgcn.kernel_cache import VARIABLE, prepare_kernel_cache

READ_ONLY = Path("/proc/sys")  # nobody can create a file there, not even root


@pytest.fixture(autouse=True)
def _unset(monkeypatch):
    monkeypatch.setenv(VARIABLE, "")  # restored after the test


def test_a_writable_package_folder_is_numbas_own_choice(tmp_path):
    prepare_kernel_cache(tmp_path, tmp_path / "cache")
    assert os.environ[VARIABLE] == ""
    assert list(tmp_path.iterdir()) == []


def test_row_54_the_users_cache_folder_is_second(tmp_path):
    prepare_kernel_cache(READ_ONLY, tmp_path)
    assert os.environ[VARIABLE] == str(tmp_path / "dccgcn" / "kernels")


def test_a_folder_that_was_named_stays(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "mine")
    prepare_kernel_cache(READ_ONLY, READ_ONLY)
    assert os.environ[VARIABLE] == "mine"


def test_row_54_without_any_folder_kernels_are_not_kept_and_that_is_said_once(tmp_path):
    # make container runs every command with the package and HOME mounted read-only
    code = (
        "from pathlib import Path\n"
        "import dccgcn.kernel_cache as k\n"
        f"k.prepare_kernel_cache(Path({str(READ_ONLY)!r}), Path({str(READ_ONLY)!r}))\n"
        "import os, numba\n"
        f"print(os.environ[{VARIABLE!r}])\n"
        "@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n"
        "assert f(1) == 2\n"
    )
    source = Path(dccgcn.__file__).parents[1]
    (script := tmp_path / "script.py").write_text(code, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.count("compiled kernels are not kept") == 1, done.stderr
    assert not Path(done.stdout.split()[0]).exists()  # removed at the end
