"""The rooms of the repository: the package that users install, the reproduction, the benchmarks and the tests."""

import ast
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from size import size

from dccgcn import __version__

ROOT = Path(__file__).parents[1]
ROOMS = {"dccgcn": ROOT / "src" / "dccgcn", "paper": ROOT / "paper", "benchmarks": ROOT / "benchmarks"}
MAY_IMPORT = {"dccgcn": set(), "paper": {"dccgcn"}, "benchmarks": {"dccgcn"}}
# at most so many lines of Python, and modules; they are only ever lowered
BUDGETS = {("src/dccgcn",): (25950, 187), ("paper", "benchmarks"): (5000, 46), ("tests",): (20050, 158)}


def imported(file: Path) -> set[str]:
    """Top-level names that a module imports, at the top or in functions."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports by a relative path"
            names.add(str(node.module).split(".")[0])
    return names


@pytest.mark.parametrize("room", ROOMS)
def test_the_package_imports_no_other_room_and_they_import_only_the_package(room):
    for file in ROOMS[room].rglob("*.py"):
        others = imported(file) & (ROOMS.keys() | {"tests", "helpers", "scripts"}) - {room}
        assert others <= MAY_IMPORT[room], f"{file} imports {others}"


def test_the_wheel_holds_the_package_alone(tmp_path):
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as file:
        folders = {name.split("/")[0] for name in file.namelist()}
    assert folders == {"dccgcn", f"dccgcn-{__version__}.dist-info"}


@pytest.mark.parametrize("rooms", BUDGETS, ids=" and ".join)
def test_a_room_keeps_its_budget(rooms):
    sizes = [size(room) for room in rooms]
    lines, modules = (sum(numbers) for numbers in zip(*sizes, strict=True))
    most_lines, most_modules = BUDGETS[rooms]
    assert lines <= most_lines
    assert modules <= most_modules
