"""Jobs on a Ray cluster, whose machines have this package installed and can read the data folder."""

import os
import socket
from collections.abc import Generator

from dccgcn.datasets import FOLDER_VARIABLE
from dccgcn.errors import DccgcnError
from dccgcn.experiments.execute import attempt
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.runner import Finished, Pool
from dccgcn.runtime.threads import use_threads

_RETRIES = 5  # of a job whose worker died; a job's own errors are not retried
_PAUSE = 5.0  # seconds without a finished job after which the head is asked whether it is still there


def ray_pool(address: str) -> Pool:
    """Processes of one thread on the cluster at this address; a job whose worker dies is run by another."""
    try:
        import ray
    except ImportError:
        raise DccgcnError("Ray is not installed.", "Install it with: pip install 'dccgcn[ray]'.") from None

    def run(jobs: list[Job]) -> Generator[Finished]:
        variables = {name: os.environ[name] for name in (FOLDER_VARIABLE,) if name in os.environ}
        _check(address)
        try:
            ray.init(address, log_to_driver=False, runtime_env={"env_vars": variables}, configure_logging=False)
        except (ConnectionError, ValueError) as error:
            raise _no_cluster(address, error) from None
        try:
            remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(attempt_on_one_thread)
            pending = [remote.remote(job) for job in jobs]
            head = address if address.startswith("ray://") else ray.get_runtime_context().gcs_address
            while pending:
                done, pending = ray.wait(pending, num_returns=1, timeout=_PAUSE)
                if done:
                    yield ray.get(done[0])
                else:
                    _check_head(head)  # Ray itself waits for a lost head, then ends this process without a word
        except ray.exceptions.RayTaskError:
            raise  # an error in the job itself
        except ray.exceptions.RayError as error:
            raise DccgcnError(
                f"The Ray cluster broke down ({type(error).__name__}).", "Finished runs are kept: repeat the command."
            ) from None
        finally:
            ray.shutdown()

    return run


def _check(address: str) -> None:
    """Ray itself tries for minutes before it gives up on an address without a cluster."""
    try:
        _connect(address)
    except OSError as error:
        raise _no_cluster(address, error) from None


def _check_head(address: str) -> None:
    try:
        _connect(address)
    except OSError as error:
        raise DccgcnError(
            f"The head of the Ray cluster at {address} is lost ({error}).",
            "Finished runs are kept: start the cluster again, then repeat the command.",
        ) from None


def _connect(address: str) -> None:
    """An OSError if nothing answers at the address; names such as "auto" are not checked."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def _no_cluster(address: str, error: Exception) -> DccgcnError:
    return DccgcnError(
        f"There is no Ray cluster at {address} ({str(error).splitlines()[0]}).",
        "Start one with 'ray start --head' and give the address that it prints, or --ray auto.",
    )


def attempt_on_one_thread(job: Job) -> Finished:
    use_threads(1)
    return attempt(job)
