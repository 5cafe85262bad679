"""The same jobs on a real Ray cluster of two workers, one of which is killed in the middle."""

import os
import signal
import subprocess
import time

import pytest

from dccgcn.errors import DccgcnError
from dccgcn.experiments.execute import execute
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.ray_pool import ray_pool
from dccgcn.experiments.runner import run_jobs
from dccgcn.experiments.store import read_store

pytest.importorskip("ray", reason="Ray is not installed; pip install 'dccgcn[ray]'")

JOBS = [Job("cora", "rate", 0.005, seed, "gcn", seed) for seed in range(4)]


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    yield started
    started.shutdown()


def busy_workers(cluster):
    """Process ids of this cluster's workers that run a job."""
    raylet = cluster.head_node.all_processes["raylet"][0].process.pid
    listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(raylet)], capture_output=True, text=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "ray::attempt" in line]


def test_a_killed_workers_job_is_run_by_another(cluster, tmp_path, one_thread):
    killed, done_at = [], []

    def on_progress(done, total, row):
        done_at.append(done)
        for _ in range(200 if row and not killed else 0):
            if found := busy_workers(cluster):
                os.kill(found[0], signal.SIGKILL)
                killed.append(found[0])
                break
            time.sleep(0.01)

    rows, _ = run_jobs(JOBS, tmp_path / "runs.jsonl", ray_pool(cluster.address), on_progress)
    assert done_at == list(range(5))  # every job once
    assert read_store(tmp_path / "runs.jsonl") == rows
    assert all(row.threads == 1 for row in rows.values())
    if not killed:
        pytest.skip("every worker was done before one could be killed")
    here = execute(JOBS[0])
    same = {"seconds": 0, "threads": 1}  # in this process other tests may have left another number of threads
    assert here.model_copy(update=same) == rows[JOBS[0].key()].model_copy(update=same)


def test_an_address_without_a_cluster_is_refused_with_a_remedy(tmp_path):
    with pytest.raises(DccgcnError, match="ray start"):
        run_jobs(JOBS, tmp_path / "runs.jsonl", ray_pool("127.0.0.1:1"))
