"""dccgcn fit: one method on a benchmark graph, or on a graph of one's own."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dccgcn.cli import tables
from dccgcn.cli.display import (
    Device,
    errors,
    output,
    percent,
    print_findings,
    print_json,
    printable,
    progress_bar,
    table,
)
from dccgcn.errors import DccgcnError, SplitError

if TYPE_CHECKING:
    from dccgcn.api import Result
    from dccgcn.graph import NodeGraph
    from dccgcn.graph.splits import Split


def fit(
    name: tables.Name = None,
    nodes: tables.Nodes = None,
    edges: tables.Edges = None,
    label: tables.Label = None,
    id: tables.Id = None,
    features: tables.Features = None,
    text: tables.Text = None,
    categorical: tables.Categorical = None,
    ignore: tables.Ignore = None,
    source: tables.Source = None,
    target: tables.Target = None,
    weight: tables.Weight = None,
    unlabelled: tables.Unlabelled = None,
    unknown_ids: tables.UnknownIds = "error",
    impute: tables.Impute = "error",
    encoding: tables.Encoding = "utf-8",
    featureless: tables.Featureless = False,
    hold_out: Annotated[
        float | None,
        typer.Option(
            help="Share of the labels to measure on instead of training, such as 0.2.",
            rich_help_panel="Your own tables",
        ),
    ] = None,
    method: Annotated[str, typer.Option(help="See [b]dccgcn methods[/b].")] = "concord",
    labels_per_class: Annotated[int | None, typer.Option(help="Training labels drawn from each class.")] = None,
    label_rate: Annotated[float | None, typer.Option(help="Share of the nodes to train on, such as 0.005.")] = None,
    split: Annotated[str | None, typer.Option(help="A split file, or a published split such as public.")] = None,
    small_classes: Annotated[
        Literal["half", "error"],
        typer.Option(
            help="With --labels-per-class K: a class of fewer than 2K nodes gives half of them, or is an error."
        ),
    ] = "half",
    seed: Annotated[int, typer.Option(help="Of the split and of training. Evaluation uses 0 to 999.", min=0)] = 0,
    settings: Annotated[Path | None, typer.Option(help="A settings.yaml that a run wrote.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="OPTION=VALUE",
            help="Change one setting; may be repeated. [b]dccgcn methods NAME[/b] lists a method's.",
        ),
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="Run this method on the same split too, for comparison.")] = None,
    theory: Annotated[bool, typer.Option("--theory", help="Show the paper's theorems against this run.")] = False,
    threads: Annotated[int | None, typer.Option(help="Threads to use; default: one per core.", min=1)] = None,
    device: Device = "cpu",
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data files; default: $DCCGCN_DATA or a cache.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write predictions.csv, the model with its card, report.json and how to repeat the run to this folder."
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Write report.html, one page to look at, into the folder of --out or here.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Classify the nodes of a graph from a few labels: of your own tables, or of a benchmark graph.

    Your own graph is two tables. Every label trains; --hold-out keeps some to measure on. Columns that are not named
    are guessed, and the guesses are printed.

    On a benchmark graph a few labels train and all others are measured; without a split option, two labels of each
    class are used. The same seed draws the same split for every method.

    Examples:

        dccgcn fit --nodes nodes.csv --edges edges.csv --label topic --out answers

        dccgcn fit cora --labels-per-class 2 --baseline gcn

        dccgcn fit citeseer --label-rate 0.005 --seed 3 --set k=10 --out runs/citeseer --json
    """
    from numba.core.event import TimingListener, install_listener

    from dccgcn.api import run
    from dccgcn.datasets import load
    from dccgcn.graph.splits import per_class
    from dccgcn.models.registry import get_method
    from dccgcn.runtime.threads import use_threads
    from dccgcn.settings import parse_assignments, read_yaml

    own = tables.TableOptions(
        nodes, edges, label, id, features, text, categorical, ignore, source, target, weight, unlabelled, unknown_ids,
        impute, encoding, featureless,
    )  # fmt: skip
    is_own = own.given_instead_of(name)
    use_threads(threads)
    chosen = get_method(method)
    other = get_method(baseline) if baseline else None
    options = parse_assignments(set_ or [])
    if settings:
        options = {**read_yaml(settings), **options}
    configured = chosen.published_settings(name or "", options)

    published: dict[str, Split] = {}
    read = own.read() if is_own else None
    if read:
        graph = read.graph
        if read.columns.label is None:
            raise DccgcnError(f"No column of {graph.name} looks like a label.", "Name the column: --label topic.")
    else:
        dataset = load(name or "", data)
        graph, published = dataset.graph, dataset.splits
    drawn = choose_split(graph, published, labels_per_class, label_rate, split, hold_out, seed, small_classes)
    if drawn is None and not is_own:
        drawn = per_class(graph, 2, seed, small_classes)
    if (baseline or theory) and (drawn is None or len(drawn.test) == 0):
        asked = "--baseline" if baseline else "--theory"
        raise SplitError(f"{asked} measures, but every label trains.", "Keep some to measure on: --hold-out 0.2.")
    with progress_bar(method) as progress, install_listener("numba:compile", TimingListener()) as compiling:
        result = run(graph, drawn, chosen, configured, seed, progress, device)
    compared = None
    if other:
        with progress_bar(other.name) as progress:
            compared = run(graph, drawn, other, other.published_settings(name or ""), seed, progress, device)
    if out:
        result.save(out, read)
    if out or report:
        write_report(result, out, report)
    if json:
        print_json({**result.summary(), **({"baseline": compared.summary()} if compared else {})})
        return
    if is_own:
        print_answers(result)
    if result.accuracy is not None:
        print_result(result, compared, compiling.duration if compiling.done else 0.0)
    if theory and result.theory:
        print_theory(result)
    elif theory:
        errors.print(f"The theorems are about two channels, which {result.method} does not have.", highlight=False)
    print_findings(result.findings)
    if out:
        files = "predictions.csv; README.md, the card of the model; the model and all that repeats the run"
        errors.print(f"Written to {out}: {files}", highlight=False, soft_wrap=True)
    if report:
        errors.print(f"To look at: {(out or Path()) / 'report.html'}", highlight=False, soft_wrap=True)


