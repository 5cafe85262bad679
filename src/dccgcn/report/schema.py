"""The report's data: the one definition of its fields.

frontend/src/schema.ts and the tables of docs/report-data.md are generated from these models:

    python scripts/report_schema.py
"""

import json
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dccgcn.quality import AuditSummary

FORMAT: Final = 4  # rises when a field changes its name or meaning

Share = Annotated[float, Field(ge=0, le=1)]


class Part(BaseModel):
    """A part of the report: frozen, and strict when it is read back from a file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class TrustSummary(Part):
    """How many predictions can be trusted, and why. Counts are those of the whole graph."""

    basis: Literal["trust", "estimate", "agreement", "probability"] = Field(
        description="Why a prediction is trusted: `trust`, the method's own estimate that it is right; `estimate`, the "
        "same from fewer labels than it was tested with; without one, `agreement`, the channels predict the same "
        "class; without channels, `probability` of the class"
    )
    word: str = Field(description="What such a prediction is called: `trusted`, or `estimated right`")
    threshold: Share | None = Field(
        description="Smallest trust or probability of a trusted prediction; `null` for `agreement`"
    )
    predictions: int = Field(description="Nodes that were not trained on")
    trusted: int = Field(description="Predictions that can be trusted")
    doubtful: int = Field(description="The other predictions")
    mean_confidence: Share | None = Field(description="Mean confidence of the trusted predictions")
    mean_confidence_doubtful: Share | None = Field(description="Mean confidence of the doubtful predictions")
    test_nodes: int = Field(description="Test nodes: their true class is known and was not trained on")
    accuracy_trusted: Share | None = Field(description="Accuracy of the trusted predictions on the test nodes")
    accuracy_doubtful: Share | None = Field(description="Accuracy of the doubtful predictions on the test nodes")


class GraphSummary(Part):
    """The size of the graph."""

    name: str = Field(description="Name of the graph")
    nodes: int = Field(description="Number of nodes")
    edges: int = Field(description="Number of edges")
    features: int = Field(description="Number of features of a node")
    labels: int = Field(description="Number of training labels")
    target: str | None = Field(description="Column of the table whose classes are predicted, if there is a table")


class ClassSummary(Part):
    """One class and the predictions of it."""

    name: str = Field(description="Name of the class")
    colour: str = Field(description="Its colour on the page, as `#rrggbb`")
    labels: int = Field(description="Training labels of this class")
    trusted: int = Field(description="Trusted predictions of this class")
    doubtful: int = Field(description="Doubtful predictions of this class")
    expected: Share | None = Field(description="Mean confidence of the predictions of this class")
    precision: Share | None = Field(description="Of the test nodes predicted as this class, the share that is right")
    recall: Share | None = Field(description="Of the test nodes of this class, the share predicted as it")
    verdict: str = Field(description="In two or three words, such as `mostly trusted` or `never predicted`")


class RankedNode(Part):
    """A node that may belong to the class it is ranked for."""

    id: str = Field(description="Id as text")
    probability: int = Field(description="Probability of the class, in thousandths")
    prediction: int = Field(description="Predicted class")


class ClassRanking(Part):
    """The nodes that most probably belong to a class that is rare or never predicted."""

    class_position: int = Field(description="Position of the class in `classes`")
    nodes: list[RankedNode] = Field(description="At most 20, by falling probability")
    average_precision: Share | None = Field(description="Average precision of the ranking on the test nodes")
    recall: Share | None = Field(
        description="Share of the test nodes of this class among the first `test_nodes` of the ranking"
    )
    test_nodes: int | None = Field(description="Test nodes of this class")


class ChannelSummary(Part):
    """One channel: a classifier on one view of the nodes."""

    name: str = Field(description="Name of the channel")
    title: str = Field(description="What it uses, in two or three words")
    description: str = Field(description="What it uses")
    weight: float | None = Field(description="Its weight in the final prediction; the weights sum to 1")
    accuracy: Share | None = Field(description="Accuracy of its own predictions on the test nodes")


class TopClasses(Part):
    """The most probable classes of each node: at most 8; for the channels of a method with more than two, 1."""

    classes: list[int] = Field(description="Classes, most probable first, node after node")
    probabilities: list[int] = Field(description="Their probabilities in thousandths")


class TableColumn(Part):
    """One column of the user's table."""

    name: str = Field(description="Name of the column")
    cells: list[str] = Field(description="Cells as text, long ones shortened; empty if missing")


