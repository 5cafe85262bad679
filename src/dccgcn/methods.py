"""The methods by name. Adding one is a file with ``fit`` and its settings, and a line here."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import yaml

from dccgcn.baselines import cagcn, e_gcn, gcn, li2018, m3s, pseudo_labels
from dccgcn.dcc import method as dcc
from dccgcn.dcc.settings import DccSettings
from dccgcn.errors import DccgcnError
from dccgcn.graph import NodeGraph
from dccgcn.outcome import Outcome
from dccgcn.settings import Settings
from dccgcn.training import Progress

# fit(graph, train, settings, seed, progress, validation) → Outcome. train are the positions of the labelled nodes. The
# labels of the validation nodes, where there are any, choose the epoch; without, the last epoch counts.
Fit = Callable[[NodeGraph, np.ndarray, Any, int, Progress | None, np.ndarray | None], Outcome]


@dataclass(frozen=True)
class Method:
    """One system, behind the signature that all of them share."""

    name: str
    summary: str
    reference: str
    settings: type[Settings]
    fit: Fit

    def published_settings(self, dataset: str, options: Mapping[str, Any] | None = None) -> Settings:
        """The settings published for a dataset (where there are any), with some options changed.

        A dataset from another source ("cora-planetoid") shares those of the first part of its name.
        """
        file = resources.files("dccgcn.experiments") / "published" / f"{self.name}.yaml"
        published = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
        return self.settings.of({**published.get(dataset.split("-")[0], {}), **(options or {})})


METHODS = {
    method.name: method
    for method in (
        Method(
            "dcc-gcn",
            "Two channels select what they agree on and repair the rest from it.",
            "Shi et al., Select and Calibrate the Low-confidence, Neurocomputing",
            DccSettings,
            dcc.fit,
        ),
        Method("gcn", "Graph convolution on the topology.", "Kipf & Welling, ICLR 2017", gcn.GcnSettings, gcn.fit),
        Method(
            "pseudo-labels",
            "GCN with 100 nodes that a GCN or DCC-GCN labelled.",
            "Lee, ICML Workshop 2013",
            pseudo_labels.PseudoLabelSettings,
            pseudo_labels.fit,
        ),
        Method(
            "self-training",
            "GCN, trained again with its most confident answers.",
            "Li et al., AAAI 2018",
            li2018.SelfTrainingSettings,
            li2018.fit_self_training,
        ),
        Method(
            "co-training",
            "GCN with labels from a random walk.",
            "Li et al., AAAI 2018",
            li2018.CoTrainingSettings,
            li2018.fit_co_training,
        ),
        Method(
            "union",
            "GCN with what self-training or co-training labels.",
            "Li et al., AAAI 2018",
            li2018.CoTrainingSettings,
            li2018.fit_union,
        ),
        Method(
            "intersection",
            "GCN with what self-training and co-training label.",
            "Li et al., AAAI 2018",
            li2018.CoTrainingSettings,
            li2018.fit_intersection,
        ),
        Method(
            "m3s",
            "Self-training in stages, checked by clusters.",
            "Sun, Lin & Zhu, AAAI 2020",
            m3s.M3sSettings,
            m3s.fit,
        ),
        Method(
            "cagcn",
            "GCN whose confidence a second GCN calibrates.",
            "Wang et al., NeurIPS 2021",
            cagcn.CagcnSettings,
            cagcn.fit,
        ),
        Method(
            "cagcn-st",
            "Self-training where calibrated confidence is high.",
            "Wang et al., NeurIPS 2021",
            cagcn.CagcnStSettings,
            cagcn.fit_st,
        ),
        Method(
            "e-gcn",
            "E-GCN (our reading): GCN and its topology, refined in turn by estimated labels.",
            "after Qin et al., Applied Intelligence 2021",
            e_gcn.EGcnSettings,
            e_gcn.fit,
        ),
    )
}


def get_method(name: str) -> Method:
    """The method of that name, or an error that lists them."""
    if name in METHODS:
        return METHODS[name]
    close = difflib.get_close_matches(name.lower(), METHODS, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise DccgcnError(f"There is no method {name!r}.{hint}", f"Choose one of: {', '.join(METHODS)}.")
