"""Concord on row blocks that processes of a Ray cluster hold.

The driver scales the features, finds the feature graph and writes both, with the matrices of the graph, to the scratch
folder, which all machines can read. Each worker maps these files, reads the rows of its block, and runs the functions
of ``views`` and ``method`` on them: sums over rows and rows of other blocks come from ``runtime.row_blocks``. Views,
channels and predictions are stages, kept in the scratch folder block by block.
"""

import errno
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from dccgcn.cluster.ray_cluster import RayWorkers, check_head, ray_cluster
from dccgcn.cluster.ray_peers import Hub, RayPeers, Traffic, limit_memory
from dccgcn.concord import (
    STORED,
    TOPOLOGY,
    ConcordSettings,
    Labels,
    Layout,
    Projections,
    ViewInputs,
    build_channels,
    fit_findings,
    layout_of,
    make_source,
    make_views,
    predict_rows,
    relative_prior,
    stack,
    to_arrays,
    view_specs,
)
from dccgcn.errors import DccgcnError, Finding, SettingsError
from dccgcn.features import Operator, as_it_is, scarcity
from dccgcn.graph import NodeGraph, uninformed_nodes
from dccgcn.kernels import row_block
from dccgcn.methods import Fit, Prediction, Task
from dccgcn.progress import Progress
from dccgcn.runtime import (
    Peers,
    Stages,
    block_bounds,
    damage_findings,
    digest_of,
    format_bytes,
    spread_over,
    stages_of,
    use_threads,
)

_RESTARTS = 50  # of a worker that dies
_PAUSE = 1.0  # seconds between two looks at the head and the finished stages
_PATIENCE = 10.0  # seconds for an answer about them
_KEPT = "Finished stages"
_INPUTS = ("concord", "row blocks")  # the stage of the driver
_PREDICTION = "prediction"  # the last stage of a worker
_ROWS = ("probabilities", "channels", "channels_agree", "uncorrected", "embeddings", "trust")  # of a Prediction
_CLASSES = {**STORED, "Prediction": Prediction}


@dataclass(frozen=True, eq=False)
class BlockJob:
    """What every worker is told; all that is large it reads from the folder."""

    folder: Path
    bounds: np.ndarray
    settings: ConcordSettings
    layout: Layout
    labels: Labels
    seed: int
    prior: np.ndarray | None
    memory: int | None  # bytes that a worker may allocate

    @property
    def labels_id(self) -> str:
        """A hash of what channels and predictions depend on beside the graph."""
        return digest_of(self.labels.nodes, self.labels.targets, self.seed, self.prior)

    def stages(self, rank: int) -> Stages:
        """The results of one block."""
        return Stages(self.folder, _CLASSES, f"block {rank} of {self.bounds.tolist()}")


def fit_on_ray(workers: RayWorkers, measured: list[Traffic] | None = None) -> Fit:
    """The ``fit`` of a cluster. ``measured``, if given, receives what each worker did in each stage."""

    def fit(task: Task, settings: ConcordSettings) -> Prediction:
        graph, train = task.graph, task.train
        if (stages := stages_of(graph.cache)) is None or stages.folder is None:
            raise SettingsError(
                "A fit on Ray needs a folder that all of its machines can read.", "Name it: --scratch FOLDER."
            )
        labels = Labels.of(train, task.labels, graph.c)
        findings = write_inputs(graph, settings, task.progress)
        with ray_cluster(workers.address, {}, _KEPT) as (ray, head):
            count = _worker_count(workers, int(ray.cluster_resources().get("CPU", 0)))
            prior = relative_prior(graph.classes, settings.class_prior) if settings.class_prior else None
            bounds = block_bounds(graph.n, count)
            layout = layout_of(graph)
            job = BlockJob(stages.folder, bounds, settings, layout, labels, task.seed, prior, workers.memory)
            graph.cached(("uninformed", job.labels_id), lambda: uninformed_nodes(graph, train))
            n_stages = len(view_specs(settings, graph.n, layout)) + 2 + len(layout.channel_names(settings, graph.n))
            traffic, damaged = _run_workers(ray, head, job, n_stages, task.progress)
        if measured is not None:
            measured.extend(traffic)
        prediction = gather(job)
        found = (*findings, *damage_findings(damaged), *prediction.findings, _note(job, traffic))
        return replace(prediction, findings=found)

    return fit


