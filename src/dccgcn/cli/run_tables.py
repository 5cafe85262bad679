"""The tables that ``dccgcn fit`` prints about a run."""

from typing import TYPE_CHECKING

from rich.table import Table

from dccgcn.cli.display import cell, output, percent, print_frame, table

if TYPE_CHECKING:
    from dccgcn.workflow import Result

_MOST_RANKED = 5  # nodes of a rare class


def print_predictions(result: "Result") -> None:
    """For each class: its labels, how many nodes are predicted to be in it, and how many are expected to be right."""
    from dccgcn.quality import class_table

    rows, every = class_table(result.graph, result.split, result.prediction)
    columns = ["class", "labels", "predicted"]
    columns += ["channels agree", "disagree"] if every.agreed is not None else []
    columns += [result.trusted.word, "expected accuracy"] if result.prediction.trust is not None else []
    title = f"{result.method} on {result.graph.name}: {every.labels} labels, {every.predicted} predictions"
    shown = table(title, *columns)
    for row in (*rows, every):
        counts = [row.labels, row.predicted]
        if row.agreed is not None:
            counts += [row.agreed, row.predicted - row.agreed]
        cells = [f"{count:,}" for count in counts]
        if result.prediction.trust is not None:
            cells += [f"{row.trusted:,}", percent(row.confidence)]
        shown.add_row(cell(row.name), *cells, end_section=row is rows[-1])
    output.print(shown)


def print_scores(result: "Result", baseline: "Result | None", compile_seconds: float) -> None:
    """Accuracy and macro-F1 on the test nodes, those of the baseline, and those of the parts of the method."""
    split = result.split
    title = f"{result.method} on {result.graph.name}: {len(split.train)} labels, {len(split.test)} test nodes"
    shown = table(f"{title}, seed {result.seed}", "", "")
    if baseline:
        shown.add_row(f"{baseline.method}, accuracy", percent(baseline.accuracy))
        shown.add_row(f"{baseline.method}, macro-F1", percent(baseline.macro_f1), end_section=True)
    _add_channels(shown, result)
    _add_trust(shown, result)
    if balance := result.balance:
        shown.add_row("always the most frequent class, accuracy", percent(balance.majority), end_section=True)
        shown.add_row(f"class {cell(balance.smallest)}, recall", percent(balance.recall))
        shown.add_row(f"class {cell(balance.smallest)}, average precision", percent(balance.average_precision))
        shown.add_section()
    for name, value in (("accuracy", result.accuracy), ("macro-F1", result.macro_f1)):
        shown.add_row(f"{result.method}, {name}", percent(value), style="bold", end_section=name == "macro-F1")
    shown.add_row("seconds", f"{result.seconds:.1f}")
    if compile_seconds >= 0.1:
        shown.add_row("of which JIT compilation (cached)", f"{compile_seconds:.1f}")
    output.print(shown)


def _add_channels(shown: Table, result: "Result") -> None:
    """Accuracy of each channel, and of the nodes on which the channels agree or disagree."""
    weights = result.prediction.channel_weights
    for channel, accuracy in result.channel_accuracy.items():
        weight = f" (weight {percent(weights[channel])})" if channel in weights else ""
        shown.add_row(f"{channel} channel{weight}, accuracy", percent(accuracy))
    if result.agreement is None:
        return
    shown.add_row("channels agree", percent(result.agreement), end_section=True)
    shown.add_row("channels agree, accuracy", percent(result.accuracy_high))
    step = "refit" if result.corrected is None else "correction"
    shown.add_row(f"channels disagree, accuracy before {step}", percent(result.accuracy_low_before))
    shown.add_row(f"channels disagree, accuracy after {step}", percent(result.accuracy_low_after))
    if result.corrected is not None:
        shown.add_row("corrected", percent(result.corrected))
    shown.add_section()


def _add_trust(shown: Table, result: "Result") -> None:
    """Share and accuracy of the trusted predictions among the test nodes."""
    if result.prediction.trust is None:
        return
    test, word = result.split.test, result.trusted.word
    trusted = result.trusted.is_trusted[test]
    is_right = (result.prediction.y_pred == result.graph.labels)[test]
    shown.add_row(f"predictions that are {word}", percent(trusted.mean()))
    for name, part in ((word, trusted), ("other", ~trusted)):
        shown.add_row(f"{name}, accuracy", percent(is_right[part].mean() if part.any() else None))
    shown.add_section()


def print_rare_classes(result: "Result") -> None:
    """For each class that is rare or never predicted: how well its test nodes are ranked, and its first nodes."""
    from dccgcn.quality import ranked_classes, rare_class_scores

    graph, split, prediction = result.graph, result.split, result.prediction
    if scores := rare_class_scores(graph, split, prediction):
        shown = table("Rare classes on the test nodes", "class", "test nodes", "average precision", "recall at k", "k")
        for row in scores:
            numbers = f"{row['test_nodes']:,}", percent(row["average_precision"]), percent(row["recall_at_k"])
            shown.add_row(cell(row["class"]), *numbers, str(row["k"]))
        output.print(shown)
    for k in ranked_classes(graph, split, prediction):
        first = result.ranking(graph.classes[k]).head(_MOST_RANKED)
        print_frame(f"Most probable nodes of the class {graph.classes[k]}", first.iloc[:, 2:], digits=3)