class Nodes(Part):
    """The nodes on the page, one list per column, one entry per node."""

    note: str = Field(description="Which nodes are shown")
    id: list[str] = Field(description="Ids as text")
    prediction: list[int] = Field(description="Predicted class")
    confidence: list[int] = Field(
        description="Estimated probability that the prediction is right, in thousandths: the trust where the method "
        "estimates one, else the probability of the class"
    )
    trusted: list[int] = Field(description="1 if the prediction is trusted, else 0")
    corrected: list[int] | None = Field(
        description="1 if the channels disagreed and the prediction was corrected with confident neighbours, else 0"
    )
    role: list[int] = Field(description="Position in `roles`")
    roles: list[str] = Field(description="Names of the roles: train, validation, test, unused, unlabelled")
    label: list[int] = Field(description="True class; -1 if unknown")
    degree: list[int] = Field(description="Number of neighbours in the graph")
    class_probabilities: dict[str, TopClasses] = Field(description="By name: `final`, and each channel")
    neighbours: list[list[int]] = Field(
        description="At most 6 neighbours: those with a training label first, then by confidence"
    )
    community: list[int] = Field(description="Position in `communities` of the map; -1 for none of them")
    columns: list[TableColumn] = Field(description="The nodes' own rows of the user's table; empty without a table")


class Community(Part):
    """A group of nodes with many edges among them."""

    nodes: int = Field(description="Nodes of the whole graph that belong to it")
    predictions: int = Field(description="Of these, nodes that were not trained on")
    trusted: int = Field(description="Of the predictions, those that can be trusted")
    prediction: int = Field(description="Class that is predicted most often")
    share: Share = Field(description="Share of its nodes that are predicted as this class")
    hub: str = Field(description="Id of its node with most edges, as text")
    x: int = Field(description="Horizontal position of its name in ten-thousandths")
    y: int = Field(description="Vertical position of its name in ten-thousandths")


class GraphMap(Part):
    """The drawing of the graph."""

    note: str = Field(description="Which nodes and edges are drawn")
    nodes: list[int] = Field(description="Nodes drawn")
    x: list[int] = Field(description="Horizontal positions in ten-thousandths")
    y: list[int] = Field(description="Vertical positions in ten-thousandths")
    edges: list[int] = Field(description="Edges as u, v, u, v, …")
    communities: list[Community] = Field(
        description="At most 24 communities with a hundredth of the nodes, largest first"
    )


class CalibrationBin(Part):
    """One bin of the reliability diagram."""

    count: int = Field(description="Test nodes in the bin")
    confidence: Share = Field(description="Their mean confidence")
    accuracy: Share = Field(description="Their accuracy")


class Calibration(Part):
    """Confidence compared with accuracy on the test nodes."""

    nodes: int = Field(description="Number of test nodes")
    accuracy: Share = Field(description="Their accuracy")
    mean_confidence: Share = Field(description="Their mean confidence")
    ece: Share = Field(description="Expected calibration error over `bins`")
    bins: list[CalibrationBin] = Field(description="Reliability diagram: ten bins of equal mass, empty ones left out")
    coverage: list[float] = Field(description="Share of the nodes predicted, most confident first")
    risk: list[float] = Field(description="Error rate at each coverage")
    aurc: Share = Field(description="Area under the risk-coverage curve")


class LabelSuggestion(Part):
    """A node to label next."""

    id: str = Field(description="Id as text")
    reason: str = Field(description="Why its label would help")


class ReportFinding(Part):
    """Something unusual about the graph, its labels or the run."""

    level: Literal["error", "warning", "note"] = Field(
        description="error: cannot train; warning: predictions suffer; note: good to know"
    )
    code: str = Field(description="Short stable name, such as `isolated-nodes`")
    text: str = Field(description="What was found")
    meaning: str = Field(description="What it means for the predictions; may be empty")


class SplitSummary(Part):
    """Which nodes trained, validated and tested."""

    kind: str = Field(description="How the split was made")
    seed: int | None = Field(description="Seed it was drawn with")
    hash: str = Field(description="SHA-256 of the split")


class Setting(Part):
    """One setting of the method."""

    name: str = Field(description="Name of the option")
    value: str = Field(description="Its value: a string as it is, anything else as JSON")
    description: str = Field(description="What it does")


class RunSummary(Part):
    """How the run was made, and how to repeat it."""

    method: str = Field(description="Name of the method")
    description: str = Field(description="The method in one sentence")
    reference: str = Field(description="Where the method was published")
    accuracy: Share | None = Field(description="Accuracy on the test nodes")
    macro_f1: Share | None = Field(description="Macro-F1 on the test nodes")
    command: str | None = Field(description="The command that made the run")
    seed: int = Field(description="Seed of the training")
    split: SplitSummary
    seconds: float = Field(description="Training time")
    threads: int = Field(description="Threads used")
    created: str = Field(description="When the report was made: ISO 8601, UTC")
    settings: list[Setting] = Field(description="All settings of the method")
    versions: dict[str, str] = Field(description="Version of Python and of each package used")


