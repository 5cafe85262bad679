"""Running many jobs in processes of one thread each; every finished run is stored at once."""

import os
import signal
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from dccgcn.errors import DccgcnError
from dccgcn.graph import NodeGraph
from dccgcn.runtime import exit_with_parent, lock_file, use_threads
from dccgcn.workflow.jobs import Job, provide, run_job
from dccgcn.workflow.run_store import Row, Rows, append, read_store


@dataclass(frozen=True)
class JobFailure:
    """A job that could not run for a reason that the user can change."""

    key: str
    job: Job
    reason: str
    remedy: str


Failures = dict[str, JobFailure]  # by key
Measure = Callable[[Job], Mapping[str, Any]]  # runs a job; what is stored of it
Finished = Row | JobFailure
OnProgress = Callable[[int, int, Finished | None], None]  # jobs done, jobs in total, the last one


def scores(job: Job) -> dict[str, Any]:
    """Run a job: its accuracy, its macro-F1 and its time."""
    run = run_job(job)
    return {"accuracy": run.accuracy, "macro_f1": run.macro_f1, "seconds": run.seconds, "threads": run.threads}


def run_jobs(
    jobs: Iterable[Job],
    store: Path,
    processes: int,
    measure: Measure = scores,
    on_progress: OnProgress | None = None,
    *,
    graphs: Mapping[str, NodeGraph] | None = None,
    keep_failures: bool = False,
) -> tuple[Rows, Failures]:
    """Run the jobs that no store holds yet, in their order. A second call continues where the first was stopped.

    processes: of one thread each; 1: this process, with the threads that it has.
    graphs: those of jobs on graphs that are no benchmark graphs, by their content.
    keep_failures: return failed jobs; otherwise the first failure is raised. Failures are never stored.
    """
    requested = {job.key(): job for job in jobs}
    failures: Failures = {}
    with lock_file(store):
        rows = {key: row for key, row in read_store(store).items() if key in requested}
        remaining = [job for key, job in requested.items() if key not in rows]
        if on_progress:
            on_progress(len(rows), len(requested), None)
        if not remaining:
            return rows, failures
        with closing(_run(remaining, processes, measure, graphs or {})) as finished:
            for one in finished:
                if not isinstance(one, JobFailure):
                    append(store, one)
                    rows[one["key"]] = one
                elif keep_failures:
                    failures[one.key] = one
                else:
                    raise DccgcnError(one.reason, one.remedy)
                if on_progress:
                    on_progress(len(rows) + len(failures), len(requested), one)
    return rows, failures


def attempt(job: Job, measure: Measure = scores) -> Finished:
    """Run a job; a user error is returned, so that it does not stop the other jobs."""
    try:
        return {"key": job.key(), **asdict(job), "settings": job.settings_hash(), **measure(job)}
    except DccgcnError as error:
        return JobFailure(job.key(), job, error.what, error.remedy)


def _run(jobs: list[Job], processes: int, measure: Measure, graphs: Mapping[str, NodeGraph]) -> Generator[Finished]:
    """Each job as soon as it is finished."""
    if processes == 1:
        provide(graphs)
        for job in jobs:
            yield attempt(job, measure)
        return
    start = partial(start_worker, os.getpid(), dict(graphs))
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=start) as pool:
        try:
            for future in as_completed([pool.submit(attempt, job, measure) for job in jobs]):
                yield future.result()
        except BrokenProcessPool:
            raise DccgcnError(
                "A process was killed, most likely because memory ran out.",
                "Finished runs are kept: repeat the command with fewer --jobs.",
            ) from None
        except BaseException:
            stop_now(pool)
            raise


def stop_now(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once, with the jobs that they are running."""
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()


def start_worker(parent: int, graphs: Mapping[str, NodeGraph] | None = None) -> None:
    """Compute on one thread, and exit when the parent process ends; Ctrl-C is for the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    use_threads(1)
    provide(graphs or {})
    exit_with_parent(parent)
