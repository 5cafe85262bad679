"""Concord on blocks of rows, in threads, against Concord on all rows.."""

from contextlib import contextmanager

import numpy as np
import pytest

from dccgcn import run
from dccgcn.cluster.fit import BlockJob, fit_block, gather, write_inputs
from dccgcn.concord.labels import Labels
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.stages import staged
from dccgcn.concord.views import layout_of
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.errors import SettingsError
from dccgcn.graph.splits import per_class
from dccgcn.runtime.row_blocks import block_bounds
from helpers.thread_peers import on_blocks


@contextmanager
def prepared(graph, split, folder, blocks):
    """The job of so many blocks, whose inputs are stored."""
    settings, given = ConcordSettings(), Labels.of(split.train, graph.labels[split.train], graph.c)
    with staged(graph, settings, folder) as kept:
        write_inputs(kept, settings)
        bounds = block_bounds(graph.n, blocks)
        job = BlockJob(kept.cache.folder, bounds, settings, layout_of(kept), given, 0, None, None)
        kept.cached(("uninformed", job.labels_id), lambda: np.zeros(graph.n, bool))
        yield job


@pytest.mark.parametrize("features", [200, 20])  # many columns are projected, few are used as they are
def test_blocks_give_the_answers_of_all_rows(tmp_path, one_thread, features):
    graph = synthetic_graph(2500, features=features)
    split = per_class(graph, 5, seed=0)
    whole = run(graph, split).prediction
    with prepared(synthetic_graph(2500, features=features), split, tmp_path, 3) as job:
        on_blocks(job.bounds, lambda peers: fit_block(job, peers))
        found = gather(job)
    np.testing.assert_allclose(found.probabilities, whole.probabilities, atol=1e-5)
    np.testing.assert_allclose(found.trust, whole.trust, atol=1e-5)
    np.testing.assert_array_equal(found.channels_agree, whole.channels_agree)
    assert {name: array.shape for name, array in found.model.items()} == {
        name: array.shape for name, array in whole.model.items()
    }
    for name, array in whole.model.items():
        np.testing.assert_allclose(found.model[name], array, atol=1e-5, err_msg=name)


def test_a_damaged_stage_of_a_block_is_made_again(tmp_path, one_thread):
    graph = synthetic_graph(1500)
    with prepared(graph, per_class(graph, 5, seed=0), tmp_path, 2) as job:
        shared = set(job.folder.iterdir())
        assert on_blocks(job.bounds, lambda peers: fit_block(job, peers)) == [[], []]
        expected = gather(job).probabilities
        stages = set(job.folder.iterdir()) - shared
        for stage in stages:
            for file in stage.iterdir():
                file.write_bytes(bytes(file.stat().st_size))
        damaged = on_blocks(job.bounds, lambda peers: fit_block(job, peers))
        assert {name for names in damaged for name in names} == {stage.name for stage in stages}
        np.testing.assert_array_equal(gather(job).probabilities, expected)


def test_ray_needs_a_shared_folder_and_concord():
    graph = synthetic_graph(100, 300)
    with pytest.raises(SettingsError, match="--scratch"):
        run(graph, ray="127.0.0.1:1")
    with pytest.raises(SettingsError, match="one machine"):
        run(graph, method="lp", ray="127.0.0.1:1")
