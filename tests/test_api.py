"""The names that users import."""

import subprocess
import sys

import pytest

import dccgcn


def test_every_public_name_is_there():
    for name in dccgcn.__all__:
        assert getattr(dccgcn, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = dccgcn.nothing_here


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, dccgcn; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=100).returncode == 0


def test_the_lines_of_the_readme(cora):
    split = dccgcn.per_class(cora.graph, 2, seed=0)
    result = dccgcn.run(cora.graph, split, "gcn")
    frame = result.to_frame()
    assert len(frame) == 2708
    assert {"node_id", "prediction", "probability"} <= set(frame.columns)
    assert result.accuracy > 1 / 7
