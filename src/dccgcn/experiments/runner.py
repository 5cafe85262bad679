"""Running many jobs: in processes of one thread each, one line on disk for each finished run."""

import gzip
import json
import os
import zlib
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.experiments.jobs import Job, attempt
from dccgcn.runtime.lock import lock_file
from dccgcn.runtime.process_guard import exit_with_parent
from dccgcn.runtime.threads import use_threads

Row = dict[str, Any]
Pool = Callable[[list[Job]], Generator[Row]]  # runs jobs somewhere, and gives each row as it is finished
Tell = Callable[[int, int, Row | None], None]  # jobs done, jobs in all, the last row


def run_jobs(
    jobs: Iterable[Job],
    store: Path,
    pool: Pool | int,
    tell: Tell | None = None,
    *,
    others: Iterable[Path] = (),
    usable: Callable[[Row], bool] = lambda row: True,
    keep_failures: bool = False,
) -> dict[str, Row]:
    """Run the jobs that no store holds yet, in their order; rows by key. A second call continues where one was stopped.

    pool: where to run them; a number: that many processes here.
    others: further stores whose runs count, which are only read.
    usable: whether a stored run tells all that is wanted; if not, it is run again and the new line counts.
    keep_failures: a job that fails has a row with its "error", which is not stored; otherwise it stops everything.
    """
    wanted = {job.key(): job for job in jobs}
    pool = local_pool(pool) if isinstance(pool, int) else pool
    with lock_file(store):
        found = read_stores(store, others)
        rows = {key: row for key, row in found.items() if key in wanted and usable(row)}
        missing = [job for key, job in wanted.items() if key not in rows]
        if tell:
            tell(len(rows), len(wanted), None)
        if not missing:
            return rows
        with closing(pool(missing)) as finished:
            for row in finished:
                if "error" not in row:
                    append(store, row)
                elif not keep_failures:
                    raise DccgcnError(row["error"], row["remedy"])
                rows[row["key"]] = row
                if tell:
                    tell(len(rows), len(wanted), row)
    return rows


def local_pool(processes: int, device: str = "cpu") -> Pool:
    """Processes on this machine, of one thread each; networks train on the device, which they share."""

    def run(jobs: list[Job]) -> Generator[Row]:
        with ProcessPoolExecutor(
            processes, get_context("spawn"), initializer=_start_worker, initargs=(os.getpid(),)
        ) as pool:
            try:
                for future in as_completed([pool.submit(attempt, job, device) for job in jobs]):
                    yield future.result()
            except BrokenProcessPool:
                raise DccgcnError(
                    "A process was killed from outside, most likely for want of memory.",
                    "Finished runs are kept: repeat the command, with fewer --jobs.",
                ) from None
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    return run


def _start_worker(parent: int) -> None:
    use_threads(1)
    exit_with_parent(parent)


def append(store: Path, row: Row) -> None:
    """One line, on disk before the next run starts."""
    with store.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
        file.flush()
        os.fsync(file.fileno())


def stores_in(folder: Path) -> list[Path]:
    """All stores of a folder, packed ones first."""
    return [*sorted(folder.glob("*.jsonl.gz")), *sorted(folder.glob("*.jsonl"))]


def packed(rows: Iterable[Row]) -> bytes:
    """Runs as a packed store, the same bytes for the same runs."""
    lines = sorted(json.dumps(row) + "\n" for row in rows)
    return gzip.compress("".join(lines).encode(), mtime=0)


def read_stores(store: Path, others: Iterable[Path] = ()) -> dict[str, Row]:
    """Rows of several stores by key; those of the first one count most."""
    rows: dict[str, Row] = {}
    for other in others:
        if other != store:
            rows |= read_store(other, mend=False)
    return rows | read_store(store)


def _unpacked(store: Path, content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise DataFileError(f"{store} is not a whole packed store.", "Copy it again, or delete it.") from None


def read_store(store: Path, mend: bool = True) -> dict[str, Row]:
    """Finished rows by key, the last of equals. A last line cut short by a crash is taken off; its job runs again.

    mend: also on disk, so that the next line starts on its own; not for a store that another command may write to.
    """
    if not store.exists():
        return {}
    content = store.read_bytes()
    if store.suffix == ".gz":
        content, mend = _unpacked(store, content), False
    whole = content[: content.rfind(b"\n") + 1]
    if mend and len(whole) < len(content):
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
