"""The documentation builds as a site, without a warning, and names the whole public interface."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import dccgcn

DOCS = Path(__file__).parents[1] / "docs"


def build(source, target):
    pytest.importorskip("sphinx")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "dummy", "-c", DOCS, source, target]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_site_builds_without_a_warning(tmp_path):
    done = build(DOCS, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_broken_link_fails_the_build(tmp_path):
    (tmp_path / "index.md").write_text("# Start\n\n[nowhere](missing.md)\n")
    done = build(tmp_path, tmp_path / "out")
    assert done.returncode != 0
    assert "missing.md" in done.stderr


def test_the_reference_names_the_whole_public_interface():
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\.\. auto\w+:: dccgcn\.(\w+)$", text, re.M)) == sorted({*dccgcn.__all__} - {"datasets"})


def test_every_page_is_reachable_from_the_start_page():
    start = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^[\w/-]+$", start, re.M))
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert pages <= listed
