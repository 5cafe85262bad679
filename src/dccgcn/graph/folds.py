"""Folds of the labels of a graph, for comparing methods where there is no separate test set."""

import numpy as np

from dccgcn.errors import Finding, SplitError
from dccgcn.graph.node_graph import NodeGraph
from dccgcn.graph.splits import Split, fingerprint
from dccgcn.text import first_few


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
