"""Splits: balanced, repeatable, disjoint, and refused when the arguments cannot be met."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn.datasets import Dataset
from dccgcn.errors import DataFileError, SplitError
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split, by_rate, check_training, hold_out, per_class


def toy(sizes: list[int], unlabelled: int = 0, **changes: Any) -> NodeGraph:
    """A ring of nodes with so many of each class, and some without a label."""
    labels = [c for c, size in enumerate(sizes) for _ in range(size)] + [None] * unlabelled
    n = len(labels)
    ring = [(node, (node + 1) % n) for node in range(n)]
    return NodeGraph(**({"features": np.eye(n), "edges": ring, "labels": labels, "name": "toy"} | changes))


def counts(graph: NodeGraph, split: Split) -> list[int]:
    return np.bincount(graph.labels[split.train], minlength=graph.c).tolist()


def test_per_class_takes_k_of_each_and_tests_all_other_labelled_nodes() -> None:
    graph = toy([10, 20, 30], unlabelled=5)
    split = per_class(graph, 4, seed=3)
    assert counts(graph, split) == [4, 4, 4]
    assert sorted([*split.train, *split.test]) == graph.labelled.tolist()
    assert len(split.validation) == 0
    assert split.findings == ()
    assert (split.dataset, split.kind, split.seed) == ("toy", "per-class-4", 3)


@pytest.mark.parametrize("k", [9, 10, 11])
def test_row_26_more_per_class_than_there_are(k: int) -> None:
    with pytest.raises(
        SplitError, match=rf"{k} training nodes per class leave nothing to test in 1 classes.*: 1 \(9\)"
    ):
        per_class(toy([20, 9]), k, seed=0)
    assert counts(toy([20, 9]), per_class(toy([20, 9]), 8, seed=0)) == [8, 8]


def test_row_26_small_classes_give_half_on_request() -> None:
    graph = toy([90, 39, 9, 1])
    split = per_class(graph, 20, seed=0, small_classes="half")
    assert counts(graph, split) == [20, 19, 4, 1]
    assert counts(toy([40, 40]), per_class(toy([40, 40]), 20, 0, "half")) == [20, 20]
    assert [finding.code for finding in split.findings] == ["small-classes"]
    assert (
        split.findings[0].text
        == "Not 20 labels of every class train: of classes with fewer than 40, half do (in brackets): "
        "1 (19), 2 (4), 3 (1)."
    )


def test_by_rate_spreads_evenly_and_draws_the_remainder() -> None:
    graph = toy([40, 40, 40])
    drawn = [counts(graph, by_rate(graph, 10 / 120, seed)) for seed in range(20)]
    assert {tuple(sorted(count)) for count in drawn} == {(3, 3, 4)}
    assert {count.index(4) for count in drawn} == {0, 1, 2}


def test_by_rate_counts_all_nodes_and_rounds_half_up() -> None:
    assert len(by_rate(toy([40, 40], unlabelled=20), 0.045, seed=0).train) == 5  # 4.5 of 100
    assert len(by_rate(toy([40, 40], unlabelled=20), 0.044, seed=0).train) == 4


def test_by_rate_takes_at_most_half_of_a_class_and_the_rest_from_others() -> None:
    graph = toy([5, 50, 45])
    assert counts(graph, by_rate(graph, 0.20, seed=1))[0] == 2
    assert sorted(counts(graph, by_rate(graph, 0.20, seed=1))[1:]) == [9, 9]
    with pytest.raises(SplitError, match="half of every class is 49 in all"):
        by_rate(graph, 0.6, seed=1)


def test_row_27_a_rate_too_low_for_the_classes_still_gives_one_each() -> None:
    graph = toy([30, 30, 30, 10])
    split = by_rate(graph, 0.02, seed=0)
    assert counts(graph, split) == [1, 1, 1, 1]
    assert [finding.code for finding in split.findings] == ["rate-below-classes"]
    assert "gives 2 labels for 4 classes" in split.findings[0].text
    assert by_rate(graph, 0.04, seed=0).findings == ()


def test_a_uniform_draw_is_of_all_nodes_alike_given_that_it_has_every_class() -> None:
    graph = toy([60, 30, 10])
    drawn = np.array([counts(graph, by_rate(graph, 0.1, seed, draw="uniform")) for seed in range(400)])
    assert (drawn.sum(axis=1) == 10).all()
    assert drawn.min() == 1
    # of draws of ten by chance that have every class
    random = np.random.default_rng(0).multivariate_hypergeometric([60, 30, 10], 10, 20_000)
    expected = random[(random > 0).all(axis=1)]
    np.testing.assert_allclose(drawn.mean(axis=0), expected.mean(axis=0), atol=0.25)
    np.testing.assert_allclose(drawn.std(axis=0), expected.std(axis=0), atol=0.25)
    assert by_rate(graph, 0.1, 7, draw="uniform").hash == by_rate(graph, 0.1, 7, draw="uniform").hash
    with pytest.raises(SplitError, match="None of 2,000 draws of 2 labels has all classes: the smallest has 1 nodes"):
        by_rate(toy([30_000, 1]), 0.00005, 0, draw="uniform")


@pytest.mark.parametrize("rate", [0, -0.1, 1, 1.5, float("nan")])
def test_row_30_rates_out_of_range(rate: float) -> None:
    with pytest.raises(SplitError, match="label rate"):
        by_rate(toy([5, 5]), rate, seed=0)


def test_row_30_other_numbers_out_of_range() -> None:
    with pytest.raises(SplitError, match="0 labels per class"):
        per_class(toy([5, 5]), 0, seed=0)
    with pytest.raises(SplitError, match="seed is -1"):
        per_class(toy([5, 5]), 1, seed=-1)
    with pytest.raises(SplitError, match="halve"):
        per_class(toy([30, 3]), 5, 0, small_classes="halve")  # type: ignore[arg-type]
    with pytest.raises(SplitError, match="No node of 'toy' has a label"):
        per_class(toy([0], unlabelled=3), 1, seed=0)


@settings(max_examples=60)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=6), st.floats(0.01, 0.4), st.integers(0, 2**40))
def test_any_drawn_split_is_disjoint_balanced_and_repeatable(sizes: list[int], rate: float, seed: int) -> None:
    graph = toy(sizes)
    asked = int(rate * graph.n + 0.5)
    most = [max(1, size // 2) for size in sizes]
    if asked > sum(most):
        return
    split = by_rate(graph, rate, seed)
    taken = counts(graph, split)
    assert sum(taken) == max(asked, len(sizes))
    assert all(1 <= count <= cap for count, cap in zip(taken, most, strict=True))
    free = [count for count, cap in zip(taken, most, strict=True) if count < cap]
    assert max(free, default=0) - min(free, default=0) <= 1
    assert max(taken) - min(free, default=max(taken)) <= 1  # no class has more than one beyond a class with nodes left
    assert sorted([*split.train, *split.test]) == list(range(graph.n))
    assert by_rate(graph, rate, seed).hash == split.hash


def test_fewer_labels_are_a_subset_of_more() -> None:
    graph = toy([30, 30])
    few, many = per_class(graph, 3, seed=5), per_class(graph, 9, seed=5)
    assert set(few.train) < set(many.train)


def test_every_node_of_a_class_is_drawn_about_equally_often() -> None:
    graph = toy([10, 10])
    drawn = np.bincount(np.concatenate([per_class(graph, 5, seed).train for seed in range(400)]), minlength=20)
    assert abs(drawn - 200).max() < 50  # five standard deviations


@pytest.mark.parametrize(("train", "words"), [(np.array([True, False]), "flatnonzero"), ([0.9], "whole numbers")])
def test_parts_are_positions_not_masks_or_fractions(train: Any, words: str) -> None:
    with pytest.raises(SplitError) as caught:
        Split.from_parts(toy([3, 3]), "mine", train, [], [])
    assert words in caught.value.remedy


def test_row_28_parts_that_overlap() -> None:
    none: list[int] = []
    with pytest.raises(SplitError, match="2 nodes are in both the train and the test part: 2, 3"):
        Split("toy", "mine", None, np.array([1, 2, 3]), np.array(none), np.array([3, 2, 5]))
    with pytest.raises(SplitError, match="both the train and the validation"):
        Split("toy", "mine", None, np.array([1]), np.array([1]), np.array([2]))
    with pytest.raises(SplitError, match="both the validation and the test"):
        Split("toy", "mine", None, np.array([1]), np.array([2]), np.array([2]))
    with pytest.raises(SplitError, match="train part lists nodes twice: 1"):
        Split("toy", "mine", None, np.array([1, 1]), np.array(none), np.array([2]))


def test_the_hash_distinguishes_names_and_parts() -> None:
    def hashed(*parts: list[int], name: str = "toy") -> str:
        return Split(name, "mine", None, *map(np.array, parts)).hash

    assert hashed([1, 2], [], [3]) == hashed([2, 1], [], [3])
    assert len({hashed([1, 2], [], [3]), hashed([1], [2], [3]), hashed([1], [], [2, 3]), hashed([1, 2], [3], [])}) == 4
    assert hashed([1], [], [3]) != hashed([1], [], [3], name="other")


def test_a_split_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    graph = toy([40, 9])
    split = per_class(graph, 10, seed=7, small_classes="half")
    split.save(tmp_path / "split.json")
    again = Split.load(tmp_path / "split.json", graph)
    assert again.hash == split.hash
    assert again.findings == split.findings
    assert (again.dataset, again.kind, again.seed, again.nodes) == ("toy", "per-class-10", 7, split.nodes)
    assert again.train.dtype == np.int64
    assert not again.train.flags.writeable


def test_an_altered_split_file_is_refused(tmp_path: Path) -> None:
    graph, path = toy([20, 20]), tmp_path / "split.json"
    per_class(graph, 5, seed=7).save(path)
    content = json.loads(path.read_text())
    moved = content | {"train": content["train"][1:], "test": [*content["test"], content["train"][0]]}
    path.write_text(json.dumps(moved))
    with pytest.raises(DataFileError, match="was altered"):
        Split.load(path, graph)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"hash": "x", "findings": []}', '{"hash": 1, "findings": [1]}'])
def test_a_file_that_is_no_split_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "split.json"
    path.write_text(text)
    with pytest.raises(DataFileError, match=r"split\.json is not a split file"):
        Split.load(path, toy([5, 5]))
    with pytest.raises(DataFileError, match="no split file"):
        Split.load(tmp_path / "other.json", toy([5, 5]))


def test_a_split_of_other_nodes_is_refused(tmp_path: Path) -> None:
    graph, path = toy([20, 20]), tmp_path / "split.json"
    per_class(graph, 5, seed=7).save(path)
    with pytest.raises(SplitError, match="other nodes, or in another order"):
        Split.load(path, toy([20, 20], ids=range(39, -1, -1)))
    with pytest.raises(SplitError, match="nodes that the graph does not have: 40"):
        Split.from_parts(graph, "mine", [0], [], [40])
    with pytest.raises(SplitError, match="nodes that the graph does not have: -1"):
        Split.from_parts(graph, "mine", [-1, 0])
    with pytest.raises(SplitError, match="1 nodes of the split have no label: 2"):
        Split.from_parts(toy([1, 1], unlabelled=1), "mine", [0], [], [2])


def test_rows_18_19_no_label_or_one_class() -> None:
    with pytest.raises(SplitError, match="no labelled node"):
        check_training(toy([3, 3]), [])
    with pytest.raises(SplitError, match="1 training nodes have no label: 6"):
        check_training(toy([3, 3], unlabelled=1), [0, 3, 6])
    with pytest.raises(SplitError, match="All 2 training labels are of one class, 0"):
        check_training(toy([3, 3]), [0, 1])


def test_row_25_a_component_without_label() -> None:
    graph = toy([3, 3], edges=[(0, 1), (1, 3), (2, 4)])
    (finding,) = check_training(graph, [0, 1, 3, 4])
    assert finding.code == "unreached-components"
    assert "1 components, 1 nodes" in finding.text
    assert finding.text.endswith(": 5.")


def test_sound_training_nodes_have_no_findings(cora: Dataset) -> None:
    codes = [finding.code for finding in check_training(cora.graph, cora.splits["public"].train)]
    assert codes == ["unreached-components"]  # 77 of Cora's 78 components are tiny
    assert check_training(toy([3, 3]), [0, 1, 3, 4]) == []


@pytest.mark.parametrize(
    ("share", "tested"), [(0.3, [3, 1, 0]), (0.01, [1, 1, 0]), (0.5, [5, 2, 0]), (0.99, [9, 3, 0])]
)
def test_hold_out_tests_a_share_of_each_class_and_trains_on_the_rest(share, tested):
    graph = toy([10, 4, 1])
    split = hold_out(graph, share, seed=0)
    assert np.bincount(graph.labels[split.test], minlength=3).tolist() == tested
    assert np.bincount(graph.labels[split.train], minlength=3).tolist() == [10 - tested[0], 4 - tested[1], 1]
    assert hold_out(graph, 0.5, 1).hash != hold_out(graph, 0.5, 0).hash


def test_the_draw_never_changes(cora: Dataset) -> None:
    """Stored results belong to these splits: if one of these hashes moves, every table must be made again."""
    splits = per_class(cora.graph, 20, seed=0), by_rate(cora.graph, 0.005, seed=0), cora.splits["public"]
    assert [split.hash for split in splits] == [
        "effacc5355826dc26e9f8035e0d3d3f82cdc21c47c4ee033b9f0cbbc3a8c872c",
        "e18c8966e6b331987a5e44bec68f410995f171fb64765c4d1ab4921c58b1c39d",
        "376a4753e3d8cc24dd3ec4e626ba7c683a75aa5dde2391a2f91473f284b80b20",
    ]
    assert len({per_class(cora.graph, 5, seed).hash for seed in range(20)}) == 20


@pytest.mark.parametrize(
    ("sizes", "train", "code", "words"),
    [
        ([3, 3], [0, 1, 3], "single-label-classes", "only: 1."),
        ([3, 3, 3], [0, 1, 3, 4], "unseen-classes", "probability 0: 2."),
        ([2, 2], [0, 1, 2, 3], "all-labelled", ""),
    ],
)
def test_rows_20_21_24_labels_that_are_few_missing_or_all_there_are(
    sizes: list[int], train: list[int], code: str, words: str
) -> None:
    (finding,) = check_training(toy(sizes), train)
    assert (finding.level, finding.code) == ("warning", code)
    assert finding.text.endswith(words)