def write_report(result: "Result", out: Path | None, page: bool) -> None:
    """The report's data beside the other files of a run, and the page where it was asked for."""
    from dccgcn.artifacts.report.data import report_data
    from dccgcn.artifacts.report.page import render
    from dccgcn.artifacts.report.store import save_data
    from dccgcn.runtime.files import write_atomically

    with progress_bar(result.method) as progress:
        data = report_data(result, shlex.join(["dccgcn", *sys.argv[1:]]), progress)
    if out:
        save_data(data, out)
    if page:
        write_atomically((out or Path()) / "report.html", render(data))


def choose_split(
    graph: "NodeGraph",
    published: "dict[str, Split]",
    labels_per_class: int | None,
    label_rate: float | None,
    split: str | None,
    hold_out: float | None,
    seed: int,
    small_classes: Literal["half", "error"],
) -> "Split | None":
    """The split that the options ask for; None if they ask for none."""
    from dccgcn.graph import splits

    if sum(option is not None for option in (labels_per_class, label_rate, split, hold_out)) > 1:
        raise SplitError(
            "--labels-per-class, --label-rate, --split and --hold-out exclude one another.",
            "Give one of them, or none.",
        )
    if labels_per_class is not None:
        return splits.per_class(graph, labels_per_class, seed, small_classes)
    if label_rate is not None:
        return splits.by_rate(graph, label_rate, seed)
    if hold_out is not None:
        return splits.hold_out(graph, hold_out, seed)
    if split is None or split in published:
        return published[split] if split else None
    if not Path(split).exists():
        known = ", ".join(published) or "none"
        raise SplitError(f"{split!r} is no file and no published split of this graph.", f"Published splits: {known}.")
    return splits.Split.load(split, graph)


