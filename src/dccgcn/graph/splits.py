"""Splits into training, validation and test nodes: drawn once, stored with seed and hash, shared by all methods."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dccgcn.errors import DataFileError, Finding, SplitError, check_choice
from dccgcn.graph.node_graph import NodeGraph
from dccgcn.runtime import check_regular, write_output
from dccgcn.text import first_few

PARTS = ("train", "validation", "test")
_BLOCK = 1 << 16  # ids hashed at a time
_MOST_DRAWS = 2000  # uniform ones, until every class is among them


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of the training, validation and test nodes, sorted and without overlap.

    Parameters
    ----------
    dataset : str
        Name of the graph.
    kind : str
        How the split was made, such as "public" or "per-class-20".
    seed : int or None
        Seed of a drawn split; None for a given one.
    train, validation, test : sequence of int
        Node positions, each in one part only.
    nodes : str
        Fingerprint of the graph's node ids, to detect a reordered graph.
    findings : tuple of Finding
        What was unusual about the draw.

    Raises
    ------
    SplitError
        If the parts overlap or are not lists of positions.

    Examples
    --------
    >>> from dccgcn import NodeGraph, Split
    >>> graph = NodeGraph([[1, 0], [0, 1], [1, 1]], [(0, 1), (1, 2)], ["a", "b", "a"])
    >>> Split.from_parts(graph, "mine", [0, 1], test=[2]).test.tolist()
    [2]
    """

    dataset: str
    kind: str
    seed: int | None
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    nodes: str = ""
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        for part in PARTS:
            object.__setattr__(self, part, _positions(getattr(self, part), part))
        for one, other in (("train", "test"), ("train", "validation"), ("validation", "test")):
            shared = np.intersect1d(getattr(self, one), getattr(self, other))
            if len(shared):
                raise SplitError(
                    f"{len(shared)} nodes are in both the {one} and the {other} part: {first_few(shared)}.",
                    "Put every node in one part only; otherwise the score is meaningless.",
                )

    @classmethod
    def from_parts(cls, graph: NodeGraph, kind: str, train: Any, validation: Any = (), test: Any = ()) -> "Split":
        """A split with these parts, such as a published one, checked against its graph."""
        split = cls(graph.name, kind, None, train, validation, test, fingerprint(graph))
        split.check(graph)
        return split

    @property
    def hash(self) -> str:
        """SHA-256 of the dataset's name and the three parts; it does not depend on how the split was drawn."""
        digest = hashlib.sha256(self.dataset.encode())
        for part in PARTS:
            positions = getattr(self, part)
            digest.update(f"\0{part}\0{len(positions)}\0".encode() + positions.astype("<i8").tobytes())
        return digest.hexdigest()

    def check(self, graph: NodeGraph) -> None:
        """Raise a SplitError if the graph has other nodes, or no labels for the nodes of the split."""
        if self.nodes and self.nodes != fingerprint(graph):
            raise SplitError(
                f"The split was drawn on other nodes, or in another order, than those of {graph.name!r}.",
                "Use the graph that it was drawn on, or draw it again.",
            )
        every = np.concatenate([self.train, self.validation, self.test])
        outside = every[(every < 0) | (every >= graph.n)]
        if len(outside):
            raise SplitError(
                f"The split names nodes that the graph does not have: {first_few(outside)}.", "Draw it again."
            )
        unlabelled = every[graph.labels[every] < 0]
        if len(unlabelled):
            raise SplitError(
                f"{len(unlabelled)} nodes of the split have no label: {first_few(graph.ids[unlabelled])}.",
                "Leave them out of every part.",
            )

    def to_json(self) -> str:
        """The split as JSON, with its hash."""
        content: dict[str, Any] = {"dataset": self.dataset, "kind": self.kind, "seed": self.seed}
        content |= {"hash": self.hash, "nodes": self.nodes}
        content |= {part: getattr(self, part).tolist() for part in PARTS}
        content["findings"] = [[f.level, f.code, f.text] for f in self.findings]
        return json.dumps(content, ensure_ascii=False) + "\n"

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write the split as JSON. overwrite: replace a file of a split, which is an error otherwise."""
        write_output(path, self.to_json(), overwrite)

    @classmethod
    def load(cls, path: str | Path, graph: NodeGraph) -> "Split":
        """Read a split; refused if its parts were altered or it was drawn on other nodes."""
        remedy = "Draw the split again."
        try:
            if Path(path).exists():
                check_regular(Path(path))
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            stored = str(content.pop("hash"))
            content["findings"] = tuple(Finding(*finding) for finding in content["findings"])
            split = cls(**content)
        except FileNotFoundError as error:
            raise DataFileError(f"There is no split file {path}.", remedy) from error
        except (ValueError, TypeError, KeyError, AttributeError, OSError, RecursionError) as error:
            raise DataFileError(f"{path} is not a split file ({type(error).__name__}: {error}).", remedy) from error
        if split.hash != stored:
            raise DataFileError(f"{path} was altered: its hash is {split.hash[:12]}…, not {stored[:12]}….", remedy)
        split.check(graph)
        return split


def per_class(graph: NodeGraph, k: int, seed: int, small_classes: Literal["error", "half"] = "error") -> Split:
    """Draw k training nodes of each class; all other labelled nodes are test nodes.

    Parameters
    ----------
    graph : NodeGraph
    k : int
        Training nodes of each class. For the same seed, those of a smaller k are among those of a larger.
    seed : int
        From 0 up.
    small_classes : {"error", "half"}, default "error"
        "error" refuses a class with k labelled nodes or fewer. "half" is the rule of the paper's Table 2: a class with
        fewer than 2k labelled nodes gives half of them, at least one.

    Returns
    -------
    Split

    Raises
    ------
    SplitError
        If a class is too small, or the graph has no labels.

    Examples
    --------
    >>> from dccgcn import load_dataset, per_class
    >>> split = per_class(load_dataset("cora").graph, k=5, seed=0)
    >>> len(split.train), len(split.test)
    (35, 2673)
    """
    if k < 1:
        raise SplitError(f"{k} labels per class were asked for.", "Ask for at least one.")
    check_choice("small_classes", small_classes, ("error", "half"), SplitError)
    size = _class_sizes(graph)
    take = np.where(size < 2 * k, np.maximum(size // 2, np.minimum(size, 1)), k)
    findings: tuple[Finding, ...] = ()
    if small_classes == "error":
        small = np.flatnonzero(size <= k)
        if len(small):
            raise SplitError(
                f"{k} training nodes per class leave nothing to test in {len(small)} classes (labelled nodes in "
                f"brackets): {_counted(graph, small, size)}.",
                "Ask for fewer, or take half of such classes (--small-classes half, small_classes='half').",
            )
        take = np.full(graph.c, k)
    elif (take < k).any():
        small = np.flatnonzero(take < k)
        text = f"Not {k} labels of every class train: of classes with fewer than {2 * k}, half do (in brackets)"
        findings = (Finding("warning", "small-classes", f"{text}: {_counted(graph, small, take)}."),)
    return _draw(graph, f"per-class-{k}", seed, take, findings)


def by_rate(graph: NodeGraph, rate: float, seed: int, draw: Literal["balanced", "uniform"] = "balanced") -> Split:
    """Draw round(rate · n) training nodes; all other labelled nodes are test nodes.

    Balanced draws are spread evenly over the classes: each gives at least one node and at most half of its nodes, and
    the seed decides which give one more when the number does not divide evenly. Uniform draws are of all labelled nodes
    alike, repeated until every class is among them.

    Parameters
    ----------
    graph : NodeGraph
    rate : float
        Training nodes as a share of all nodes, above 0 and below 1.
    seed : int
        From 0 up.
    draw : {"balanced", "uniform"}, default "balanced"
        Whether classes give equally many nodes, or as many as chance has it.

    Returns
    -------
    Split

    Raises
    ------
    SplitError
        If the rate asks for more than half of every class, if uniform draws miss a class again and again, or if the
        graph has no labels.

    Examples
    --------
    >>> from dccgcn import by_rate, load_dataset
    >>> len(by_rate(load_dataset("cora").graph, rate=0.01, seed=0).train)
    27
    """
    if not 0 < rate < 1:
        raise SplitError(f"The label rate is {rate}.", "It is a share of all nodes: above 0 and below 1.")
    size = _class_sizes(graph)
    most = np.maximum(size // 2, np.minimum(size, 1))
    asked = int(rate * graph.n + 0.5)
    total = max(asked, int((size > 0).sum()))
    if total > most.sum():
        raise SplitError(
            f"A label rate of {rate:g} asks for {asked} labels, but half of every class is {most.sum()} in all.",
            "Lower the rate.",
        )
    findings: tuple[Finding, ...] = ()
    if total > asked:
        text = f"A label rate of {rate:g} gives {asked} labels for {total} classes; every class got one instead."
        findings = (Finding("warning", "rate-below-classes", text),)
    if draw == "uniform":
        return _draw_uniformly(graph, f"uniform-{rate:g}", seed, total, findings)
    take = np.zeros(graph.c, dtype=np.int64)
    class_order, _ = _orders(graph, seed)
    while (left := total - take.sum()) > 0:  # one more label per round from each class that has one left
        takers = class_order[(take < most)[class_order]][:left]
        take[takers] += 1
    return _draw(graph, f"rate-{rate:g}", seed, take, findings)


def hold_out(graph: NodeGraph, share: float, seed: int) -> Split:
    """Test on this share of the labels of each class, at least one if the class has two; train on the rest."""
    if not 0 < share < 1:
        raise SplitError(f"The share to hold out is {share}.", "It is a share of the labels: above 0 and below 1.")
    size = _class_sizes(graph)
    tested = np.minimum(np.maximum((share * size + 0.5).astype(np.int64), 1), np.maximum(size - 1, 0))
    if tested.sum() == 0:
        raise SplitError(
            "Every class has a single label, so none can be held out.", "Hold out nothing, or label more nodes."
        )
    return _draw(graph, f"hold-out-{share:g}", seed, size - tested, ())


def check_training(graph: NodeGraph, train: Any) -> list[Finding]:
    """Findings about the training labels; a SplitError if no method can be trained on them."""
    train = np.asarray(train, dtype=np.int64)
    labels = graph.labels[train]
    if len(train) == 0:
        raise SplitError("There is no labelled node to learn from.", "Label at least one node of each class.")
    if (labels < 0).any():
        raise SplitError(
            f"{int((labels < 0).sum())} training nodes have no label: {first_few(graph.ids[train[labels < 0]])}.",
            "Train on labelled nodes only.",
        )
    count = np.bincount(labels, minlength=graph.c)
    if (count > 0).sum() == 1:
        raise SplitError(
            f"All {len(train)} training labels are of one class, {first_few([graph.classes[labels[0]]])}.",
            "Label nodes of at least two classes.",
        )
    found: list[tuple[str, str]] = []
    if len(single := np.flatnonzero(count == 1)):
        names = first_few([graph.classes[i] for i in single])
        found.append(("single-label-classes", f"{len(single)} classes have one training label only: {names}."))
    if len(empty := np.flatnonzero(count == 0)):
        names = first_few([graph.classes[i] for i in empty])
        found.append(("unseen-classes", f"{len(empty)} classes have no training label, so probability 0: {names}."))
    if len(np.unique(train)) == graph.n:
        found.append(("all-labelled", "Every node has a training label: there is nothing to predict."))
    unreached = ~np.isin(graph.component, graph.component[train])
    if unreached.any():
        components = len(np.unique(graph.component[unreached]))
        text = f"{components} components, {int(unreached.sum())} nodes, hold no training label, so no label"
        found.append(("unreached-components", f"{text} reaches them along edges: {first_few(graph.ids[unreached])}."))
    if (guessed := uninformed_nodes(graph, train)).any():
        text = f"{int(guessed.sum())} nodes have neither features nor a training label in their component; their"
        found.append(("unknown-nodes", f"{text} predictions are guesses: {first_few(graph.ids[guessed])}."))
    return [Finding("warning", code, text) for code, text in found]


def uninformed_nodes(graph: NodeGraph, train: np.ndarray) -> np.ndarray:
    """(n,) whether a node's component has neither a training label nor a feature."""
    informative = graph.has_features.copy()
    informative[train] = True
    return np.asarray(np.bincount(graph.component, weights=informative)[graph.component] == 0)


