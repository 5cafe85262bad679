"""Lines of Python and modules of each room: python scripts/size.py"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("src/dccgcn", "paper", "benchmarks", "tests")


def size(room: str) -> tuple[int, int]:
    """Lines and modules of the Python files of a folder."""
    files = sorted((ROOT / room).rglob("*.py"))
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files), len(files)


if __name__ == "__main__":
    for room in ROOMS:
        lines, modules = size(room)
        print(f"{room:12} {lines:7,} lines {modules:4} modules")
