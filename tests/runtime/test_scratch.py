"""Values of a scratch folder: found again as they were, and there whole or not at all."""

import errno
import json
import os
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.errors import DataFileError
from dccgcn.runtime.scratch import Stages, _digest, digest_of, open_stages


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

    identity = digest_of("a run")
    with pytest.raises(KeyboardInterrupt), open_stages(tmp_path, identity, 0, {}) as stages:
        keep_and_fail(stages)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=100))
    with open_stages(tmp_path, identity, 8100, {}) as stages:
        assert "key" in stages
    assert list(tmp_path.iterdir()) == []


def test_a_fingerprint_depends_on_values_types_and_shapes() -> None:
    x = np.arange(6.0)
    different = (x, x.astype(np.float32), x.reshape(2, 3), x + 1, sp.csr_array(x.reshape(2, 3)), "text")
    assert len({digest_of(one) for one in different}) == len(different)
    assert digest_of(x, "a") == digest_of(x.copy(), "a")


def test_a_stage_is_on_disk_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loss of power itself is not tested: here, that every file and both folders are synchronised in time."""
    synced: set[int] = set()
    sync, replace = os.fsync, os.replace

    def renamed(source: Path, target: Path) -> None:
        assert {path.stat().st_ino for path in (source, *source.iterdir())} <= synced
        synced.clear()
        replace(source, target)

    monkeypatch.setattr("os.fsync", lambda file: synced.add(os.fstat(file).st_ino) or sync(file))
    monkeypatch.setattr("os.replace", renamed)
    Stages(tmp_path, {})["key"] = (np.arange(3), sp.csr_array(np.eye(2)))
    assert synced == {tmp_path.stat().st_ino}


def test_a_shared_array_is_part_of_each_stage_that_refers_to_it(tmp_path: Path) -> None:
    stages = Stages(tmp_path, {})
    stages["first"] = np.arange(100.0)
    stages["second"] = [stages["first"]]
    np.save(next(tmp_path.rglob("*.npy")), np.zeros(100))
    again = Stages(tmp_path, {})
    assert "second" not in again
    assert "first" not in again
    again["first"] = np.arange(100.0)
    again["second"] = [again["first"]]
    assert len(list(tmp_path.rglob("*.npy"))) == 1
    third = Stages(tmp_path, {})
    np.testing.assert_array_equal(third.read("second")[0], np.arange(100.0))
    assert (len(again.damaged), third.damaged) == (2, [])


def test_a_matrix_with_wrong_indices_is_refused_whatever_its_digest(tmp_path: Path) -> None:
    matrix = sp.csr_array(np.eye(3))
    matrix.indices[1] = 7
    Stages(tmp_path, {})["key"] = (matrix.data, {"wrong": matrix.indices}, matrix.indptr)
    file = next(tmp_path.rglob("value.json"))
    content = json.loads(file.read_text())
    data, indices, indptr = ({"array": name} for name in content["files"])
    content["value"] = {"csr": [data, indices, indptr], "shape": [3, 3]}
    del content["digest"]
    file.write_text(json.dumps({"digest": _digest(file.parent, content), **content}))
    assert "key" not in Stages(tmp_path, {})


def test_too_little_memory_is_not_a_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    Stages(tmp_path, {})["key"] = np.arange(3)
    monkeypatch.setattr("numpy.load", full)
    with pytest.raises(OSError, match="allocate"):
        assert "key" in Stages(tmp_path, {})
    assert list(tmp_path.rglob("*.npy"))
