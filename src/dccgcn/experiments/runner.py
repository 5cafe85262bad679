"""Running many jobs: in processes of one thread each, one line on disk for each finished run."""

import json
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

from dccgcn.errors import DataFileError
from dccgcn.experiments.jobs import Job, execute
from dccgcn.threads import use_threads

Row = dict[str, Any]


def run_jobs(
    jobs: Iterable[Job], store: Path, processes: int, tell: Callable[[int, int, Row | None], None] | None = None
) -> dict[str, Row]:
    """Run the jobs that the store does not hold yet; rows by key. A second call continues where one was stopped."""
    wanted = {job.key(): job for job in jobs}
    rows = {key: row for key, row in read_store(store).items() if key in wanted}
    missing = sorted((job for key, job in wanted.items() if key not in rows), key=lambda job: job.dataset)
    if tell:
        tell(len(rows), len(wanted), None)
    if not missing:
        return rows
    store.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=_start_worker) as pool:
        futures = [pool.submit(execute, job) for job in missing]
        try:
            for future in as_completed(futures):
                row = future.result()
                append(store, row)
                rows[row["key"]] = row
                if tell:
                    tell(len(rows), len(wanted), row)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return rows


def _start_worker() -> None:
    """One thread, and no life after the parent: a killed run must not leave workers behind."""
    use_threads(1)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def append(store: Path, row: Row) -> None:
    """One line, on disk before the next run starts."""
    with store.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_store(store: Path) -> dict[str, Row]:
    """Finished rows by key. A last line cut short by a crash is taken off, and its job runs again."""
    if not store.exists():
        return {}
    content = store.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(store, len(whole))
    rows = {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            row = json.loads(line)
            rows[row["key"]] = row
        except (ValueError, KeyError, TypeError):
            remedy = "Delete the line; its job will be run again."
            raise DataFileError(f"{store}, line {number} is not a run.", remedy) from None
    return rows