def print_answers(result: "Result") -> None:
    """For each class its labels, and how many of the other nodes were put into it, trusted and not."""
    import numpy as np

    graph, prediction, train = result.graph, result.prediction, result.split.train
    asked = np.flatnonzero(result.is_predicted)
    labels = np.bincount(graph.labels[train], minlength=graph.c)
    columns = ["class", "labels", "answers"]
    columns += ["channels agree", "disagree"] if prediction.channels_agree is not None else []
    columns += ["expected right"] if prediction.trust is not None else []
    title = f"{result.method} on {graph.name}: {len(train)} labels, {len(asked)} answers"
    shown = table(title, *columns)
    for c, name in enumerate([*graph.classes, "all"]):
        answered = asked[prediction.y_pred[asked] == c] if c < graph.c else asked
        row = [labels[c] if c < graph.c else len(train), len(answered)]
        if prediction.channels_agree is not None:
            row += [prediction.channels_agree[answered].sum(), (~prediction.channels_agree[answered]).sum()]
        cells = [f"{count:,}" for count in row]
        if prediction.trust is not None:
            cells.append(percent(float(prediction.trust[answered].mean())) if len(answered) else "–")
        shown.add_row(printable(name), *cells, end_section=c == graph.c - 1)
    output.print(shown)


def print_result(result: "Result", compared: "Result | None", compiling: float) -> None:
    """The table of one run, of whose seconds some may have gone into compiling the kernels."""
    from dccgcn.artifacts.report.trusted import THRESHOLD

    split = result.split
    title = f"{result.method} on {result.graph.name}: {len(split.train)} labels, {len(split.test)} test nodes"
    title += f", seed {result.seed}"
    shown = table(title, "", "")
    if compared:
        shown.add_row(f"{compared.method}, accuracy", percent(compared.accuracy))
        shown.add_row(f"{compared.method}, macro-F1", percent(compared.macro_f1), end_section=True)
    for channel, accuracy in result.channel_accuracy.items():
        shown.add_row(f"{channel} channel, accuracy", percent(accuracy))
    if result.agreement is not None:
        shown.add_row("channels agree on", percent(result.agreement), end_section=True)
        shown.add_row("high confidence (they agree), accuracy", percent(result.accuracy_high))
        shown.add_row("low confidence, accuracy before calibration", percent(result.accuracy_low_before))
        shown.add_row("low confidence, accuracy after calibration", percent(result.accuracy_low_after))
        shown.add_row("rebuilt from neighbours", percent(result.corrected), end_section=True)
    if result.prediction.trust is not None and result.accuracy is not None:
        trusted = result.prediction.trust[split.test] >= THRESHOLD
        right = (result.prediction.y_pred == result.graph.labels)[split.test]
        shown.add_row(f"trusted answers ({THRESHOLD:.0%} or more)", percent(trusted.mean()))
        for name, part in (("trusted", trusted), ("doubtful", ~trusted)):
            shown.add_row(f"{name} answers, accuracy", percent(right[part].mean() if part.any() else None))
        shown.add_section()
    shown.add_row(f"[bold]{result.method}, accuracy[/]", f"[bold]{percent(result.accuracy)}[/]")
    shown.add_row(f"[bold]{result.method}, macro-F1[/]", f"[bold]{percent(result.macro_f1)}[/]", end_section=True)
    shown.add_row("seconds", f"{result.seconds:.1f}")
    if compiling >= 0.1:
        shown.add_row("of these, compiling what is then kept", f"{compiling:.1f}")
    output.print(shown)


def print_theory(result: "Result") -> None:
    """The theorems as stated, as they must be, and as this run measured them."""
    shown = table("The theorems against this run", "quantity", "equation", "paper", "exact", "measured", "holds")
    for row in result.theory:
        numbers = ["–" if x is None else f"{x:.3f}" for x in (row.paper, row.exact, row.measured)]
        holds = {True: "yes", False: "no", None: ""}[row.holds]
        shown.add_row(row.quantity, row.equation, *numbers, holds)
    output.print(shown)
