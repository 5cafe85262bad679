"""Spec: one experiment as data, columns × systems × splits, read from YAML, and its jobs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import yaml

from dccgcn.methods.base import get_method
from paper.measure import PaperJob

Kind = Literal[
    "table", "curves", "map", "surface", "theorems", "confidence", "overview", "choices", "published", "concord"
]
PAPER = (
    "table2", "table3", "table4", "table5", "table6", "table7",
    "figure4", "figure5", "figure6", "figure7", "theorems", "confidence",
)  # fmt: skip
SPECS = Path(__file__).parent / "specs"
OTHERS = ("overview", "choices", "systems", "concord", "many-labels")


@dataclass(frozen=True)
class Column:
    """A dataset with a number of labels."""

    dataset: str
    draw: str  # as in Job
    amount: float
    splits: int  # available to this experiment; those beyond Spec.runs are for paired differences
    options: Mapping[str, Any] = field(default_factory=dict)  # of every system in this column
    edges_dataset: str = ""  # replaces the dataset for systems that use edges only, where features are not available
    max_runs: Mapping[str, int] = field(default_factory=dict)  # by method, where it is slow
    excluded: Mapping[str, str] = field(default_factory=dict)  # methods that are not run here, and why

    @property
    def is_drawn(self) -> bool:
        """Whether each run has its own split; on a published split runs differ in their seeds only."""
        return self.draw in ("rate", "share") or self.draw.startswith("per-class")

    @property
    def labels(self) -> str:
        """How many training labels there are.

        >>> Column("pubmed", "rate", 0.0003, 1).labels, Column("acm", "per-class", 20, 1).labels
        ('0.03 %', '20 per class')
        """
        if self.draw == "rate":
            return f"{100 * self.amount:g} %"
        if self.draw == "share":
            return f"{100 * self.amount:g} % of each class"
        return f"{self.amount:g} per class" if self.draw.startswith("per-class") else self.draw

    def __str__(self) -> str:
        return f"{self.dataset}, {self.labels}"


@dataclass(frozen=True)
class System:
    """A method with its options: one row of a table, or one curve."""

    name: str
    method: str | None  # None: cannot be run
    options: Mapping[str, Any] = field(default_factory=dict)  # that differ from the published settings
    published: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)  # in %, by metric, one per column
    group: Literal["paper", "extra", "ablation"] = "paper"
    subject: bool = False  # compared with the best other system on further splits
    edges_only: bool = False  # uses no features
    max_runs: int | None = None
    reason: str = ""  # why it cannot be run
    reads: Mapping[str, str] = field(default_factory=dict)  # field of a row to read instead of the metric's own
    tolerance: float = 0.0  # in points, to count the published value as reproduced
    note: str = ""


@dataclass(frozen=True)
class Spec:
    """Every system on the same splits of every column, so that all differences are paired."""

    name: str  # "table3"
    kind: Kind
    columns: tuple[Column, ...]
    systems: tuple[System, ...]
    runs: int  # behind each mean, at most
    title: str = ""
    claim: str = ""  # the paper's
    intro: str = ""  # replaces the standard description of the protocol
    reading: str = ""  # interpretation of the results
    metrics: Mapping[str, str] = field(default_factory=lambda: {"accuracy": "ACC"})  # field of a row: displayed name
    page: str = ""  # file name without ending, if not the spec's own name
    first_seed: int = 0
    map_nodes: int = 0  # number of nodes on a map of each run's embeddings

    def of_group(self, group: str) -> tuple[System, ...]:
        return tuple(system for system in self.systems if system.group == group)

    def system(self, name: str) -> System:
        return next(system for system in self.systems if system.name == name)

    def job(self, system: System, column: Column, nth: int) -> PaperJob | None:
        """The nth run; None where the system cannot be run."""
        if system.method is None or system.method in column.excluded:
            return None
        if self.kind == "published" and self.published(system, column) is None:
            return None
        dataset = column.edges_dataset if system.edges_only and column.edges_dataset else column.dataset
        seed = self.first_seed + nth
        options = {**column.options, **system.options}
        return PaperJob(
            dataset, column.draw, column.amount, seed, system.method, seed, options, map_nodes=self.map_nodes
        )

    def published(self, system: System, column: Column, metric: str = "accuracy") -> float | None:
        """The published value in %, if there is one."""
        values = system.published.get(metric)
        return values[self.columns.index(column)] if values else None

    def n_runs(self, system: System, column: Column) -> int:
        """How many runs this cell's mean is based on."""
        if system.method is None:
            return 0
        limits = (column.splits, system.max_runs, column.max_runs.get(system.method))
        return min(self.runs, *(limit for limit in limits if limit is not None))

    @cached_property
    def keys(self) -> dict[tuple[str, int, int], str]:
        """Key of each run by system name, column number and split number, for all splits of the column."""
        return {
            (system.name, c, nth): job.key()
            for system in self.systems
            for c, column in enumerate(self.columns)
            for nth in range(column.splits)
            if (job := self.job(system, column, nth))
        }

    def jobs_of_split(self, nth: int) -> Iterator[PaperJob]:
        """The nth run of every cell that has so many."""
        for column in self.columns:
            for system in self.systems:
                job = self.job(system, column, nth)
                if job and nth < self.n_runs(system, column):
                    yield job


