"""Concord on Ray workers of this machine: speed-up, bytes moved, and from these a cost model of larger clusters."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from math import exp
from pathlib import Path
from typing import Any

import numpy as np

from dccgcn.cluster.fit import fit_on_ray
from dccgcn.cluster.ray_cluster import RayWorkers
from dccgcn.cluster.ray_peers import Traffic
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.graph.splits import per_class
from dccgcn.methods.base import get_method
from dccgcn.runtime.row_blocks import block_bounds
from dccgcn.workflow.fitting import run

_STORE_BYTES = 200 << 20  # of the object store of a cluster that the benchmark starts
_FACTS = {"cores": 64, "bytes_per_second": 25e9 / 8}  # of a machine of the cost model: 64 cores, 25 Gbit/s
_CLUSTERS = ((10**8, 16), (10**9, 64), (10**9, 160))  # nodes, machines
_PARTITIONED = 0.05  # share of the edge ends that lead to another block, in a well partitioned graph


def bench_ray(nodes: int, workers: Sequence[int], edges_per_node: int, features: int) -> list[dict[str, Any]]:
    """Fit a synthetic graph with each number of workers, on a Ray cluster that is started here and ended.

    seconds: of the stages, by the slowest worker of each; speed_up: against the first number of workers; halo_share:
    rows of other blocks that a block needs, over its own rows; received_mb: by the worker that receives most;
    bytes_per_halo_row: received in the whole fit, over the halo rows of the edges; stages: seconds, steps and received
    MB of each, of the worker with most.
    """
    graph = synthetic_graph(nodes, edges_per_node * nodes, features)
    split = per_class(graph, 20, seed=0)
    measured: list[dict[str, Any]] = []
    with _cluster(max(workers)) as address, tempfile.TemporaryDirectory() as folder:
        for count in workers:
            traffic: list[Traffic] = []
            method = replace(get_method("concord"), fit=fit_on_ray(RayWorkers(address, count), measured=traffic))
            run(graph, split, method, scratch=Path(folder))
            bounds = block_bounds(graph.n, count)
            measured.append(_summary(graph.adjacency, bounds, len(graph.edges), traffic, measured))
    return measured


def cost_model(measured: dict[str, Any], edges_per_node: int) -> list[dict[str, Any]]:
    """Bytes and seconds of a fit on larger clusters, one worker per core.

    With blocks of n/P nodes of degree k a block needs n (1 - 1/P) (1 - exp(-k/P)) rows of others if edges lead
    anywhere, and at most a share c of k n/P if a partitioning leaves that share of the edge ends between blocks.
    """
    k = 2 * edges_per_node
    rows: list[dict[str, Any]] = []
    cpu = measured["seconds"] * measured["workers"] / measured["nodes"]  # per node, with what exchanges cost here
    for n, machines in _CLUSTERS:
        p = machines * _FACTS["cores"]
        halos = {"random": n * (1 - 1 / p) * (1 - exp(-k / p)), "partitioned": _PARTITIONED * k * n / p}
        for kind, halo in halos.items():
            received = halo * measured["bytes_per_halo_row"] * _FACTS["cores"]  # of a machine
            rows.append(
                {
                    "nodes": n,
                    "edges": edges_per_node * n,
                    "machines": machines,
                    "graph": kind,
                    "halo_share": halo * p / n,
                    "received_gb_per_machine": received / 1e9,
                    "network_s": received / _FACTS["bytes_per_second"],
                    "compute_s": cpu * n / p,
                }
            )
    return rows


def halo_rows(adjacency: Any, bounds: np.ndarray) -> list[int]:
    """Rows of other blocks that each block needs."""
    found = []
    for low, high in pairwise(bounds):
        columns = np.unique(adjacency.indices[adjacency.indptr[low] : adjacency.indptr[high]])
        found.append(int(((columns < low) | (columns >= high)).sum()))
    return found


def _summary(
    adjacency: Any, bounds: np.ndarray, edges: int, traffic: list[Traffic], before: list[dict[str, Any]]
) -> dict[str, Any]:
    n_blocks, n = len(bounds) - 1, int(bounds[-1])
    received = [sum(one.received_bytes for one in traffic if one.rank == rank) for rank in range(n_blocks)]
    stages: dict[str, dict[str, float]] = {}
    for one in traffic:
        kept = stages.setdefault(_short(one.stage), {"seconds": 0.0, "steps": 0, "received_mb": 0.0})
        for name, value in (("seconds", one.seconds), ("steps", one.steps), ("received_mb", one.received_bytes / 1e6)):
            kept[name] = max(kept[name], value)
    seconds, steps = sum(kept["seconds"] for kept in stages.values()), int(sum(k["steps"] for k in stages.values()))
    halo = halo_rows(adjacency, bounds)
    return dict(
        workers=n_blocks,
        nodes=n,
        edges=edges,
        seconds=seconds,
        speed_up=before[0]["seconds"] / seconds if before else 1.0,
        halo_share=float(np.mean(halo) * n_blocks / n),
        steps=steps,
        received_mb=max(received) / 1e6,
        kb_per_step=max(received) / 1e3 / max(steps, 1),
        bytes_per_halo_row=sum(received) / max(sum(halo), 1),
        stages=stages,
    )


def _short(stage: str) -> str:
    """view own, channel labels, prediction, …"""
    if stage.startswith("ViewSpec"):
        return f"view {stage.split(chr(39))[1]}"
    return (
        f"channel {stage.split(chr(39))[3]}" if "'channel'" in stage else "prediction" if "'pred" in stage else "refit"
    )


@contextmanager
def _cluster(cpus: int) -> Iterator[str]:
    from ray.cluster_utils import Cluster  # slow to import

    arguments = {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": _STORE_BYTES}
    started = Cluster(initialize_head=True, head_node_args=arguments)
    try:
        yield started.address
    finally:
        started.shutdown()
