"""The wheel, installed without extras into an empty environment."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UNUSED = ("torch", "sklearn", "scipy.stats", "matplotlib", "pooch", "ray", "pyarrow", "torch_geometric")

pytestmark = pytest.mark.install


def call(*command, cwd, **environment):
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env={**env, **environment}, capture_output=True, text=True, check=False
    )


def skip_without_registry(done):
    if done.returncode and ("No matching distribution" in done.stderr or "connection" in done.stderr.lower()):
        pytest.skip(f"no package registry: {done.stderr.strip().splitlines()[-1]}")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment with the wheel and its dependencies, and nothing else."""
    folder = tmp_path_factory.mktemp("install")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    offline = ["--no-build-isolation"] if find_spec("hatchling") else []
    built = call(*pip, "wheel", ROOT, "--no-deps", *offline, "--wheel-dir", folder, cwd=folder)
    skip_without_registry(built)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    made = call(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    assert made.returncode == 0, made.stderr
    interpreter = folder / "venv" / "bin" / "python"
    constraints = ROOT / "constraints.txt"
    done = call(*pip, "--python", interpreter, "install", "--no-compile", "-c", constraints, wheel, cwd=folder)
    skip_without_registry(done)
    assert done.returncode == 0, done.stderr
    return interpreter


def imported_by(python, folder, *arguments):
    """Those of UNUSED that a command imports; it must succeed."""
    code = (
        "import json, sys\n"
        "from dccgcn.cli import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
        f"print(json.dumps([name for name in {UNUSED!r} if name in sys.modules]))\n"
    )
    done = call(python, "-c", code, *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_cora_is_fitted_and_reported_without_unused_packages(python, tmp_path):
    assert imported_by(python, tmp_path, "fit", "cora", "--report", "--out", tmp_path / "cora") == []
    assert (tmp_path / "cora" / "report.html").stat().st_size > 100_000


def test_two_tables_are_fitted_from_another_folder(python, tmp_path):
    rows = [f"n{i},{i % 2},{(i + 1) % 2},{'ab'[i % 2] if i < 8 else ''}" for i in range(40)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,x,y,topic", *rows]) + "\n", encoding="utf-8")
    edges = [f"n{i},n{(i + 2) % 40}" for i in range(40)]
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n", encoding="utf-8")
    tables = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--label", "topic")
    found = imported_by(python, tmp_path, "fit", *tables, "--out", "run")
    assert not {"torch", "matplotlib", "pooch", "ray"} & set(found)
    assert (tmp_path / "run" / "predictions.csv").is_file()


def test_methods_are_listed_and_those_that_need_torch_say_how_to_install_it(python, tmp_path):
    command = python.parent / "dccgcn"
    listed = call(command, "methods", "--json", cwd=tmp_path)
    assert {"concord", "gcn", "dcc-gcn"} <= {method["name"] for method in json.loads(listed.stdout)}
    refused = call(command, "fit", "cora", "--method", "gcn", cwd=tmp_path, COLUMNS="200")
    assert refused.returncode == 2
    assert "gcn needs torch" in refused.stderr
    assert "pip install 'dccgcn[torch]'" in refused.stderr
    solved = call(command, "fit", "cora", "--method", "lp-series", "--json", cwd=tmp_path)
    assert json.loads(solved.stdout)["accuracy"] > 0.5
    assert "torch" not in json.loads(solved.stdout)["versions"]