def jobs_of(specs: Sequence[Spec], splits: int) -> list[PaperJob]:
    """The jobs behind all means: the first split of every cell, then the second, so that early tables are usable."""
    most = max((spec.runs for spec in specs), default=0)
    return [job for nth in range(min(splits, most)) for spec in specs for job in spec.jobs_of_split(nth)]


def read_spec(name: str) -> Spec:
    """An experiment of the folder of specs."""
    return parse_spec(name, yaml.safe_load((SPECS / f"{name}.yaml").read_text(encoding="utf-8")))


def parse_spec(name: str, content: dict[str, Any]) -> Spec:
    """A spec from the content of its YAML file.

    `systems` are those of the paper, `extra` further ones, `ablation` those of Concord's page; `common` holds
    what all systems share; names under `shared` are only YAML anchors.
    """
    content = {key: value for key, value in content.items() if key != "shared"}
    columns = tuple(column for item in content.pop("columns", ()) for column in _columns(item))
    metrics = content.get("metrics", {"accuracy": "ACC"})
    common, ablation_splits = content.pop("common", {}), content.pop("ablation_splits", None)
    groups = {"paper": "systems", "extra": "extra", "ablation": "ablation"}
    systems = []
    for group, key in groups.items():
        shared = {**common, "group": group}
        if group == "ablation":
            shared |= {"max_runs": ablation_splits, "method": "concord"}
        systems += [parse_system(item, metrics, columns, shared) for item in content.pop(key, ())]
    texts = {key: content.pop(key).strip() for key in ("claim", "intro", "reading") if key in content}
    return Spec(name, columns=columns, systems=tuple(systems), **{"runs": 0, **content}, **texts)


def _columns(item: Mapping[str, Any]) -> list[Column]:
    """One for each amount, if several are given."""
    amounts = item["amount"] if isinstance(item["amount"], list) else [item["amount"]]
    return [Column(**{**item, "amount": amount}) for amount in amounts]


def parse_system(
    item: str | Mapping[str, Any], metrics: Mapping[str, str], columns: Sequence[Column], shared: Mapping[str, Any]
) -> System:
    """A system from a method's name, or from its fields and, by metric, its published values.

    Values are a list for the first columns, or a mapping from "dataset, labels".
    """
    content: dict[str, Any] = {**shared, **({"method": item} if isinstance(item, str) else item)}
    method = content.pop("method", None)
    options = content.pop("options", {})
    published = {metric: _values(content.pop(metric), columns) for metric in metrics if metric in content}
    return System(
        name=content.pop("name", "") or described(options) or method,
        method=get_method(method).name if method else None,
        options={**shared.get("options", {}), **options},
        published=published,
        **content,
    )


def _values(item: Sequence[float] | Mapping[str, float], columns: Sequence[Column]) -> tuple[float | None, ...]:
    if isinstance(item, Mapping):
        return tuple(item.get(str(column)) for column in columns)
    return (*item, *[None] * (len(columns) - len(item)))


def described(options: Mapping[str, Any]) -> str:
    """Options as text.

    >>> described({"m": 1, "share_mu": False})
    'm = 1, share_mu = false'
    """
    return ", ".join(f"{name} = {shown(value)}" for name, value in options.items())


def shown(value: object) -> str:
    """A setting as it is written in YAML."""
    return str(value).lower() if isinstance(value, bool) else str(value)
