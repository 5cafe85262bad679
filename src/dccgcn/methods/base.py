"""Method: one classifier behind the signature that all of them share."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dccgcn.errors import SettingsError
from dccgcn.graph import NodeGraph
from dccgcn.methods.arrays import ModelSpecs
from dccgcn.methods.prediction import Prediction
from dccgcn.methods.resources import Cost, network_cost
from dccgcn.progress import Progress
from dccgcn.settings import Settings


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
    """Name, settings and code of one method. The registry has its summary and reference."""

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
