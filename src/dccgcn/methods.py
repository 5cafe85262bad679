"""The methods by name. Adding one is a file with ``fit`` and its settings, and a line here."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import yaml

from dccgcn.baselines import (
    agnn,
    am_gcn,
    appnp,
    cagcn,
    confgcn,
    dagnn,
    dgcn,
    e_gcn,
    gat,
    gcn,
    glp,
    grand,
    knn_gcn,
    krylov,
    li2018,
    lp,
    m3s,
    mlp,
    poisson,
    pseudo_labels,
    sgc,
    ssgc,
)
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

# extend(model, graph, settings) → Outcome. Answers for a graph that has grown, without training: the nodes that were
# there at training come first, in their order, and model is what fit left in Outcome.model.
Extend = Callable[[Mapping[str, np.ndarray], NodeGraph, Any], Outcome]


@dataclass(frozen=True)
class Method:
    """One system, behind the signature that all of them share."""

    name: str
    summary: str
    reference: str
    settings: type[Settings]
    fit: Fit
    extend: Extend | None = None

    def published_settings(self, dataset: str, options: Mapping[str, Any] | None = None) -> Settings:
        """The settings published for a dataset (where there are any), with some options changed.

        A dataset from another source ("cora-planetoid") shares those of the first part of its name.
        """
        return self.settings.of({**_published(self.name).get(dataset.split("-")[0], {}), **(options or {})})


@cache
def _published(method: str) -> dict[str, dict[str, Any]]:
    """Settings by dataset, from the method's file where it has one."""
    file = resources.files("dccgcn.experiments") / "published" / f"{method}.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}


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
            "lp",
            "Labels spread along the edges until they stop moving; labelled nodes keep theirs.",
            "Zhu, Ghahramani & Lafferty, ICML 2003",
            lp.LpSettings,
            lp.fit,
        ),
        Method(
            "lp-absorption",
            "The class of the labelled node that absorbs most of a node's random walks.",
            "Wu et al., NIPS 2012; Li et al., AAAI 2018",
            lp.AbsorptionSettings,
            lp.fit_absorption,
        ),
        Method(
            "lp-series",
            "Labels spread by a truncated series of the normalised adjacency.",
            "Li et al., CVPR 2019",
            lp.SeriesSettings,
            lp.fit_series,
        ),
        Method("sgc", "Softmax regression on S^K X.", "Wu et al., ICML 2019", sgc.SgcSettings, sgc.fit, sgc.extend),
        Method(
            "ssgc",
            "Softmax regression on the mean of S^k X.",
            "Zhu & Koniusz, ICLR 2021",
            ssgc.SsgcSettings,
            ssgc.fit,
            ssgc.extend,
        ),
        Method("glp", "A perceptron on low-pass features.", "Li et al., CVPR 2019", glp.GlpSettings, glp.fit),
        Method(
            "poisson",
            "Labels as sources and sinks of a potential on the graph.",
            "Calder et al., ICML 2020",
            poisson.PoissonSettings,
            poisson.fit,
        ),
        Method("mlp", "The features alone, GCN without edges.", "Kipf & Welling, ICLR 2017", mlp.MlpSettings, mlp.fit),
        Method(
            "knn-gcn",
            "GCN on the kNN graph of the features.",
            "Wang et al., AM-GCN, KDD 2020",
            knn_gcn.KnnGcnSettings,
            knn_gcn.fit,
        ),
        Method("gat", "Attention over the neighbours.", "Veličković et al., ICLR 2018", gat.GatSettings, gat.fit),
        Method(
            "agnn",
            "Attention by cosine, one weight per layer.",
            "Thekumparampil et al., arXiv 1803.03735, 2018",
            agnn.AgnnSettings,
            agnn.fit,
        ),
        Method(
            "appnp",
            "Predict, then spread the predictions by PageRank.",
            "Gasteiger et al., ICLR 2019",
            appnp.AppnpSettings,
            appnp.fit,
        ),
        Method(
            "dagnn",
            "Each node weighs how far away it looks.",
            "Liu et al., KDD 2020",
            dagnn.DagnnSettings,
            dagnn.fit,
        ),
        Method(
            "krylov",
            "One wide layer on the features at many distances.",
            "Luan et al., NeurIPS 2019",
            krylov.KrylovSettings,
            krylov.fit,
        ),
        Method(
            "grand",
            "Answers must agree when nodes are dropped at random.",
            "Feng et al., NeurIPS 2020",
            grand.GrandSettings,
            grand.fit,
        ),
        Method(
            "dgcn",
            "One GCN on the topology and on random-walk co-occurrence, made to agree.",
            "Zhuang & Ma, WWW 2018",
            dgcn.DgcnSettings,
            dgcn.fit,
        ),
        Method(
            "confgcn",
            "GCN that weighs neighbours by learned label distributions and their certainty.",
            "Vashishth et al., AISTATS 2019",
            confgcn.ConfGcnSettings,
            confgcn.fit,
        ),
        Method(
            "am-gcn",
            "Attention over specific and common embeddings of topology and feature graph.",
            "Wang et al., KDD 2020",
            am_gcn.AmGcnSettings,
            am_gcn.fit,
        ),
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
