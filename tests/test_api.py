"""The public names: what they are, that they load lazily, and that their examples run."""

import doctest
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import yaml

import dccgcn

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", sorted({*dccgcn.__all__} - {"datasets"}))
def test_public_names_are_there_with_examples_that_run(name):
    public = getattr(dccgcn, name)
    assert public.__doc__
    module = sys.modules[public.__module__]
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder(recurse=False).find(public, name, module, dict(vars(module))):
        assert runner.run(example).failed == 0


def test_other_names_are_attribute_errors_and_are_not_listed():
    for name in ("nothing_here", "label_next", "__path__of"):
        with pytest.raises(AttributeError, match=name):
            getattr(dccgcn, name)
    assert set(dir(dccgcn)) == set(dccgcn.__all__)


def test_parts_of_the_package_are_not_reachable_unless_they_are_imported():
    code = "import dccgcn; dccgcn.datasets; print(*(hasattr(dccgcn, n) for n in ('api', 'cli', 'workflow', 'cli')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["False"] * 4, done.stderr
    assert dccgcn.datasets.synthetic_graph(100, 300, 20).n == 100


def test_the_version_has_one_source():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == str(Path(dccgcn.__file__).relative_to(ROOT))
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == dccgcn.__version__
    assert f"\n## {dccgcn.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_missing_extra_says_how_to_install_it(monkeypatch):
    from dccgcn.tables.convert import to_pyg

    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(dccgcn.DccgcnError, match=r"torch_geometric is not installed\..*pip install 'dccgcn\[pyg\]'"):
        to_pyg(dccgcn.NodeGraph(np.eye(2), [(0, 1)]))


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, dccgcn; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=600).returncode == 0


def test_the_columns_of_a_method_with_channels(cora):
    result = dccgcn.run(cora.graph, dccgcn.per_class(cora.graph, 2, seed=0))
    frame = result.to_frame()
    channels = [f"prediction_{name}" for name in result.prediction.channels]
    assert len(channels) == 9
    columns = ["node_id", "prediction", "trust", "trusted", "channels_agree", *channels, "role", "label"]
    assert frame.columns.tolist() == columns
    assert set(frame["channels_agree"]) == {"yes", "no"}
    assert set(frame["trusted"]) == {"estimated", "no"}  # of two labels per class nothing is promised
    np.testing.assert_array_equal(frame["trust"], result.prediction.trust)
