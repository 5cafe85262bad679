"""Running many jobs in processes of one thread each; every finished run is stored at once."""

import os
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

from dccgcn.errors import DccgcnError
from dccgcn.experiments.execute import attempt
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.rows import Failures, JobFailure, Rows, RunRow
from dccgcn.experiments.store import append, read_stores
from dccgcn.runtime.lock import lock_file
from dccgcn.runtime.process_guard import exit_with_parent
from dccgcn.runtime.threads import use_threads

Finished = RunRow | JobFailure
Pool = Callable[[list[Job]], Generator[Finished]]  # runs jobs somewhere and yields each when it is finished
OnProgress = Callable[[int, int, Finished | None], None]  # jobs done, jobs in total, the last one


def run_jobs(
    jobs: Iterable[Job],
    store: Path,
    pool: Pool,
    on_progress: OnProgress | None = None,
    *,
    others: Iterable[Path] = (),
    keep_failures: bool = False,
) -> tuple[Rows, Failures]:
    """Run the jobs that no store holds yet, in their order. A second call continues where the first was stopped.

    pool: where to run them.
    others: further stores whose runs count; they are only read.
    keep_failures: return failed jobs; otherwise the first failure is raised. Failures are never stored.
    """
    requested = {job.key(): job for job in jobs}
    failures: Failures = {}
    with lock_file(store):
        rows = {key: row for key, row in read_stores(store, others).items() if key in requested}
        remaining = [job for key, job in requested.items() if key not in rows]
        if on_progress:
            on_progress(len(rows), len(requested), None)
        if not remaining:
            return rows, failures
        with closing(pool(remaining)) as finished:
            for one in finished:
                if isinstance(one, RunRow):
                    append(store, one)
                    rows[one.key] = one
                elif keep_failures:
                    failures[one.key] = one
                else:
                    raise DccgcnError(one.reason, one.remedy)
                if on_progress:
                    on_progress(len(rows) + len(failures), len(requested), one)
    return rows, failures


def local_pool(processes: int, device: str = "cpu") -> Pool:
    """Processes of one thread each on this machine; networks train on the device, which they share."""

    def run(jobs: list[Job]) -> Generator[Finished]:
        with ProcessPoolExecutor(
            processes, get_context("spawn"), initializer=start_worker, initargs=(os.getpid(),)
        ) as pool:
            try:
                for future in as_completed([pool.submit(attempt, job, device) for job in jobs]):
                    yield future.result()
            except BrokenProcessPool:
                raise DccgcnError(
                    "A process was killed, most likely because memory ran out.",
                    "Finished runs are kept: repeat the command with fewer --jobs.",
                ) from None
            except BaseException:
                stop_now(pool)
                raise

    return run


def stop_now(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once, with the jobs that they are running."""
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()


def start_worker(parent: int) -> None:
    """Compute on one thread, and exit when the parent process ends."""
    use_threads(1)
    exit_with_parent(parent)
