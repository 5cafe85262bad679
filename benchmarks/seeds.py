"""One measurement for each of many seeds, stored as soon as it is made, so that a stopped benchmark continues."""

import hashlib
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.runtime.files import lock_file
from dccgcn.workflow.runner import append, read_store


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
        rows = read_store(store) if store else {}
        measured = []
        for done, seed in enumerate(seeds):
            described = {**about, "seed": seed}
            key = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:24]
            if key not in rows:
                rows[key] = {"key": key, "about": described, "measured": measure(seed)}
                if store:
                    append(store, rows[key])
            measured.append(rows[key]["measured"])
            if progress:
                progress(done + 1, len(seeds))
    return {str(name): values.to_numpy() for name, values in pd.DataFrame(measured).items()}
