"""dccgcn compare: several methods on the same splits."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dccgcn.cli.display import output, print_findings, print_json, runs_progress, table
from dccgcn.cli.options import Device, GraphOptions, with_option_groups
from dccgcn.errors import SplitError

if TYPE_CHECKING:
    from dccgcn.graph import NodeGraph
    from dccgcn.workflow import Job, MethodScore


@with_option_groups
def compare(
    graph: GraphOptions,
    methods: Annotated[str, typer.Option(help="Methods, separated by commas; differences are to the first.")],
    label_rate: Annotated[float | None, typer.Option(help="Share of the nodes to train on, such as 0.005.")] = None,
    labels_per_class: Annotated[int | None, typer.Option(help="Training labels drawn from each class.", min=1)] = None,
    draw: Annotated[
        Literal["balanced", "uniform"],
        typer.Option(help="With --label-rate: as many labels of every class, or as many as chance has it."),
    ] = "balanced",
    splits: Annotated[int, typer.Option(help="Number of splits, with seeds from --first-seed.", min=1)] = 10,
    folds: Annotated[int, typer.Option(help="With your own tables: parts of the labels, each tested once.", min=2)] = 5,
    repeats: Annotated[int, typer.Option(help="With your own tables: how often folds are drawn.", min=1)] = 3,
    first_seed: Annotated[int, typer.Option(help="Seed of the first split; from 1000: development.", min=0)] = 0,
    device: Device = "cpu",
    jobs: Annotated[int, typer.Option(help="Processes of one thread each; 1: this process.", min=1)] = 2,
    store: Annotated[Path, typer.Option(help="Folder for finished runs; a second call continues from it.")] = Path(
        "runs/compare"
    ),
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run methods on the same splits and print a leaderboard.

    On your own tables the labels are split into folds: each part is tested once, by methods trained on the others. The
    intervals are for the difference to the first method, and a sentence says whether there are enough labels to tell
    the methods apart.

    Each finished run is kept, so a second call continues where the first was stopped, and further methods, folds or
    splits cost only what is new. Ctrl-C prints what the finished runs give. A changed table is another graph, whose
    runs are made anew.

    Examples:

        dccgcn compare cora --methods dcc-gcn,gcn --label-rate 0.005 --splits 10

        dccgcn compare --nodes nodes.csv --edges edges.csv --label topic --methods concord,lp,gcn
    """
    from dccgcn.datasets import describe
    from dccgcn.methods import get_method
    from dccgcn.runtime import check_device
    from dccgcn.workflow import fold_jobs, split_jobs

    check_device(device)  # before any process is started
    names = list(dict.fromkeys(get_method(method.strip()).name for method in methods.split(",")))
    seeds = range(first_seed, first_seed + (repeats if graph.dataset is None else splits))
    if graph.dataset is None:
        from dccgcn.cli.fit import load_graph

        if label_rate is not None or labels_per_class is not None:
            raise SplitError(
                "Methods are compared over folds of your own labels.", "Leave --labels-per-class and --label-rate out."
            )
        own = load_graph(graph).graph
        title = f"{own.name}, {len(own.labelled)} labels in {folds} folds, drawn {repeats} times"
        _compare(title, fold_jobs(own, names, folds, seeds, device), store / "tables.jsonl", jobs, json, own)
        return
    describe(graph.dataset)
    if label_rate is not None and labels_per_class is not None:
        raise SplitError("--labels-per-class and --label-rate exclude one another.", "Give one of them, or none.")
    if graph.tables.get("directed"):
        raise SplitError("Benchmark graphs are compared without direction.", "Leave --directed out.")
    if graph.nodes or graph.edges:
        graph.load()  # both a benchmark graph and tables: an error
    by_rate = "rate" if draw == "balanced" else "rate-uniform"
    kind, amount = (by_rate, label_rate) if label_rate is not None else ("per-class", float(labels_per_class or 2))
    labels = f"{amount:g} per class" if label_rate is None else f"{100 * amount:g} %, {draw}"
    title = f"{graph.dataset}, {labels}, {splits} splits from seed {first_seed}"
    runs = split_jobs(graph.dataset, names, kind, amount, seeds, device)
    _compare(title, runs, store / f"{graph.dataset}.jsonl", jobs, json)


def _compare(
    title: str, jobs: "list[Job]", store: Path, processes: int, json: bool, graph: "NodeGraph | None" = None
) -> None:
    """Run the jobs that are not stored, and print the leaderboard; after Ctrl-C, that of the finished ones.

    graph: one that is no benchmark graph.
    """
    from dccgcn.workflow import conclusion, leaderboard, read_store, run_jobs

    graphs = {jobs[0].content: graph} if graph is not None else {}
    interrupted = False
    try:
        with runs_progress("compare") as on_progress:
            rows, _ = run_jobs(jobs, store, processes, on_progress=on_progress, graphs=graphs)
    except KeyboardInterrupt:
        rows, interrupted = read_store(store), True
        made = sum(job.key() in rows for job in jobs)
        title = f"{title}; interrupted, {made} of {len(jobs)} runs"
    scores = leaderboard(jobs, rows)
    text = conclusion(scores, "splits" if graph is None else "labels")
    if json:
        listed = [score.to_json() for score in scores]
        print_json({"title": title, "graph": jobs[0].dataset, "scores": listed, "conclusion": text})
    elif scores:
        _print(title, jobs[0].method, scores)
        output.print(text, soft_wrap=True)
        print_findings(graph.findings if graph is not None else ())
    if interrupted:
        raise typer.Exit(130)


def _print(title: str, first: str, scores: "list[MethodScore]") -> None:
    of_smallest = ["recall", "AP"]
    shown = table(title, "method", "accuracy", f"to {first}", "95 % interval", "macro-F1", *of_smallest, "seconds")
    shown.columns[0].no_wrap = True  # a method's name is typed as it stands
    for one in scores:
        d = one.difference
        difference = (f"{d.mean:+.1f}", d.interval) if d else ("", "")
        numbers = f"{one.recall:.1f}", f"{one.average_precision:.1f}", f"{one.seconds:.1f}"
        shown.add_row(one.method, str(one.accuracy), *difference, str(one.macro_f1), *numbers)
    output.print(shown)
    smallest = f"the class {scores[0].smallest}" if scores[0].smallest else "the smallest class"
    output.print(
        f"Recall and average precision (AP) are of {smallest}, the one with fewest labels. "
        f"Always predicting the most frequent class: accuracy {scores[0].majority:.1f}.",
        soft_wrap=True, markup=False,
    )  # fmt: skip
