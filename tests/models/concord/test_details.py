"""Seeds and shares of Concord that its other tests would not miss; ``tools.mutants`` alters them."""

import numpy as np
import pytest
from dccgcn.models.concord.ensemble import assign_folds

from dccgcn.graph.splits import per_class
from dccgcn.models.concord import method
from dccgcn.models.concord.settings import ConcordSettings
from helpers.groups import blocks


def test_folds_depend_on_the_seed():
    y = np.repeat(np.arange(3), 9)
    assert not np.array_equal(assign_folds(y, 0), assign_folds(y, 1))
    np.testing.assert_array_equal(assign_folds(y, 1), assign_folds(y, 1))


def test_the_share_of_pseudo_labels_doubles_from_round_to_round(monkeypatch):
    graph, shares = blocks(60), []
    select = method.select_pseudo_labels
    monkeypatch.setattr(
        method,
        "select_pseudo_labels",
        lambda f, given, share, *rest: shares.append(share) or select(f, given, share, *rest),
    )
    method.fit(graph, per_class(graph, 2, 0).train, ConcordSettings(n_rounds=3, final_pseudo_fraction=0.2), 0)
    assert shares == pytest.approx([0.05, 0.1, 0.2])


def test_scarce_labels_give_weight_to_the_structural_embedding():
    graph = blocks(60)
    settings = ConcordSettings(spectral_weighting=0.0)

    def joint(q):
        members = method.build_members(method.precompute(graph, settings, q), q, settings)
        widths = [member.z.shape[1] for member in members if member.embedding == method.STRUCTURE]
        z = next(member.z for member in members if member.embedding == method.JOINT)
        return z, widths[0]

    (few, width), (many, _) = joint(0.8), joint(0.4)
    halved = [
        np.allclose(many[:, i : i + width], few[:, i : i + width] / 2, atol=1e-6)
        for i in range(few.shape[1] - width + 1)
    ]
    assert any(halved)
