"""A command that is started to be killed, and the same without a kill, to know when its work is done."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dccgcn.runtime.files import LOCK, is_temporary
from helpers.command import dccgcn

DCCGCN = [sys.executable, "-m", "dccgcn"]


@dataclass(frozen=True)
class Timing:
    """Of a run without a kill, in seconds after its first progress output."""

    first_file: float
    end: float


class Attempt:
    """A running command, and what it has done so far."""

    def __init__(self, command: list[str], folder: Path, look: Callable[[], object]) -> None:
        self.look, self.before = look, look()
        self.shown = folder / "shown"
        with self.shown.open("wb") as shown:  # colour forces a progress bar, the first output
            environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"}
            self.process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=shown
            )

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait for the condition, or for the end of the command."""
        while not condition() and not self.has_ended():
            time.sleep(0.0005)

    def has_begun(self) -> bool:
        return self.shown.stat().st_size > 0

    def has_written(self) -> bool:
        return self.look() != self.before

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> str:
        """Send kill -9 and return the stage in which the command was."""
        ended = self.has_ended()
        assert not ended or self.process.returncode == 0, self.shown.read_text()
        self.process.kill()
        self.process.wait()
        return "after the end" if ended else "in the middle" if self.has_written() else "before the first file"


def time_without_kill(command: list[str], folder: Path, look: Callable[[], object]) -> Timing:
    """How long a run takes that is not killed."""
    attempt, moments = Attempt(command, folder, look), []
    for condition in (attempt.has_begun, attempt.has_written, attempt.has_ended):
        attempt.wait_until(condition)
        moments.append(time.monotonic())
    assert attempt.process.returncode == 0, attempt.shown.read_text()
    return Timing(moments[1] - moments[0], moments[2] - moments[0])


def run_command(*arguments: object) -> None:
    done = dccgcn(*arguments)
    assert done.returncode == 0, done.stderr


def listed(out: Path) -> list[tuple[str, int]]:
    """Names and modification times of the files of a folder, without its lock and unfinished ones."""
    try:
        entries = [entry for entry in os.scandir(out) if entry.name != LOCK and not is_temporary(entry.name)]
        return sorted((entry.name, entry.stat().st_mtime_ns) for entry in entries)
    except FileNotFoundError:  # no folder yet, or a file was removed meanwhile
        return []
