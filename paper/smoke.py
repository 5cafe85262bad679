"""A tiny version of an experiment: the embedded Cora, few epochs, two splits. It shows that everything runs."""

from dataclasses import replace
from typing import Any

from dccgcn.methods.base import get_method
from paper.spec import Spec, System

_RUNS, _MAP_NODES = 2, 200
_TINY = {
    "epochs": 2, "calibration_epochs": 2, "most_epochs": 2, "stages": 1, "rounds": 1, "n_rounds": 1, "hidden1": 16,
    "hidden2": 8, "clusters": 10, "samples": 1, "alpha_after": 1, "steps": 2, "blocks": 2,
}  # fmt: skip


def tiny(spec: Spec) -> Spec:
    """One column, all systems. Columns with the same kind of split become equal, so their runs are shared."""
    first = next((column for column in spec.columns if not column.edges_dataset), None)
    if first is None:
        return spec
    amount = first.amount if first.draw != "rate" else 0.005
    column = replace(first, dataset="cora", amount=amount, splits=_RUNS, options={}, max_runs={}, excluded={})
    at = spec.columns.index(first)
    return replace(
        spec,
        title=f"{spec.title} (smoke run, no result)",
        columns=(column,),
        systems=tuple(_tiny(system, at) for system in spec.systems),
        runs=min(spec.runs, _RUNS),
        map_nodes=min(spec.map_nodes, _MAP_NODES),
    )


def _tiny(system: System, at: int) -> System:
    published = {metric: (values[at],) for metric, values in system.published.items()}
    if system.method is None:
        return replace(system, published=published)
    fields = get_method(system.method).settings.model_fields
    options: dict[str, Any] = {name: value for name, value in _TINY.items() if name in fields}
    if "dcc" in fields:  # pseudo-labels hold the settings of DCC-GCN
        options["dcc"] = {name: _TINY[name] for name in ("epochs", "hidden1", "hidden2")}
    return replace(system, published=published, options={**options, **system.options})
