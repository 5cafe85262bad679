"""Jobs on a Ray cluster, whose machines have this package installed and can read the data folder."""

import os
from collections.abc import Generator

from dccgcn.datasets import FOLDER_VARIABLE
from dccgcn.experiments.execute import attempt
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.runner import Finished, Pool
from dccgcn.runtime.ray_cluster import check_head, ray_cluster
from dccgcn.runtime.threads import use_threads

_RETRIES = 5  # of a job whose worker died; a job's own errors are not retried
_PAUSE = 5.0  # seconds without a finished job after which the head is asked whether it is still there
_KEPT = "Finished runs"


def ray_pool(address: str) -> Pool:
    """Processes of one thread on the cluster at this address; a job whose worker dies is run by another."""

    def run(jobs: list[Job]) -> Generator[Finished]:
        variables = {name: os.environ[name] for name in (FOLDER_VARIABLE,) if name in os.environ}
        with ray_cluster(address, variables, _KEPT) as (ray, head):
            remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(attempt_on_one_thread)
            pending = [remote.remote(job) for job in jobs]
            while pending:
                done, pending = ray.wait(pending, num_returns=1, timeout=_PAUSE)
                if done:
                    yield ray.get(done[0])
                else:
                    check_head(head, _KEPT)

    return run


def attempt_on_one_thread(job: Job) -> Finished:
    use_threads(1)
    return attempt(job)
