"""A tiny version of an experiment: the embedded Cora, few epochs, few splits. It shows that everything runs."""

from dataclasses import replace
from typing import Any

from dccgcn.experiments.experiment import Experiment, Line
from dccgcn.models.registry import get_method

_RUNS, _MAPPED = 2, 200
_TINY = {
    "epochs": 2, "calibration_epochs": 2, "most_epochs": 2, "stages": 1, "rounds": 1, "hidden1": 16, "hidden2": 8,
    "n_rounds": 1, "clusters": 10, "samples": 1, "alpha_after": 1, "steps": 2, "blocks": 2,
}  # fmt: skip


def tiny(e: Experiment) -> Experiment:
    """One column, all lines. Columns that share a draw become one and the same, so their runs are shared."""
    first = next((column for column in e.columns if not column.edges), None)
    if first is None:
        return e
    amount = first.amount if first.draw != "rate" else 0.005
    column = replace(first, dataset="cora", amount=amount, splits=_RUNS, options={}, fewer=None, without=None)
    at = e.columns.index(first)
    lines = tuple(replace(_tiny(line), paper={m: (v[at],) for m, v in line.paper.items()}) for line in e.lines)
    return replace(
        e,
        title=f"{e.title} (smoke run, no result)",
        columns=(column,),
        lines=lines,
        runs=min(e.runs, _RUNS),
        pictures=min(e.pictures, _MAPPED),
    )


def _tiny(line: Line) -> Line:
    if line.system is None:
        return line
    settings = get_method(line.system.method).settings
    options: dict[str, Any] = {name: value for name, value in _TINY.items() if name in settings.model_fields}
    if "dcc" in settings.model_fields:  # pseudo-labels hold the settings of DCC-GCN
        options["dcc"] = {name: _TINY[name] for name in ("epochs", "hidden1", "hidden2")}
    return replace(line, system=replace(line.system, options={**options, **line.system.options}))
