"""Labels that held-out predictions contradict."""

import numpy as np
import pytest

from dccgcn.quality.label_errors import suspect_labels


def literal(held_out, weights, y):
    """Positions of the suspect labels, one by one."""
    p, found = held_out["pool"], []
    for i in range(len(y)):
        best, best_class = -1.0, None
        for k in range(p.shape[1]):
            given = [p[j, k] for j in range(len(y)) if y[j] == k]
            if given and p[i, k] >= np.mean(given) and p[i, k] > best:
                best, best_class = p[i, k], k
        against = sum(w for name, w in weights.items() if held_out[name][i].argmax() != y[i]) / sum(weights.values())
        if best_class not in (None, y[i]) and best - p[i, y[i]] > 0.5 and against > 0.5:
            found.append(i)
    return sorted(found, key=lambda i: -(p[i].max() - p[i, y[i]]))


@pytest.mark.parametrize("seed", range(20))
def test_suspects_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 40)
    held_out = {name: rng.dirichlet(np.full(3, 0.3), 40) for name in ("a", "b", "pool")}
    weights = {"a": 0.3, "b": 0.7}
    found = suspect_labels(held_out, weights, y)
    assert sorted(found.positions) == sorted(literal(held_out, weights, y))
    lead = found.p_predicted - found.p_given
    assert (np.diff(lead) <= 0).all()
    assert (lead > 0.5).all()


def test_one_wrong_label_among_clear_ones_is_the_only_suspect():
    y = np.repeat([0, 1], 10)
    p = np.where(np.arange(2) == y[:, None], 0.95, 0.05)
    y[3] = 1
    found = suspect_labels({"own": p, "pool": p}, {"own": 1.0}, y)
    assert found.positions.tolist() == [3]
    assert found.predicted.tolist() == [0]
    assert found.against.tolist() == [1.0]