class Report(Part):
    """Everything the page shows."""

    format: Literal[4] = Field(description="Version of this format; rises when a field changes its name or meaning")
    headline: str = Field(description="How many predictions can be trusted")
    warnings: list[str] = Field(description="What the headline hides: classes never predicted, never trusted")
    verdict: list[str] = Field(description="Three sentences: the task, what is called trusted, and how that is known")
    trust: TrustSummary
    graph: GraphSummary
    classes: list[ClassSummary] = Field(description="All classes; elsewhere a class is its position in this list")
    rankings: list[ClassRanking] = Field(description="Of the classes that are never predicted or rare")
    channels: list[ChannelSummary] = Field(description="Empty for a method without channels")
    channel_contingency: list[list[int]] | None = Field(
        description="Entry [i][j]: predictions for which the first channel predicts class i and the second class j"
    )
    nodes: Nodes
    predictions_csv: str = Field(description="The rows of `predictions.csv` for the nodes shown")
    map: GraphMap
    calibration: Calibration | None = Field(description="`null` without test nodes")
    label_next: list[LabelSuggestion] = Field(description="At most 20 nodes whose labels would help most")
    label_next_csv: str = Field(description="`label_next` as CSV")
    findings: list[ReportFinding] = Field(description="About the graph and its training labels, then about the run")
    run: RunSummary
    audit: AuditSummary | None = Field(default=None, description="`null` if no predictions were checked by a person")

    def to_json(self) -> str:
        """The data as compact ASCII JSON."""
        return json.dumps(self.model_dump(), allow_nan=False, separators=(",", ":"))

    @model_validator(mode="after")
    def _check_positions(self) -> Self:
        """Lists of nodes have equal lengths, and every class and node that is referred to exists."""
        nodes, n, c = self.nodes, len(self.nodes.id), len(self.classes)
        columns: list[list[Any]] = [
            nodes.prediction,
            nodes.confidence,
            nodes.trusted,
            nodes.role,
            nodes.label,
            nodes.degree,
            nodes.neighbours,
            nodes.community,
            *(column.cells for column in nodes.columns),
        ]
        columns += [] if nodes.corrected is None else [nodes.corrected]
        _require(all(len(column) == n for column in columns), "nodes: the lists differ in length")
        _require(_within(nodes.role, len(nodes.roles)), "nodes.role: no such role")
        _require(_within(nodes.prediction, c), "nodes.prediction: no such class")
        _require(_within([label + 1 for label in nodes.label], c + 1), "nodes.label: no such class")
        _require(all(_within(near, n) for near in nodes.neighbours), "nodes.neighbours: no such node")
        groups = self.map.communities
        _require(_within([at + 1 for at in nodes.community], len(groups) + 1), "nodes.community: no such community")
        _require(_within([group.prediction for group in groups], c), "map.communities: no such class")
        ranked = [k for row in self.rankings for k in (row.class_position, *(node.prediction for node in row.nodes))]
        _require(_within(ranked, c), "rankings: no such class")
        names = {"final", *(channel.name for channel in self.channels)}
        _require(names <= nodes.class_probabilities.keys(), "nodes.class_probabilities: a channel is missing")
        lengths = [(len(top.classes), len(top.probabilities)) for top in nodes.class_probabilities.values()]
        is_regular = all(first == second and first % max(n, 1) == 0 for first, second in lengths)
        _require(is_regular, "nodes.class_probabilities: lengths")
        _require(
            all(_within(top.classes, c) for top in nodes.class_probabilities.values()),
            "nodes.class_probabilities: no such class",
        )
        table = self.channel_contingency
        _require(
            table is None or (len(self.channels) == 2 and [len(row) for row in table] == [c] * c),
            "channel_contingency: not one row and column per class of two channels",
        )
        drawn = self.map
        _require(_within(drawn.nodes, n), "map: no such node")
        _require(len(drawn.x) == len(drawn.y) == len(drawn.nodes), "map: lengths")
        _require(len(self.map.edges) % 2 == 0 and set(self.map.edges) <= set(self.map.nodes), "map.edges: no such node")
        return self


def _within(positions: list[int], count: int) -> bool:
    return not positions or (min(positions) >= 0 and max(positions) < count)


def _require(is_met: bool, problem: str) -> None:
    if not is_met:
        raise ValueError(problem)
