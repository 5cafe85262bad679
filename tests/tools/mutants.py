"""One small mistake at a time in a copy of the source: the tests that concern it must fail.

    cd tests && ../.venv/bin/python -m tools.mutants               # all of them, as `make mutants` does
    cd tests && ../.venv/bin/python -m tools.mutants --check       # only whether every place is still there
    cd tests && ../.venv/bin/python -m tools.mutants splits m3s    # those that hold one of these words

The mistakes are those of ``mutant_list``. Each runs in a process forked from one that has loaded torch and other large
packages, one at a time; the copy is ``.mutants`` in the repository. A mutant whose old text is not found once is an
error: write it anew for the changed source. The tests are first run without any mistake.
"""

import os
import shutil
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

from tools.mutant_list import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
COPY = ROOT / ".mutants"
PARTS = ("src", "paper", "benchmarks", "tests", "scripts", "docs", "README.md", "CONTRIBUTING.md", "SECURITY.md")
PARTS += ("Makefile", "pyproject.toml")
PRELOADED = ("numpy", "scipy.sparse", "scipy.stats", "pandas", "sklearn.metrics", "numba", "torch", "pydantic", "typer")
PRELOADED += ("hypothesis", "pytest")
SECONDS = 600  # after which a run counts as failed
REQUIRED = 0.95  # share of the mutants that must die


def main() -> None:
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        return
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    chosen = [m for m in MUTANTS if not words or any(word in " ".join(map(str, m)) for word in words)]
    lost = [m for m in MUTANTS if source_of(ROOT, m).read_text(encoding="utf-8").count(m.old) != 1]
    for mutant in lost:
        print(f"not found once: {mutant}")
    if lost or "--check" in sys.argv:
        print(f"{len(MUTANTS)} mutants, {len(lost)} of them for a source that has changed.")
        sys.exit(bool(lost))
    survivors = run(chosen)
    for mutant in survivors:
        print(f"\nSURVIVED {mutant}")
    died = len(chosen) - len(survivors)
    print(f"\n{died} of {len(chosen)} mutants died ({died / max(len(chosen), 1):.1%}).")
    sys.exit(died < REQUIRED * len(chosen))


def run(mutants: list[Mutant]) -> list[Mutant]:
    """The mutants that no test notices."""
    make_copy()
    for name in PRELOADED:
        import_module(name)
    sound: dict[tuple[str, bool], bool] = {}
    survivors = []
    for number, mutant in enumerate(mutants, 1):
        start, path = time.monotonic(), source_of(COPY, mutant)
        text, stat = path.read_text(encoding="utf-8"), path.stat()
        compiled = "njit" not in text  # numba's cache would mix the two versions
        key = (mutant.tests, compiled)
        if key not in sound:
            sound[key] = passes(mutant.tests, compiled)
        if not sound[key]:
            print(f"Without a mistake these tests fail already: {mutant.tests}", flush=True)
            survivors.append(mutant)
            continue
        try:
            path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
            survived = passes(mutant.tests, compiled)
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # compiled kernels stay valid
        survivors += [mutant] if survived else []
        outcome = "SURVIVED" if survived else "died"
        print(f"{number}/{len(mutants)} {outcome} {time.monotonic() - start:.0f} s {mutant.file}", flush=True)
    return survivors


def make_copy() -> None:
    """Copy the repository with the times of its files; compiled kernels of an earlier call stay."""
    COPY.mkdir(exist_ok=True)
    for part in PARTS:
        old, new = ROOT / part, COPY / part
        if new.is_dir():
            shutil.rmtree(new)
        if old.is_dir():
            shutil.copytree(old, new, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(old, new)


def source_of(root: Path, mutant: Mutant) -> Path:
    return root / mutant.file if mutant.file.startswith("paper/") else root / "src" / "dccgcn" / mutant.file


def passes(tests: str, compiled: bool) -> bool:
    """Whether tests pass, in a process of their own; with compiled kernels, or as plain Python."""
    child = os.fork()
    if child == 0:
        os._exit(_run_tests(tests, compiled))
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            if code in (4, 5):
                print(f"no such tests: {tests}")
            return code in (0, 4, 5)
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run_tests(tests: str, compiled: bool) -> int:
    import numba
    import pytest

    os.setsid()
    sys.dont_write_bytecode = True
    quiet = os.open(os.devnull, os.O_WRONLY)
    if "--show" not in sys.argv:
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
    os.chdir(COPY)
    paths = [str(COPY / "src"), str(COPY), str(COPY / "tests")]
    sys.path[:] = paths + [path for path in sys.path if path and not path.startswith(str(ROOT / "tests"))]
    own = ("dccgcn", "paper", "benchmarks", "tools", "helpers")
    for name in [name for name in sys.modules if name.split(".")[0] in own]:
        del sys.modules[name]
    kernels = str(COPY / "kernels")
    os.environ |= {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "NUMBA_CACHE_DIR": kernels}
    numba.config.CACHE_DIR = kernels
    numba.config.DISABLE_JIT = int(not compiled)
    files, _, words = tests.partition(" -k ")
    chosen = [*files.split(), *(["-k", words] if words else [])]
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header"]
    return int(pytest.main([*chosen, *options]))


if __name__ == "__main__":
    main()
