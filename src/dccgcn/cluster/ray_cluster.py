"""A connection to a Ray cluster, whose machines have this package installed."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dccgcn.errors import DccgcnError
from dccgcn.runtime import missing_extra


@dataclass(frozen=True)
class RayWorkers:
    """Processes of one thread each on a Ray cluster.

    Parameters
    ----------
    address : str
        Of the cluster, or "auto" for the one that runs on this machine.
    count : int, optional
        How many; omitted: one for each CPU of the cluster.
    memory : int, optional
        Bytes that each may allocate beyond those of an idle worker.
    """

    address: str
    count: int | None = None
    memory: int | None = None


@contextmanager
def ray_cluster(address: str, variables: Mapping[str, str], kept: str) -> Iterator[tuple[Any, str]]:
    """Ray, connected inside the block, and the address of its head. ``kept``: what a broken run leaves, for errors.

    ``variables`` are set in the environment of the workers.
    """
    try:
        import ray
    except ImportError:
        raise missing_extra("Ray", "ray") from None
    try:
        _connect(address)  # Ray itself tries for minutes before it gives up on an address without a cluster
        ray.init(address, log_to_driver=False, runtime_env={"env_vars": dict(variables)}, configure_logging=False)
    except (OSError, ValueError) as error:  # OSError: also ConnectionError
        raise DccgcnError(
            f"There is no Ray cluster at {address} ({str(error).splitlines()[0]}).",
            "Start one with 'ray start --head' and give the address that it prints, or --ray auto.",
        ) from None
    try:
        yield ray, address if address.startswith("ray://") else ray.get_runtime_context().gcs_address
    except ray.exceptions.RayTaskError:
        raise  # an error in the work itself
    except ray.exceptions.RayError as error:
        raise DccgcnError(
            f"The Ray cluster broke down ({type(error).__name__}).", f"{kept} are kept: repeat the command."
        ) from None
    finally:
        ray.shutdown()


def check_head(address: str, kept: str) -> None:
    """Raise an error if the head does not answer. Ray itself waits, then ends this process without a word."""
    try:
        _connect(address)
    except OSError as error:
        raise DccgcnError(
            f"The head of the Ray cluster at {address} is lost ({error}).",
            f"{kept} are kept: start the cluster again, then repeat the command.",
        ) from None


def _connect(address: str) -> None:
    """An OSError if nothing answers at the address; names such as "auto" are not checked."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()
