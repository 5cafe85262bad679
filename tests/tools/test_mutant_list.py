"""Every mistake of ``mutant_list`` can be made, and the tests that must notice it exist."""

import re
from pathlib import Path

from tools.mutant_list import MUTANTS
from tools.mutants import source_of

ROOT = Path(__file__).parents[2]


def test_every_mistake_can_be_made_in_one_place():
    for mutant in MUTANTS:
        source = source_of(ROOT, mutant).read_text(encoding="utf-8")
        assert source.count(mutant.old) == 1, mutant
        assert mutant.new != mutant.old


def test_the_tests_of_every_mistake_exist():
    for mutant in MUTANTS:
        paths, _, words = mutant.tests.partition(" -k ")
        found = [file for path in paths.split() for file in files_of(ROOT / path)]
        assert found, mutant
        texts = [file.read_text(encoding="utf-8") for file in found]
        names = [name for text in texts for name in re.findall(r"def (test_\w+)", text)]
        first = [word.split(" and ")[0] for word in words.split(" or ")]
        assert any(word in name for word in first for name in names), f"no test for {words!r}: {mutant}"


def files_of(path: Path) -> list[Path]:
    """The file itself, or the tests of a folder."""
    return sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
