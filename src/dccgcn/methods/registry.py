"""All methods by name. A new one needs a file that defines it and an entry here.

Methods that train with torch are imported when they are asked for, so that all others work without it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from dccgcn.errors import DccgcnError
from dccgcn.methods.base import Method as Method
from dccgcn.runtime.extras import missing_extra
from dccgcn.text import did_you_mean


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


ENTRIES = {
    "concord": MethodEntry(
        "concord.method",
        "Linear classifiers on nine views of the nodes, weighted by held-out labels, with calibrated trust.",
        "this project; docs/concord.md",
        extra=None,
    ),
    "dcc-gcn": MethodEntry(
        "networks.dcc.method",
        "Two GCNs; nodes on which they disagree are calibrated from those on which they agree.",
        "Shi et al., Select and Calibrate the Low-confidence, Neurocomputing",
    ),
    "gcn": MethodEntry(
        "networks.baselines.gcn",
        "Graph convolution on the topology.",
        "Kipf & Welling, ICLR 2017",
    ),
    "lp": MethodEntry(
        "networks.baselines.lp",
        "Labels propagate along the edges until convergence; labelled nodes keep theirs.",
        "Zhu, Ghahramani & Lafferty, ICML 2003",
        extra=None,
    ),
    "lp-absorption": MethodEntry(
        "networks.baselines.lp:ABSORPTION",
        "The class of the labelled node with the largest absorption probability.",
        "Wu et al., NIPS 2012; Li et al., AAAI 2018",
        extra=None,
    ),
    "lp-series": MethodEntry(
        "networks.baselines.lp:SERIES",
        "Labels propagate by a truncated series of the normalised adjacency.",
        "Li et al., CVPR 2019",
        extra=None,
    ),
    "sgc": MethodEntry(
        "networks.baselines.sgc",
        "Softmax regression on S^K X.",
        "Wu et al., ICML 2019",
    ),
    "ssgc": MethodEntry(
        "networks.baselines.ssgc",
        "Softmax regression on the mean of S^k X.",
        "Zhu & Koniusz, ICLR 2021",
    ),
    "glp": MethodEntry(
        "networks.baselines.glp",
        "An MLP on low-pass filtered features.",
        "Li et al., CVPR 2019",
    ),
    "poisson": MethodEntry(
        "networks.baselines.poisson",
        "Solves a Poisson equation on the graph with labels as sources.",
        "Calder et al., ICML 2020",
        extra=None,
    ),
    "mlp": MethodEntry(
        "networks.baselines.mlp",
        "Features only: GCN without edges.",
        "Kipf & Welling, ICLR 2017",
    ),
    "logreg": MethodEntry(
        "networks.baselines.logreg",
        "Logistic regression on the features, without edges.",
        "Pedregosa et al., JMLR 2011",
        extra=None,
    ),
    "logreg-hops": MethodEntry(
        "networks.baselines.logreg:HOPS",
        "Logistic regression on own, neighbours' and two-hop features.",
        "Pedregosa et al., JMLR 2011; Frasca et al. 2020 (SIGN)",
        extra=None,
    ),
    "boosting-hops": MethodEntry(
        "networks.baselines.boosting",
        "Gradient boosting on own, neighbours' and two-hop features; for many labels.",
        "Friedman 2001; Ke et al., NIPS 2017 (histograms)",
        extra=None,
    ),
    "graphany": MethodEntry(
        "networks.baselines.graphany",
        "The mean of least-squares classifiers on own, neighbours' and two-hop features.",
        "Zhao et al., ICLR 2025",
        extra=None,
    ),
    "knn-gcn": MethodEntry(
        "networks.baselines.knn_gcn",
        "GCN on the kNN graph of the features.",
        "Wang et al., AM-GCN, KDD 2020",
    ),
    "gat": MethodEntry(
        "networks.baselines.gat",
        "Attention over the neighbours.",
        "Veličković et al., ICLR 2018",
    ),
    "agnn": MethodEntry(
        "networks.baselines.agnn",
        "Attention by cosine similarity, one parameter per layer.",
        "Thekumparampil et al., arXiv 1803.03735, 2018",
    ),
    "appnp": MethodEntry(
        "networks.baselines.appnp",
        "An MLP whose predictions propagate by personalised PageRank.",
        "Gasteiger et al., ICLR 2019",
    ),
    "dagnn": MethodEntry(
        "networks.baselines.dagnn",
        "An MLP and its propagated outputs, weighted by each node.",
        "Liu et al., KDD 2020",
    ),
    "krylov": MethodEntry(
        "networks.baselines.krylov",
        "One wide layer on the features at many propagation steps.",
        "Luan et al., NeurIPS 2019",
    ),
    "grand": MethodEntry(
        "networks.baselines.grand",
        "Predictions made consistent over random drops of nodes.",
        "Feng et al., NeurIPS 2020",
    ),
    "dgcn": MethodEntry(
        "networks.baselines.dgcn",
        "One GCN on the topology and on random-walk co-occurrence, made to agree.",
        "Zhuang & Ma, WWW 2018",
    ),
    "confgcn": MethodEntry(
        "networks.baselines.confgcn",
        "GCN with edges weighted by learned label distributions and their certainty.",
        "Vashishth et al., AISTATS 2019",
    ),
    "am-gcn": MethodEntry(
        "networks.baselines.am_gcn",
        "Attention over specific and common embeddings of topology and feature graph.",
        "Wang et al., KDD 2020",
    ),
    "d2pt": MethodEntry(
        "networks.baselines.d2pt",
        "A perceptron on features propagated over the topology and over their own kNN graph.",
        "Liu et al., KDD 2023",
    ),
    "iceberg": MethodEntry(
        "networks.baselines.iceberg",
        "A perceptron on propagated features, trained on labels and balanced pseudo-labels.",
        "Li et al., WWW 2025",
    ),
    "pseudo-labels": MethodEntry(
        "networks.baselines.pseudo_labels",
        "GCN with 100 pseudo-labels of a GCN or of DCC-GCN.",
        "Lee, ICML Workshop 2013",
    ),
    "self-training": MethodEntry(
        "networks.baselines.li2018:SELF_TRAINING",
        "GCN, trained again on its most confident predictions.",
        "Li et al., AAAI 2018",
    ),
    "co-training": MethodEntry(
        "networks.baselines.li2018:CO_TRAINING",
        "GCN with pseudo-labels from a random walk.",
        "Li et al., AAAI 2018",
    ),
    "union": MethodEntry(
        "networks.baselines.li2018:UNION",
        "GCN with the pseudo-labels of self-training or co-training.",
        "Li et al., AAAI 2018",
    ),
    "intersection": MethodEntry(
        "networks.baselines.li2018:INTERSECTION",
        "GCN with the pseudo-labels of self- and co-training.",
        "Li et al., AAAI 2018",
    ),
    "m3s": MethodEntry(
        "networks.baselines.m3s",
        "Self-training in stages, checked by clusters.",
        "Sun, Lin & Zhu, AAAI 2020",
    ),
    "cagcn": MethodEntry(
        "networks.baselines.cagcn",
        "GCN whose confidence a second GCN calibrates.",
        "Wang et al., NeurIPS 2021",
    ),
    "cagcn-st": MethodEntry(
        "networks.baselines.cagcn_st",
        "Self-training where calibrated confidence is high.",
        "Wang et al., NeurIPS 2021",
    ),
    "e-gcn": MethodEntry(
        "networks.baselines.e_gcn",
        "E-GCN (our reading): GCN and its topology, refined in turn by estimated labels.",
        "after Qin et al., Applied Intelligence 2021",
    ),
}


class _Methods(Mapping[str, Method]):
    """ENTRIES with each method loaded when it is read."""

    def __getitem__(self, name: str) -> Method:
        entry = ENTRIES[name]
        if entry.extra and not entry.installed:
            raise missing_extra(entry.extra, entry.extra, needed_by=name)
        return entry.load()

    def __iter__(self) -> Iterator[str]:
        return iter(ENTRIES)

    def __len__(self) -> int:
        return len(ENTRIES)

    def __contains__(self, name: object) -> bool:
        return name in ENTRIES


METHODS = _Methods()


def get_method(name: str) -> Method:
    """The method of that name, or an error that lists them."""
    if name in ENTRIES:
        return METHODS[name]
    hint = did_you_mean(name.lower(), ENTRIES)
    raise DccgcnError(f"There is no method {name!r}.{hint}", f"Choose one of: {', '.join(ENTRIES)}.")
