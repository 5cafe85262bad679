"""One measurement for each of many seeds, stored as soon as it is made, so that a stopped benchmark continues."""

import hashlib
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dccgcn.experiments.rows import Stored
from dccgcn.experiments.store import append, read_rows
from dccgcn.runtime.lock import lock_file


class SeedRow(Stored):
    """One measurement, by what determines it."""

    version: Literal[1] = 1
    key: str
    about: dict[str, Any]
    measured: dict[str, float]


def for_each_seed(
    measure: Callable[[int], dict[str, float]],
    seeds: range,
    about: dict[str, Any],
    store: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, np.ndarray]:
    """What was measured, by name, with a number for each seed.

    about: everything besides the seed that determines a measurement.
    store: a file of finished measurements, which are not made again.
    """
    with lock_file(store) if store else nullcontext():
        stored = read_rows(store, SeedRow, checksum_needed=True) if store else []
        rows = {row.key: row for row in stored}
        found = []
        for done, seed in enumerate(seeds):
            described = json.dumps({**about, "seed": seed}, sort_keys=True)
            key = hashlib.sha256(described.encode()).hexdigest()[:24]
            if key not in rows:
                rows[key] = SeedRow(key=key, about=json.loads(described), measured=measure(seed))
                if store:
                    append(store, rows[key])
            found.append(rows[key].measured)
            if progress:
                progress(done + 1, len(seeds))
    return {name: np.array([each[name] for each in found]) for name in found[0]}
