"""Method: one classifier behind the signature that all of them share, and the list of all (methods.yaml).

Methods that train with torch are imported when they are asked for, so that all others work without it.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dccgcn.errors import DccgcnError, SettingsError
from dccgcn.graph import NodeGraph
from dccgcn.methods.arrays import ModelSpecs
from dccgcn.methods.prediction import Prediction
from dccgcn.methods.resources import Cost, network_cost
from dccgcn.progress import Progress
from dccgcn.runtime import missing_extra
from dccgcn.settings import Settings
from dccgcn.text import did_you_mean


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is fitted to: a graph, the nodes whose labels train it, and the seed of everything random.

    Labels of the validation nodes, if any, select the epoch; without them the last epoch counts.
    """

    graph: NodeGraph
    train: np.ndarray  # positions of labelled nodes
    seed: int = 0
    progress: Progress | None = None
    validation: np.ndarray | None = None  # positions of labelled nodes

    @property
    def labels(self) -> np.ndarray:
        """(train,) class of each training node."""
        return self.graph.labels[self.train]


Fit = Callable[[Task, Any], Prediction]  # fit(task, settings)

# predict_new(model, graph, settings) → Prediction for a graph with appended nodes, without training. The nodes of
# training come first, in their order; model is the Prediction.model of fit.
PredictNew = Callable[[Mapping[str, np.ndarray], NodeGraph, Any], Prediction]

CostOf = Callable[[NodeGraph, Any], Cost]  # cost(graph, settings): an estimate before the run

# staged(graph, settings, folder): a context with a graph whose cached values are kept in a scratch folder
Staged = Callable[[NodeGraph, Any, Path], AbstractContextManager[NodeGraph]]


@dataclass(frozen=True)
class Method:
    """Name, settings and code of one method. methods.yaml has its summary and reference."""

    name: str
    settings: type[Settings]
    fit: Fit
    predict_new: PredictNew | None = None
    model_specs: ModelSpecs | None = None  # what the arrays of Prediction.model must be, for models read from files
    cost: CostOf = network_cost
    uses_relations: bool = False  # whether several kinds of edges, and their direction, are told apart
    staged: Staged | None = None  # how a run keeps its stages in a scratch folder; None: it cannot

    def published_settings(self, dataset: str, options: Mapping[str, Any] | None = None) -> Settings:
        """The settings published for a dataset, or the defaults, with some options changed.

        A dataset from another source ("cora-planetoid") shares those of the first part of its name.
        """
        try:
            published = _published(self.name).get(dataset.split("-")[0], {})
            return self.settings.of({**published, **(options or {})})
        except SettingsError as error:
            raise SettingsError(f"{self.name}: {error.what}", error.remedy) from None


@cache
def _published(method: str) -> dict[str, dict[str, Any]]:
    """Settings by dataset, from published/METHOD.yaml if there is one."""
    file = resources.files("dccgcn.methods") / "published" / f"{method}.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}


@dataclass(frozen=True)
class MethodEntry:
    """What is known of a method before its module is imported."""

    location: str  # module in dccgcn; after a colon the name of the Method, if it is not METHOD
    summary: str
    reference: str
    extra: str | None = "torch"  # the optional dependency it needs; package and extra have the same name

    @property
    def installed(self) -> bool:
        """Whether the method can be loaded."""
        return self.extra is None or find_spec(self.extra) is not None

    def load(self) -> Method:
        """Import the method."""
        module, _, attribute = self.location.partition(":")
        method: Method = getattr(import_module(f"dccgcn.{module}"), attribute or "METHOD")
        return method


_TEXT = (resources.files("dccgcn.methods") / "methods.yaml").read_text(encoding="utf-8")
ENTRIES = {name: MethodEntry(**entry) for name, entry in yaml.safe_load(_TEXT).items()}


def get_method(name: str) -> Method:
    """The method of that name, or an error that lists them."""
    if (entry := ENTRIES.get(name)) is None:
        hint = did_you_mean(name.lower(), ENTRIES)
        raise DccgcnError(f"There is no method {name!r}.{hint}", f"Choose one of: {', '.join(ENTRIES)}.")
    if entry.extra and not entry.installed:
        raise missing_extra(entry.extra, entry.extra, needed_by=name)
    return entry.load()
