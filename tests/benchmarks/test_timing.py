"""Interleaved timing."""

import numpy as np
import pytest
import torch

from benchmarks.timing import interleave, largest_difference, median_ratio


def test_forms_run_in_turn_and_warm_up_is_not_counted():
    calls = []
    seconds = interleave([lambda i: calls.append(("a", i)), lambda i: calls.append(("b", i))], rounds=3, warm_up=1)
    assert calls == [(form, i) for i in range(4) for form in "ab"]
    assert seconds.shape == (3, 2)
    assert (seconds >= 0).all()


def test_the_ratio_is_taken_within_each_round():
    assert median_ratio(np.array([2.0, 30.0, 6.0]), np.array([1.0, 10.0, 1.0])) == 3


def test_the_largest_difference_is_relative_to_the_second():
    ours, theirs = [torch.tensor([1.0, 2.0]), torch.zeros(2, 2)], [torch.tensor([1.0, 4.0]), torch.zeros(4)]
    assert largest_difference(ours, theirs) == pytest.approx(0.5)
    assert np.isnan(largest_difference([torch.tensor([float("nan")])], [torch.ones(1)]))
