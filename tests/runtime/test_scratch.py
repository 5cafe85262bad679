"""Values of a scratch folder: found again as they were, and there whole or not at all."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.errors import DataFileError
from dccgcn.runtime.scratch import Stages, fingerprint, open_stages


@dataclass(frozen=True, eq=False)
class Pair:
    name: str
    z: np.ndarray


def test_values_are_found_again_as_they_were(tmp_path: Path) -> None:
    matrix = sp.csr_array(np.array([[0, 2.5], [1, 0]], dtype=np.float32))
    value = (Pair("a", np.arange(6.0).reshape(2, 3)), [matrix, None], {"k": 3, "empty": np.zeros(0)})
    Stages(tmp_path, {"Pair": Pair})["key", 1] = value
    again = Stages(tmp_path, {"Pair": Pair})
    assert ("key", 2) not in again
    assert ("key", 1) in again
    pair, (found, none), rest = again["key", 1]
    assert (pair.name, none, rest["k"], rest["empty"].shape) == ("a", None, 3, (0,))
    np.testing.assert_array_equal(pair.z, value[0].z)
    np.testing.assert_array_equal(found.toarray(), matrix.toarray())
    assert ("key", 1) not in Stages(tmp_path, {"Pair": Pair}, prefix="other features")


def test_a_stage_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(DataFileError, match="cannot be written") as error:
        Stages(tmp_path, {})["key"] = np.arange(3)
    assert "Finished stages are kept" in error.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_stages_that_stay_after_a_failure_count_as_space_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep_and_fail(stages: Stages) -> None:
        stages["key"] = np.arange(1000)
        raise KeyboardInterrupt

    identity = fingerprint("a run")
    with pytest.raises(KeyboardInterrupt), open_stages(tmp_path, identity, 0, {}) as stages:
        keep_and_fail(stages)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=100))
    with open_stages(tmp_path, identity, 8100, {}) as stages:
        assert "key" in stages
    assert list(tmp_path.iterdir()) == []


def test_a_fingerprint_depends_on_values_types_and_shapes() -> None:
    x = np.arange(6.0)
    different = (x, x.astype(np.float32), x.reshape(2, 3), x + 1, sp.csr_array(x.reshape(2, 3)), "text")
    assert len({fingerprint(one) for one in different}) == len(different)
    assert fingerprint(x, "a") == fingerprint(x.copy(), "a")
