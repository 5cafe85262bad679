"""Why a node is predicted as it is: channels, neighbours, similar nodes and features, from what the fit left."""

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dccgcn.concord import channel_title, feature_contributions, similar_nodes
from dccgcn.errors import DccgcnError
from dccgcn.graph import NodeGraph, spell_id
from dccgcn.quality import THRESHOLD
from dccgcn.text import did_you_mean, printable, truncate

if TYPE_CHECKING:
    from dccgcn.workflow.result import Result

N_CLASSES, N_NEIGHBOURS, N_SIMILAR, N_FEATURES = 5, 8, 6, 8  # listed at most
_WIDTH = 60  # characters of a name in the text


@dataclass(frozen=True)
class ChannelVote:
    """What one channel predicts of a node."""

    channel: str
    title: str  # what it looks at
    prediction: str
    probability: float
    weight: float | None  # its share in the prediction


@dataclass(frozen=True)
class NearNode:
    """A neighbour of the node, or a node with similar features."""

    node: str
    name: str | None
    label: str | None  # the training label
    prediction: str
    trust: float  # or the probability, as in Explanation
    cosine: float | None = None  # of the features, of a similar node


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a node is predicted as it is.

    ``Result.explain`` makes it. It prints as text, is shown as a table in a notebook, and ``to_dict`` gives plain
    values for JSON. Probabilities and trust are between 0 and 1.

    Attributes
    ----------
    node, name : str
        Its id, and its name if the nodes have names.
    label : str or None
        Its training label; the prediction is then that label.
    prediction, alternative : str
        The predicted class, and the next probable one.
    trust : float
        The estimated probability that the prediction is right, or its probability where a method estimates no trust.
    verdict : str
        "trusted", "estimated right", or "doubtful" and why.
    classes : list of (str, float)
        The most probable classes.
    channels : list of ChannelVote
        What each channel predicts, by falling weight.
    degree : int
        Number of neighbours; ``neighbours`` lists those with a training label first, then the most trusted.
    neighbours, similar : list of NearNode
        Neighbours in the graph, and the nodes with the most similar features.
    speaks_for, speaks_against : list of (str, float)
        Features that raise the score of the prediction over the alternative in the channel of own features, and those
        that lower it, with the amount.
    """

    node: str
    name: str | None
    label: str | None
    prediction: str
    alternative: str
    trust: float
    verdict: str
    classes: list[tuple[str, float]]
    channels: list[ChannelVote]
    degree: int
    neighbours: list[NearNode]
    similar: list[NearNode]
    speaks_for: list[tuple[str, float]]
    speaks_against: list[tuple[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)

    def sections(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """What is shown, in order: a title, and rows of two texts."""
        votes = [
            (f"{vote.title} ({vote.weight:.0%})" if vote.weight is not None else vote.title,
             f"{vote.prediction} {vote.probability:.0%}")
            for vote in self.channels
        ]  # fmt: skip
        more = f", {len(self.neighbours)} of {self.degree}" if self.degree > len(self.neighbours) else ""
        shown = [
            ("Classes", [(name, f"{p:.0%}") for name, p in self.classes]),
            ("Channels and their weights", votes),
            (f"Neighbours{more}", [_near_row(near) for near in self.neighbours]),
            ("Nodes with similar features", [_near_row(near) for near in self.similar]),
            (f"Features for {self.prediction}", [(name, f"{x:+.2f}") for name, x in self.speaks_for]),
            (f"Features for {self.alternative}", [(name, f"{x:+.2f}") for name, x in self.speaks_against]),
        ]
        return [(title, rows) for title, rows in shown if rows]

    @property
    def headline(self) -> str:
        """The node, its prediction and how far it is trusted."""
        node = f"{self.name} ({self.node})" if self.name else self.node
        if self.label is not None:
            return f"{node} has the training label {self.label}."
        return f"{node} is predicted to be {self.prediction}; {self.verdict}: right with a chance of {self.trust:.0%}."

    def __repr__(self) -> str:
        lines = [printable(self.headline)]
        for title, rows in self.sections():
            lines.append(f"  {printable(title)}")
            lines += [f"    {truncate(printable(name), _WIDTH):<{_WIDTH}} {printable(value)}" for name, value in rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        tables = [
            f"<tr><th colspan='2' style='text-align:left'>{escape(title)}</th></tr>"
            + "".join(f"<tr><td style='text-align:left'>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in rows)
            for title, rows in self.sections()
        ]
        return f"<p><b>{escape(self.headline)}</b></p><table>{''.join(tables)}</table>"


def _near_row(near: NearNode) -> tuple[str, str]:
    name = f"{near.name} ({near.node})" if near.name else near.node
    known = f"label {near.label}" if near.label is not None else f"{near.prediction} {near.trust:.0%}"
    return name, known if near.cosine is None else f"{known}, cosine {near.cosine:.2f}"


def explain(result: "Result", node_id: Any) -> Explanation:
    """Why a node is predicted as it is, from its id."""
    graph, prediction = result.graph, result.prediction
    node = position_of(graph, node_id)
    names = [str(name) for name in graph.classes]
    order = np.argsort(-prediction.probabilities[node], kind="stable")
    weights = prediction.channel_weights
    channels = [
        ChannelVote(name, channel_title(name), names[p[node].argmax()], float(p[node].max()), weights.get(name))
        for name, p in sorted(prediction.channels.items(), key=lambda item: -weights.get(item[0], 0.0))
    ]
    is_train = np.zeros(graph.n, dtype=bool)
    is_train[result.split.train] = True

    def near(other: int, cosine: float | None = None) -> NearNode:
        label = names[graph.labels[other]] if is_train[other] else None
        trust = round(float(result.trusted.confidence[other]), 4)
        return NearNode(*_called(graph, other), label, names[prediction.y_pred[other]], trust, cosine)

    adjacency = graph.adjacency
    neighbours = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
    rank = result.trusted.confidence[neighbours] + 2.0 * is_train[neighbours]
    first = neighbours[np.argsort(-rank, kind="stable")[:N_NEIGHBOURS]]
    similar, contributions = [], np.zeros(graph.d)
    if "head.own" in prediction.model:
        similar = similar_nodes(prediction.model, graph, node, N_SIMILAR)
        seen = np.unique(graph.labels[result.split.train])  # the classes that heads have columns for
        at, other = np.searchsorted(seen, order[np.isin(order, seen)][:2])
        contributions = feature_contributions(prediction.model, graph, node, int(at), int(other))
    largest = np.argsort(-np.abs(contributions), kind="stable")[: 4 * N_FEATURES]
    listed = [(_feature_name(result, j), round(float(contributions[j]), 4)) for j in largest if contributions[j]]
    return Explanation(
        *_called(graph, node),
        label=names[graph.labels[node]] if is_train[node] else None,
        prediction=names[order[0]],
        alternative=names[order[1]],
        trust=round(float(result.trusted.confidence[node]), 4),
        verdict=_verdict(result, node, names[order[0]]),
        classes=[(names[k], round(float(prediction.probabilities[node, k]), 4)) for k in order[:N_CLASSES]],
        channels=channels,
        degree=len(neighbours),
        neighbours=[near(int(other)) for other in first],
        similar=[near(other, round(cosine, 4)) for other, cosine in similar],
        speaks_for=[pair for pair in listed if pair[1] > 0][:N_FEATURES],
        speaks_against=[pair for pair in listed if pair[1] < 0][:N_FEATURES],
    )


def _verdict(result: "Result", node: int, prediction: str) -> str:
    if result.trusted.is_trusted[node]:
        return result.trusted.word
    if result.prediction.trust is None or result.trusted.confidence[node] < THRESHOLD:
        return "doubtful"
    why = f"most predictions of {prediction} are" if result.prediction.promised else "nothing is promised here"
    return f"doubtful, as {why}"


def position_of(graph: NodeGraph, node_id: Any) -> int:
    """The position of a node from its id, spelled as in a table."""
    positions = graph.cached(("positions",), lambda: {spell_id(i): at for at, i in enumerate(graph.ids.tolist())})
    if (wanted := spell_id(node_id)) not in positions:
        close = did_you_mean(wanted, positions) if graph.n <= 10_000 else ""
        raise DccgcnError(f"There is no node {node_id!r}.{close}", "Give an id of the table of nodes.")
    return positions[wanted]


def _called(graph: NodeGraph, node: int) -> tuple[str, str | None]:
    """Id and name of a node."""
    return spell_id(graph.ids[node].item()), str(graph.names[node]) or None if graph.names is not None else None


def _feature_name(result: "Result", j: int) -> str:
    names = result.tables.encoder.names if result.tables is not None else ()
    return names[j] if j < len(names) else f"feature {j}"