def fingerprint(graph: NodeGraph) -> str:
    """A short hash of the node ids in their order."""
    found = hashlib.sha256()
    for start in range(0, graph.n, _BLOCK):
        some = "\n".join(map(repr, graph.ids[start : start + _BLOCK].tolist()))
        found.update((f"\n{some}" if start else some).encode())
    return found.hexdigest()[:16]


def _draw(graph: NodeGraph, kind: str, seed: int, take: np.ndarray, findings: tuple[Finding, ...]) -> Split:
    """The first `take[c]` nodes of each class in the seed's order, so that fewer labels are a subset of more."""
    _, node_order = _orders(graph, seed)
    labels = graph.labels[node_order]
    train = np.concatenate([node_order[labels == c][: take[c]] for c in range(graph.c)])
    test = np.setdiff1d(graph.labelled, train)
    return Split(graph.name, kind, seed, train, np.empty(0, dtype=np.int64), test, fingerprint(graph), findings)


def _draw_uniformly(graph: NodeGraph, kind: str, seed: int, total: int, findings: tuple[Finding, ...]) -> Split:
    """The first draw of labelled nodes that has a node of every class."""
    bits, size = _bits(seed), _class_sizes(graph)
    for _ in range(_MOST_DRAWS):
        train = graph.labelled[np.argsort(bits.random_raw(len(graph.labelled)), kind="stable")[:total]]
        if len(np.unique(graph.labels[train])) == (size > 0).sum():
            test = np.setdiff1d(graph.labelled, train)
            return Split(graph.name, kind, seed, train, np.empty(0, dtype=np.int64), test, fingerprint(graph), findings)
    smallest = int(size[size > 0].min())
    raise SplitError(
        f"None of {_MOST_DRAWS:,} draws of {total} labels has all classes: the smallest has {smallest} nodes.",
        "Raise the rate, or draw balanced labels.",
    )