def write_inputs(graph: NodeGraph, settings: ConcordSettings, progress: Progress | None = None) -> list[Finding]:
    """Keep what the views are made from in the scratch folder of the graph; returns findings about it."""

    def once(key: Any, build: Callable[[], Any]) -> Any:
        return graph.cached(("concord", key), build)

    source, by = make_source(graph, settings, None, once, progress)

    def inputs() -> dict[str, Any]:
        return {
            "x": dict(source.x),
            "operators": dict(source.operators),
            "means": dict(source.means),
            "mean_of_all": source.mean_of_all(),
            "log_sizes": source.log_sizes(),
            "component_sizes": {r: source.component_sizes(r) for r in source.operators if r.endswith(TOPOLOGY)},
            "feature_mean": source.feature_mean,
            "idf": by.idf,
            "numeric": by.numeric,
        }

    graph.cached(_INPUTS, inputs)
    return [finding for operator in source.operators.values() for finding in operator.findings]


class BlockWorker:
    """An actor that computes one block."""

    def fit(self, job: BlockJob, rank: int, hub: Any) -> list[str]:
        use_threads(1)
        if job.memory:
            limit_memory(job.memory)
        return fit_block(job, RayPeers(hub, rank, job.bounds))


class StagedPeers(Peers, Protocol):
    """Peers that agree on which stages are finished."""

    def in_stage(self, stage: str, has_result: bool, build: Callable[[], None], read: Callable[[], Any]) -> Any:
        """``read()`` after ``build()``, or at once if all processes have the result of this stage."""


def fit_block(job: BlockJob, peers: StagedPeers) -> list[str]:
    """All stages of one block; the last one keeps its predictions. The stages that were damaged and made again."""
    stages = job.stages(peers.rank)

    def once(key: Any, build: Callable[[], Any]) -> Any:
        def keep() -> None:
            value = build()
            if key not in stages:  # of an earlier run whose other blocks are missing: the same value
                stages[key] = value

        return peers.in_stage(repr(key), key in stages, keep, lambda: stages.read(key))

    def once_for_labels(key: Any, build: Callable[[], Any]) -> Any:
        return once((key, job.labels_id), build)

    with spread_over(peers):
        source, by, uninformed = _read_inputs(job, peers)
        views = make_views(source, job.settings, job.layout, by, False, once)
        channels = build_channels(views, scarcity(job.labels.per_class, job.settings.scarcity_scale), job.settings)
        state = stack(channels, job.labels, job.settings, job.seed, once=once_for_labels)

        def predict() -> Prediction:
            prediction = predict_rows(state, views, job.settings, job.prior, uninformed)
            model = to_arrays(views.projections, state)
            return replace(prediction, model=model, findings=tuple(fit_findings(state, job.settings)))

        once_for_labels(_PREDICTION, predict)
    return stages.damaged


def _read_inputs(job: BlockJob, peers: Peers) -> tuple[ViewInputs, Projections, np.ndarray]:
    """The rows of one block: what views are made from, and which nodes nothing is known about."""
    shared = Stages(job.folder, _CLASSES, read_only=True)
    read: dict[str, Any] = shared.read(_INPUTS)
    rows = slice(int(job.bounds[peers.rank]), int(job.bounds[peers.rank + 1]))

    def block(matrix: sp.csr_array) -> sp.csr_array:
        return row_block(matrix, peers)

    operators = {
        name: Operator(block(found.adjacency), block(found.matrix)) for name, found in read["operators"].items()
    }
    mean_of_all, log_sizes = block(read["mean_of_all"]), np.array(read["log_sizes"][rows])
    component_sizes = {name: np.array(sizes[rows]) for name, sizes in read["component_sizes"].items()}
    source = ViewInputs(
        x={name: x[rows].copy() for name, x in read["x"].items()},
        operators=operators,
        means={name: block(matrix) for name, matrix in read["means"].items()},
        mean_of_all=lambda: mean_of_all,
        log_sizes=lambda: log_sizes,
        component_sizes=component_sizes.__getitem__,
        feature_mean=block(read["feature_mean"]),
        empty=partial(np.empty, dtype=np.float32),
        kept=as_it_is,
    )
    uninformed = np.array(shared.read(("uninformed", job.labels_id))[rows])
    return source, Projections({}, read["idf"], read["numeric"]), uninformed


