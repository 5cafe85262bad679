"""Method: one system, behind the signature that all of them share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import yaml

from dccgcn.errors import SettingsError
from dccgcn.graph import NodeGraph
from dccgcn.models.prediction import Prediction
from dccgcn.progress import Progress
from dccgcn.settings import Settings

# fit(graph, train, settings, seed, progress, validation) → Prediction. train are positions of labelled nodes.
# The labels of the validation nodes, where there are any, choose the epoch; without, the last epoch counts.
Fit = Callable[[NodeGraph, np.ndarray, Any, int, Progress | None, np.ndarray | None], Prediction]

# predict_new(model, graph, settings) → Prediction of a graph with appended nodes, without training. The training nodes
# come first, in their order; model is what fit left in Prediction.model.
PredictNew = Callable[[Mapping[str, np.ndarray], NodeGraph, Any], Prediction]


@dataclass(frozen=True)
class Method:
    """What can be fitted: its name, a line on it, where it was published, its settings and its code."""

    name: str
    summary: str
    reference: str
    settings: type[Settings]
    fit: Fit
    predict_new: PredictNew | None = None

    def published_settings(self, dataset: str, options: Mapping[str, Any] | None = None) -> Settings:
        """The settings published for a dataset (where there are any), with some options changed.

        A dataset from another source ("cora-planetoid") shares those of the first part of its name.
        """
        try:
            return self.settings.of({**_published(self.name).get(dataset.split("-")[0], {}), **(options or {})})
        except SettingsError as error:
            raise SettingsError(f"{self.name}: {error.what}", error.remedy) from None


@cache
def _published(method: str) -> dict[str, dict[str, Any]]:
    """Settings by dataset, from the method's file where it has one."""
    file = resources.files("dccgcn.models") / "published" / f"{method}.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
