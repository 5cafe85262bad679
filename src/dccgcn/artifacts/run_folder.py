"""A run's folder: predictions.csv, settings.yaml, split.json, the model and result.json."""

import json
from pathlib import Path

from dccgcn.artifacts.model_io import DESCRIPTION, model_files
from dccgcn.io.tables import Tables
from dccgcn.runtime.files import write_atomically
from dccgcn.runtime.lock import locked
from dccgcn.workflow.run import Run, run_csv

RESULT = "result.json"
_DERIVED = ("report.html", "report.json")  # made from a run by other commands


def save_run(run: Run, folder: str | Path, tables: Tables | None = None) -> None:
    """Write all files of a run, each one completely or not at all.

    tables: how the nodes were read, so that ``load_model`` can read new nodes in the same way.
    """
    folder = Path(folder)
    again = f"dccgcn fit … --method {run.method} --seed {run.seed} --settings settings.yaml --split split.json"
    files = {
        "predictions.csv": run_csv(run),
        "settings.yaml": f"# {again}\n{run.settings.to_yaml()}",
        "split.json": run.split.to_json(),
        **model_files(run, tables),
        RESULT: json.dumps(run.summary(), indent=2) + "\n",
    }
    with locked(folder):
        # Remove first what marks the old run and model as complete, so that a crash never leaves a mixture of both.
        for name in (*_DERIVED, RESULT, DESCRIPTION):
            (folder / name).unlink(missing_ok=True)
        for name, content in files.items():
            write_atomically(folder / name, content)
