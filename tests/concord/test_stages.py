"""Runs with a scratch folder: the same predictions, also after a kill, and nothing left behind."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn import NodeGraph, run
from dccgcn.concord import views
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.stages import staged
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.errors import DataFileError, SettingsError
from dccgcn.graph.splits import per_class
from dccgcn.runtime.scratch import stages_of

SMALL = synthetic_graph(90, 360, 60)  # a run takes a tenth of a second
KILLED = """
    import os, signal, sys
    from dccgcn import run
    from dccgcn.datasets.synthetic import synthetic_graph
    from dccgcn.graph.splits import per_class

    def stop(stage, done, total):
        if stage == "views" and done == 4:
            os.kill(os.getpid(), signal.SIGKILL)

    graph = synthetic_graph(600, 2400, 200)
    run(graph, per_class(graph, 5, seed=0), progress=stop, scratch=sys.argv[1])
"""


@pytest.fixture(scope="module")
def graph() -> NodeGraph:
    return synthetic_graph(600, 2400, 200)


@pytest.fixture(scope="module")
def expected(graph: NodeGraph) -> np.ndarray:
    return run(graph.with_cache({}), per_class(graph, 5, seed=0)).prediction.probabilities


def stage_files(folder: Path) -> list[Path]:
    return list(folder.rglob("value.json"))


def test_a_killed_run_continues_from_its_last_finished_stage(
    graph: NodeGraph, expected: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), tmp_path], env=os.environ, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert stage_files(tmp_path)
    place = next(tmp_path.glob("dccgcn-*"))
    unfinished = place / ".0123456789abcdef.tmp"
    unfinished.mkdir()
    made = []
    make = views._make
    monkeypatch.setattr(views, "_make", lambda spec, *rest: made.append(spec.name) or make(spec, *rest))
    result = run(graph.with_cache({}), per_class(graph, 5, seed=0), scratch=tmp_path)
    assert made == ["structure", "similar", "sizes"]  # four views were there
    np.testing.assert_array_equal(result.prediction.probabilities, expected)
    assert not list(tmp_path.iterdir())
    note = next(finding for finding in result.findings if finding.code == "scratch")
    assert str(tmp_path) in note.text


def test_a_failed_run_keeps_its_stages_and_another_one_removes_them(graph: NodeGraph, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="reshape"), staged(graph, ConcordSettings(), tmp_path) as kept:
        views.precompute(kept, ConcordSettings()).projections.embeddings["own"].z.reshape(7, 7)
    assert stages_of(kept.cache) is None
    assert len(stage_files(tmp_path)) > 5
    with staged(graph, ConcordSettings(n_components=8), tmp_path):
        assert len(list(tmp_path.iterdir())) == 1  # its own
        with staged(graph, ConcordSettings(), tmp_path):
            assert len(list(tmp_path.iterdir())) == 2  # a folder in use is left alone
        with (
            pytest.raises(DataFileError, match="Another process is writing"),
            staged(graph, ConcordSettings(n_components=8), tmp_path),
        ):
            pass
    assert not list(tmp_path.iterdir())


def test_folders_of_the_user_are_left_alone(graph: NodeGraph, tmp_path: Path) -> None:
    """Even those whose name begins like one of stages, and such a folder with a file of the user in it."""
    mine, mixed = tmp_path / "dccgcn-results", tmp_path / f"dccgcn-{'a' * 16}"
    for folder in (mine, mixed):
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")
        (folder / ".lock").touch()
    left = tmp_path / f"dccgcn-{'b' * 16}"
    (left / ("c" * 16)).mkdir(parents=True)
    (left / ".lock").touch()
    with staged(graph, ConcordSettings(), tmp_path):
        assert not left.exists()
    assert (mine / "notes.txt").read_text() == (mixed / "notes.txt").read_text() == "mine"


def test_values_are_mapped_and_stored_once(graph: NodeGraph, tmp_path: Path) -> None:
    with staged(graph, ConcordSettings(), tmp_path) as kept:
        inputs = views.precompute(kept, ConcordSettings())
        z = inputs.projections.embeddings["own"].z
        assert isinstance(z.base, np.memmap)
        assert z.flags.writeable  # a copy of the page, not the file
        shapes = [np.load(file, mmap_mode="r").shape for file in tmp_path.rglob("*.npy")]
        assert shapes.count(z.shape) == 3  # own and both hops; the regressor refers to them
        again = views.precompute(
            graph.with_cache(type(kept.cache)(kept.cache.folder, kept.cache._classes)), ConcordSettings()
        )
    for name, embedding in inputs.projections.embeddings.items():
        np.testing.assert_array_equal(again.projections.embeddings[name].z, embedding.z)
    assert again.findings == inputs.findings


@pytest.mark.parametrize("directed", [False, True])
def test_numeric_features_and_relations_are_staged_as_well(directed: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 3
    x = labels[:, None] + rng.normal(size=(90, 5))
    pairs = {"cites": rng.integers(0, 90, (200, 2)), "knows": rng.integers(0, 90, (100, 2))}
    graph = NodeGraph(x, [], labels).with_relations(pairs, directed)
    split = per_class(graph, 5, seed=0)
    plain, kept = run(graph.with_cache({}), split), run(graph, split, scratch=tmp_path)
    np.testing.assert_array_equal(kept.prediction.probabilities, plain.prediction.probabilities)


def test_too_little_space_is_an_error_before_the_run(
    graph: NodeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage(1, 0, 1000))
    with pytest.raises(DataFileError, match=r"need about \d+ MB in .* where 0 MB are free"):
        run(graph, per_class(graph, 5, seed=0), scratch=tmp_path)
    assert not list(tmp_path.iterdir())


def test_other_methods_have_no_stages(graph: NodeGraph, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="lp keeps nothing in a scratch folder"):
        run(graph, per_class(graph, 5, seed=0), "lp", scratch=tmp_path)


def test_inputs_decide_whether_stages_are_reused(graph: NodeGraph, tmp_path: Path) -> None:
    others = (
        NodeGraph(graph.features, graph.edges[1:], graph.labels),
        NodeGraph(sp.csr_array(graph.features * 2), graph.edges, graph.labels),
        NodeGraph(graph.features, graph.edges, graph.labels, edge_weights=np.full(len(graph.edges), 2.0)),
    )
    with staged(graph, ConcordSettings(), tmp_path) as kept:
        for other in others:
            with staged(other, ConcordSettings(), tmp_path) as changed:
                assert changed.cache.folder != kept.cache.folder
    relabelled = graph.with_labels(np.roll(graph.labels, 1))
    with staged(relabelled, ConcordSettings(), tmp_path) as same:
        assert same.cache.folder.name == next(tmp_path.iterdir()).name


def test_predictions_of_channels_and_weighted_views_are_mapped(graph: NodeGraph, expected, tmp_path: Path) -> None:
    result = run(graph.with_cache({}), per_class(graph, 5, seed=0), scratch=tmp_path)
    for array in (*result.prediction.channels.values(), *result.prediction.embeddings.values()):
        assert isinstance(array.base, np.memmap)
        assert np.isfinite(array).all()  # readable, although the folder is empty
    assert not list(tmp_path.iterdir())
    np.testing.assert_array_equal(result.prediction.probabilities, expected)


def zero_arrays(stage: Path) -> None:
    """Data only: every header is as it was."""
    for file in stage.glob("*.npy"):
        array = np.load(file, mmap_mode="r+") if np.load(file).size else np.zeros(0)
        array[...] = 0


def change_value(stage: Path) -> None:
    """Another number or name, in JSON that is well formed."""
    file = stage / "value.json"
    text = file.read_text()
    changed = next(i for i in range(text.index('"files"'), 0, -1) if text[i].isdigit())
    file.write_text(f"{text[:changed]}{9 - int(text[changed])}{text[changed + 1 :]}")


def enlarge_indices(stage: Path) -> None:
    for file in stage.glob("*.npy"):
        if np.load(file).dtype.kind == "i":
            array = np.load(file)
            np.save(file, array + 10**6)


def swap(stage: Path) -> None:
    other = next(path for path in sorted(stage.parent.iterdir()) if path.is_dir() and path != stage)
    for source, target in ((stage, "third"), (other, stage.name), (stage.parent / "third", other.name)):
        source.rename(stage.parent / target)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scratch folder of a run that was stopped when all its stages were there."""
    folder = tmp_path_factory.mktemp("stopped")

    def stop(task: str, done: int, total: int) -> None:
        if task == "predictions":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(SMALL.with_cache({}), per_class(SMALL, 5, seed=0), progress=stop, scratch=folder)
    return folder