def _worker_count(workers: RayWorkers, cpus: int) -> int:
    if (count := workers.count or cpus) > cpus:
        raise DccgcnError(
            f"{count} workers were asked for, and the Ray cluster has {cpus} CPUs.",
            "Ask for fewer workers, or add machines: ray start --address ….",
        )
    return count


def _run_workers(
    ray: Any, head: str, job: BlockJob, n_stages: int, progress: Progress | None
) -> tuple[list[Traffic], list[str]]:
    """Start a worker for each block and wait for all; Ray starts those again that die. Returns damaged stages too."""
    n_blocks = len(job.bounds) - 1
    hub = ray.remote(num_cpus=0)(Hub).remote(n_blocks)
    worker = ray.remote(num_cpus=1, max_restarts=_RESTARTS, max_task_retries=_RESTARTS, scheduling_strategy="SPREAD")(
        BlockWorker
    )
    told, actors = ray.put(job), [worker.remote() for _ in range(n_blocks)]  # actors live as long as their handles
    pending = [actor.fit.remote(told, rank, hub) for rank, actor in enumerate(actors)]
    damaged: list[str] = []
    try:
        while pending:
            done, pending = ray.wait(pending, num_returns=1, timeout=_PAUSE)
            damaged += chain.from_iterable(ray.get(done))
            if not done:
                check_head(head, _KEPT)
                if progress:
                    with suppress(ray.exceptions.GetTimeoutError):  # perhaps the head is lost
                        finished = len({one.stage for one in ray.get(hub.traffic.remote(), timeout=_PATIENCE)})
                        progress("stages", min(finished, n_stages), n_stages)
        traffic: list[Traffic] = ray.get(hub.traffic.remote())
        return traffic, damaged
    except (ray.exceptions.RayTaskError, ray.exceptions.ActorDiedError) as error:
        check_head(head, _KEPT)
        cause = getattr(error, "cause", None)
        if isinstance(cause, DccgcnError):
            raise cause from None
        if cause is not None and not _is_out_of_memory(cause):
            raise
        raise DccgcnError(
            f"A worker of {n_blocks} ran out of memory, or died {_RESTARTS} times ({type(error).__name__}).",
            f"{_KEPT} are kept: use more workers, or more memory for each.",
        ) from None


def _is_out_of_memory(error: BaseException) -> bool:
    """Also where a file cannot be mapped for lack of memory."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def gather(job: BlockJob) -> Prediction:
    """The predictions of all blocks, which are rows; what all blocks have in common is taken from the first."""
    key = (_PREDICTION, job.labels_id)
    blocks = [job.stages(rank).read(key) for rank in range(len(job.bounds) - 1)]

    def together(parts: list[Any]) -> Any:
        if isinstance(parts[0], dict):
            return {name: together([part[name] for part in parts]) for name in parts[0]}
        return np.concatenate(parts)

    rows = {name: together([getattr(block, name) for block in blocks]) for name in _ROWS}
    names = [
        spec.name for spec in view_specs(job.settings, int(job.bounds[-1]), job.layout) if spec.kind == "structure"
    ]
    of_nodes = {f"components.{name}" for name in names}
    model = {
        name: np.concatenate([block.model[name] for block in blocks]) if name in of_nodes else np.array(array)
        for name, array in blocks[0].model.items()
    }
    return replace(blocks[0], **rows, model=model)


def _note(job: BlockJob, traffic: list[Traffic]) -> Finding:
    by_rank = [sum(one.received_bytes for one in traffic if one.rank == rank) for rank in range(len(job.bounds) - 1)]
    text = f"{len(by_rank)} workers on Ray; each received at most {format_bytes(max(by_rank))} from the others."
    return Finding("note", "ray", text)