def _orders(graph: NodeGraph, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A random order of the classes and one of the nodes.

    Ranks of raw bits rather than `permutation`: NumPy promises that the bits stay the same in all
    later versions, and promises nothing of the kind for the draws made from them.
    """
    bits = _bits(seed)
    return (
        np.argsort(bits.random_raw(graph.c), kind="stable"),
        np.argsort(bits.random_raw(graph.n), kind="stable"),
    )


def _bits(seed: int) -> np.random.PCG64:
    if seed < 0:
        raise SplitError(f"The seed is {seed}.", "Seeds are whole numbers from 0 up.")
    return np.random.PCG64(seed)


def _class_sizes(graph: NodeGraph) -> np.ndarray:
    if len(graph.labelled) == 0:
        raise SplitError(f"No node of {graph.name!r} has a label, so there is nothing to split.", "Give labels.")
    return np.bincount(graph.labels[graph.labelled], minlength=graph.c)


def _counted(graph: NodeGraph, classes: np.ndarray, count: np.ndarray) -> str:
    # class names are shortened one by one so that the counts stay visible
    return ", ".join(f"{first_few([graph.classes[i]])} ({count[i]})" for i in classes[:8]) + (
        ", …" if len(classes) > 8 else ""
    )


def _positions(nodes: Any, part: str) -> np.ndarray:
    listed = np.asarray(nodes).reshape(-1)
    if listed.size and listed.dtype.kind not in "iu":
        remedy = "Pass np.flatnonzero(mask)." if listed.dtype.kind == "b" else "Pass whole numbers from 0 to n-1."
        raise SplitError(f"The {part} part is not a list of node positions, but of {listed.dtype}.", remedy)
    positions = np.sort(listed.astype(np.int64))
    repeated = np.unique(positions[1:][positions[1:] == positions[:-1]])
    if len(repeated):
        raise SplitError(f"The {part} part lists nodes twice: {first_few(repeated)}.", "List every node once.")
    positions.setflags(write=False)
    return positions


def label_folds(graph: NodeGraph, folds: int, seed: int) -> list[Split]:
    """Splits that each test on one part of the labels and train on the others; every label is tested once.

    Each class is spread evenly over the parts. A class with a single label always trains, since no method could
    predict it otherwise; a finding names such classes.
    """
    if folds < 2:
        raise SplitError(f"{folds} folds were asked for.", "Ask for at least two.")
    rng = np.random.default_rng(seed)
    part = np.full(graph.n, -1)
    single = []
    start = 0
    for k in range(graph.c):
        members = rng.permutation(np.flatnonzero(graph.labels == k))
        if len(members) == 1:
            single.append(graph.classes[k])
        else:
            part[members] = (start + np.arange(len(members))) % folds
            start += len(members)  # the next class goes on where this one ended, so that parts are equally large
    tests = [np.flatnonzero(part == fold) for fold in range(folds)]
    if any(len(test) == 0 for test in tests):
        raise SplitError(
            f"{len(graph.labelled)} labels are too few for {folds} folds.",
            "Ask for fewer (--folds), or label more nodes.",
        )
    findings: tuple[Finding, ...] = ()
    if single:
        text = f"Classes with a single label are not tested: {first_few(single)}."
        findings = (Finding("warning", "single-label-classes", text),)
    return [
        Split(
            graph.name,
            f"fold-{fold + 1}-of-{folds}",
            seed,
            np.setdiff1d(graph.labelled, test),
            np.empty(0, np.int64),
            test,
            fingerprint(graph),
            findings,
        )
        for fold, test in enumerate(tests)
    ]