DAMAGES: dict[str, Callable[[Path], object]] = {
    # what a loss of power leaves of files that were not synchronised
    "zeros": lambda stage: [file.write_bytes(bytes(file.stat().st_size)) for file in stage.iterdir()],
    "zero arrays": zero_arrays,
    "another value": change_value,
    "large indices": enlarge_indices,
    "halves": lambda stage: [os.truncate(file, file.stat().st_size // 2) for file in stage.iterdir()],
    "a missing file": lambda stage: max(stage.iterdir(), key=lambda file: file.name == "0.npy").unlink(),
    "swapped": swap,
    "a file": lambda stage: shutil.rmtree(stage) or stage.write_text("{"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_stage_is_made_again(stopped: Path, damage: Callable[[Path], None], tmp_path: Path) -> None:
    split = per_class(SMALL, 5, seed=0)
    expected = run(SMALL.with_cache({}), split).prediction
    stages = [path.parent.relative_to(stopped) for path in stage_files(stopped)]
    told = 0
    for stage in stages:
        shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
        damage(tmp_path / stage)
        found = run(SMALL.with_cache({}), split, scratch=tmp_path)
        np.testing.assert_array_equal(found.prediction.probabilities, expected.probabilities)
        np.testing.assert_array_equal(found.prediction.trust, expected.trust)
        told += "scratch-damaged" in {finding.code for finding in found.findings}
        assert not list(tmp_path.iterdir())
    assert told > 3  # others are not read, since what is made from them is there, or have no such array


def test_stages_without_damage_are_used_and_said_nothing_about(stopped: Path, tmp_path: Path) -> None:
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    found = run(SMALL.with_cache({}), per_class(SMALL, 5, seed=0), scratch=tmp_path)
    assert "scratch-damaged" not in {finding.code for finding in found.findings}
