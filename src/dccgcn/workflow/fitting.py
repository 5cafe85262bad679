"""run: fit a method on a graph, and measure the predictions on the test nodes of a split."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from dccgcn.cluster import RayWorkers
from dccgcn.errors import DccgcnError, Finding, SettingsError
from dccgcn.graph import NodeGraph, Split, check_training, splits
from dccgcn.methods import Method, Prediction, Task, check_memory, get_method, restore_class_columns
from dccgcn.progress import Progress
from dccgcn.runtime import damage_findings, default_device, stages_of, threads_of_run
from dccgcn.settings import Settings
from dccgcn.tables import MASKS_NOT_USED, Tables, from_pyg, has_masks, is_pyg, split_from_pyg
from dccgcn.text import first_few
from dccgcn.workflow.notebook_bar import notebook_bar
from dccgcn.workflow.result import Result
from dccgcn.workflow.suspect_labels import suspect_findings


def run(
    graph: NodeGraph | Tables,
    split: Split | None = None,
    method: Method | str = "concord",
    settings: Settings | Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    device: str = "cpu",
    scratch: str | Path | None = None,
    ray: str | RayWorkers | None = None,
    hold_out: float | None = None,
) -> Result:
    """Classify the nodes of a graph, and measure the predictions on the test nodes of a split.

    Parameters
    ----------
    graph : NodeGraph, Tables, PyG Data or HeteroData
        With labels on some nodes. ``read_tables`` gives Tables. Of a PyG object the masks are the split; ``from_pyg``
        says how a HeteroData is read.
    split : Split, optional
        Training and test nodes. Omitted: every labelled node trains, and nothing is measured; use this to classify
        a graph of your own.
    method : str or Method
        See ``dccgcn methods``.
    settings : Settings or mapping, optional
        Options of the method, such as ``{"k": 10}``. Those that are not given are the ones published for a graph of
        this name, or else the defaults.
    seed : int
        Of everything random in training; 0 or larger.
    progress : callable, optional
        Called with (stage, steps done, steps in all). Omitted: in a notebook, a bar shows them after two seconds.
    device : str
        A torch device, such as ``"cuda"``. Methods that solve in NumPy and SciPy stay on the CPU.
    scratch : path, optional
        A folder for large graphs, in which Concord keeps its operators and views, memory-mapped. A run that was killed
        continues from its last finished stage when it is repeated. The folder is emptied at the end.
    ray : str or RayWorkers, optional
        Address of a Ray cluster on whose CPUs Concord's views, channels and predictions are computed, block of rows by
        block; ``"auto"`` is the one on this machine. Its machines must share the folder of ``scratch``.
    hold_out : float, optional
        In place of a split: the share of the labels, such as 0.2, to test on instead of training.

    Returns
    -------
    Result

    Examples
    --------
    >>> import numpy as np
    >>> from dccgcn import NodeGraph, run
    >>> graph = NodeGraph(np.eye(4) + 0.1, [(0, 1), (2, 3)], ["a", None, "b", None])
    >>> run(graph).to_frame()["prediction"].tolist()
    ['a', 'a', 'b', 'b']
    """
    tables = graph if isinstance(graph, Tables) else None
    if tables is not None:
        graph = tables.graph
    elif is_pyg(graph):
        data, graph = graph, from_pyg(graph)
        if split is None and hold_out is None and has_masks(data):
            split = split_from_pyg(data, graph)
            graph = graph.with_findings([finding for finding in graph.findings if finding.code != MASKS_NOT_USED])
    if not isinstance(graph, NodeGraph):
        remedy = "Build one: NodeGraph(features, edges, labels), dccgcn.read_tables, from_networkx or from_igraph."
        raise DccgcnError(f"run takes a NodeGraph, not a {type(graph).__name__}.", remedy)
    if split is not None and not isinstance(split, Split):
        remedy = "Draw one with per_class or by_rate, or build one from node positions: Split.from_parts."
        raise DccgcnError(f"The split is a {type(split).__name__}, not a Split.", remedy)
    method = get_method(method) if isinstance(method, str) else method
    if not isinstance(settings, Settings):
        settings = method.published_settings(graph.name, settings)
    if split is not None and hold_out is not None:
        raise DccgcnError("A split and hold_out exclude one another.", "Leave hold_out out: the split has test nodes.")
    split = split if hold_out is None else splits.hold_out(graph, hold_out, seed)
    split = Split.from_parts(graph, "all-labels", graph.labelled, [], []) if split is None else split
    split.check(graph)
    check_training(graph, split.train)
    if seed < 0:
        raise DccgcnError(f"The seed is {seed}.", "Seeds are whole numbers from 0 up.")
    if ray is not None:
        from dccgcn.cluster import fit_on_ray

        if method.name != "concord":
            raise SettingsError(f"{method.name} runs on one machine only.", "Leave ray out, or use concord.")
        method = replace(method, fit=fit_on_ray(RayWorkers(ray) if isinstance(ray, str) else ray))
    with staged_graph(graph, method, settings, scratch) as kept, notebook_bar() as bar:
        done = fit_and_measure(kept, split, method, settings, seed, progress=progress or bar, device=device)
    return replace(done, tables=tables)


def staged_graph(
    graph: NodeGraph, method: Method, settings: Settings, scratch: str | Path | None
) -> AbstractContextManager[NodeGraph]:
    """The graph as it is, or with its cached values in a scratch folder."""
    if scratch is None:
        return nullcontext(graph)
    if method.staged is None:
        raise SettingsError(f"{method.name} keeps nothing in a scratch folder.", "Leave scratch out, or use concord.")
    return method.staged(graph, settings, Path(scratch))


def fit_and_measure(
    graph: NodeGraph,
    split: Split,
    method: Method,
    settings: Settings,
    seed: int,
    *,
    progress: Progress | None = None,
    device: str = "cpu",
) -> Result:
    """Fit a method on the training nodes of a split, and measure it on the test nodes."""
    memory = check_memory(method.cost(graph, settings))
    start = perf_counter()
    with default_device(device), threads_of_run() as threads:
        prediction = _fit_seen_classes(graph, split, method, settings, seed, progress=progress)
    seconds = perf_counter() - start
    suspects = suspect_findings(graph, split.train, prediction)
    damaged = damage_findings(stages.damaged) if (stages := stages_of(graph.cache)) else ()
    merged = () if method.uses_relations else _merged_relations(graph, method.name)
    findings = (*memory, *damaged, *merged, *prediction.findings, *suspects)
    prediction = replace(prediction, findings=findings)
    return Result(graph, split, method.name, settings, seed, prediction, seconds, threads, device)


def _merged_relations(graph: NodeGraph, method: str) -> tuple[Finding, ...]:
    """A note if a method does not tell the relations of the graph apart."""
    if not graph.relations:
        return ()
    text = f"{method} takes the relations {first_few(list(graph.relations))} as edges of one kind without direction"
    return (Finding("note", "merged-relations", f"{text}; concord tells them apart."),)


def _fit_seen_classes(
    graph: NodeGraph, split: Split, method: Method, settings: Settings, seed: int, *, progress: Progress | None
) -> Prediction:
    """Fit on the classes with training labels only; all others get probability 0."""
    seen = np.unique(graph.labels[split.train])
    known = graph if len(seen) == graph.c else graph.with_classes(seen)
    validation = split.validation[known.labels[split.validation] >= 0]
    task = Task(known, split.train, seed, progress, validation if len(validation) else None)
    prediction = method.fit(task, settings)
    return prediction if known is graph else restore_class_columns(prediction, seen, graph.c)
