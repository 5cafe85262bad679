"""Running many jobs in processes of one thread each, and the store of finished runs: a file of one JSON line per run.

A line ends with the SHA-256 of the rest of it, as a last field of the object.
"""

import hashlib
import json
import os
import re
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

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.graph import NodeGraph
from dccgcn.runtime import exit_with_parent, lock_file, use_threads, write_errors
from dccgcn.workflow.jobs import Job, provide, run_job

Row = dict[str, Any]  # one run: its key, the fields of its job, and what was measured
Rows = dict[str, Row]  # by key


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
    """Run a job: its accuracy and macro-F1, those of the largest and the smallest class, and its time."""
    run = run_job(job)
    balance = vars(run.balance) if run.balance else {}
    accuracy = {"accuracy": run.accuracy, "macro_f1": run.macro_f1}
    return {**accuracy, **balance, "seconds": run.seconds, "threads": run.threads}


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


VERSION = 3  # of the format; rows of version 1 and 2 had other fields and other keys
_START = b'{"version":'  # of every line
_CHECKSUM = re.compile(rb',"sha256":"([0-9a-f]{64})"}$')
_REMEDY = "Delete the line; its job will be run again."


def append(store: Path, row: Row) -> None:
    """Add a row and wait until it is on disk. What a full disk leaves of it is removed by the next call."""
    line = json.dumps({"version": VERSION, **row}, ensure_ascii=False, separators=(",", ":"))
    remedy = "Free some space and repeat the command: finished runs are kept."
    with write_errors(store, remedy), store.open("a", encoding="utf-8") as file:
        file.write(with_checksum(line) + "\n")
        file.flush()
        os.fsync(file.fileno())


def with_checksum(line: str) -> str:
    """A line of JSON with its own SHA-256 as the last field.

    >>> with_checksum('{"a":1}')[:24]
    '{"a":1,"sha256":"015abd7'
    """
    return f'{line[:-1]},"sha256":"{hashlib.sha256(line.encode()).hexdigest()}"}}'


def read_store(store: Path, repair: bool = True) -> Rows:
    """Finished runs by key; the last line of equal keys wins.

    An incomplete last line, left by a crash, is ignored; its job runs again.

    repair: also remove that line from the file, so that the next one can be appended. Leave it off for a store that
    another process may be writing to.
    """
    if not store.exists():
        return {}
    content = store.read_bytes()
    complete = content[: content.rfind(b"\n") + 1]
    rows = {}
    for number, line in enumerate(complete.splitlines(), 1):
        try:
            row = _parse_row(line)
            rows[str(row["key"])] = row
        except DataFileError as error:
            raise DataFileError(f"{store}, line {number}: {error.what}", error.remedy) from None
        except (ValueError, KeyError):
            raise DataFileError(f"{store}, line {number} is not a run.", _REMEDY) from None
    if repair and len(complete) < len(content):
        if not content.startswith(_START, len(complete)) and not _START.startswith(content[len(complete) :]):
            raise DataFileError(f"{store} ends in a line that is not a run.", "Choose another folder for the runs.")
        os.truncate(store, len(complete))
    return rows


def _parse_row(line: bytes) -> Row:
    """A line as a row; altered lines and those of other versions are refused."""
    checksum = _CHECKSUM.search(line)
    if checksum:
        line = line[: checksum.start()] + b"}"
        if hashlib.sha256(line).hexdigest().encode() != checksum[1]:
            raise DataFileError("the line was altered: its checksum does not fit.", _REMEDY)
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError
    version = row.pop("version", 1)
    if version != VERSION:
        raise DataFileError(
            f"the run is stored in format {repr(version)[:20]}, and this version of dccgcn reads format {VERSION}.",
            "Move the file out of the folder; its jobs will be run again.",
        )
    if not checksum:
        raise DataFileError("the line was altered: it has no checksum.", _REMEDY)
    return row
