"""Options that commands share, and a decorator that turns dataclasses of options into options of a command."""

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer
from typer.core import TyperCommand

from dccgcn.cli.display import progress_bar
from dccgcn.errors import DccgcnError
from dccgcn.runtime import check_output, check_writable

if TYPE_CHECKING:
    import pandas as pd

    from dccgcn.graph import NodeGraph, Split
    from dccgcn.tables import Tables

_BENCHMARK = typer.Argument(help="A benchmark graph: see [b]dccgcn datasets[/b]. cora needs no download.")
DatasetName = Annotated[str, _BENCHMARK]
DataFolder = Annotated[
    Path | None, typer.Option("--data", help="Folder of the benchmark files; default: $DCCGCN_DATA or a cache.")
]
Device = Annotated[str, typer.Option(help="Device that networks train on: cpu, or one such as cuda.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
MethodName = Annotated[str, typer.Option(help="Method to train: see [b]dccgcn methods[/b].")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="OPTION=VALUE",
        help="Change one setting; may be repeated. [b]dccgcn methods NAME[/b] lists them.",
    ),
]
Probabilities = Annotated[bool, typer.Option("--probabilities", help="Add the probability of each class.")]
AbstainBelow = Annotated[
    float | None,
    typer.Option(help="Add a column abstain: yes where trust is below this, such as 0.9.", min=0, max=1),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what an earlier command wrote there.")]
Threads = Annotated[int | None, typer.Option(help="Number of threads; default: one per core.", min=1)]


NEW_FILE = "NEW_FILE"  # metavar of every option that names a file to write
_TABLES = ("nodes", "edges", "labels", "checked")  # options that may name a folder whose files are one table


class Command(TyperCommand):
    """A command that checks its outputs before it begins: nothing of the user's is replaced, and no input."""

    def invoke(self, ctx: Any) -> Any:
        params: list[Any] = self.params
        inputs = [
            Path(text)
            for param in params
            if param.metavar != NEW_FILE
            for text in _texts(ctx, param)
            if os.path.isfile(text) or (param.name in _TABLES and os.path.isdir(text))  # "." may be a decimal sign
        ]
        for param in params:
            for path in _texts(ctx, param) if param.metavar == NEW_FILE else ():
                check_output(path, bool(ctx.params.get("overwrite")), inputs)
                check_writable(Path(path).parent)
        return super().invoke(ctx)


def _texts(ctx: Any, param: Any) -> list[str]:
    """The values of an option as texts; of NAME=FILE the file too."""
    value = ctx.params.get(param.name or "")
    values = value if isinstance(value, list | tuple) else [value]
    texts = [str(one) for one in values if isinstance(one, str | Path) and "\0" not in str(one)]
    return [*texts, *(text.partition("=")[2] for text in texts if "=" in text)]


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let Typer see the fields of each dataclass parameter as parameters of the command.

    Typer reads options from a signature. Given ``def fit(graph: GraphOptions, split: SplitOptions)`` it sees and passes
    the fields of both dataclasses by name; ``fit`` receives the two dataclasses.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _field_parameters(groups[name])
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(kind=kind, annotation=hints[name]))

    @wraps(command)
    def flat(**values: Any) -> None:
        built = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**built, **values)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _field_parameters(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


_table_option = partial(typer.Option, rich_help_panel="Your own tables")
EDGES_HELP = (
    "Table of edges, or a folder of them: two columns of node ids. Repeated, each table is a relation (a kind of "
    "edges) that is called like its file, or as in cites=FILE."
)


def edge_files(options: "Sequence[str] | None") -> "list[Path] | dict[str, Path] | None":
    """The files of --edges; by the names of their relations if some are given as NAME=FILE."""
    if not options:
        return None
    named = [("", text) if "=" not in text or Path(text).exists() else text.split("=", 1) for text in options]
    if not any(name for name, _ in named):
        return [Path(file) for _, file in named]
    by_name = {name or Path(file.removesuffix(".gz")).stem: Path(file) for name, file in named}
    if len(by_name) < len(named):
        raise DccgcnError("Two relations of --edges have the same name.", "Name each as in --edges cites=FILE.")
    return by_name


@dataclass(frozen=True)
class GraphOptions:
    """Where the graph comes from: the name of a benchmark graph, or tables and how to read them."""

    dataset: Annotated[str | None, _BENCHMARK] = None
    nodes: Annotated[
        Path | None,
        _table_option(
            help="Table of nodes: CSV, TSV, JSON lines (plain or gzip), Parquet, Feather or Excel; a folder of CSV or "
            "Parquet files; or a GraphML file."
        ),
    ] = None
    edges: Annotated[list[str] | None, _table_option(metavar="FILE", help=EDGES_HELP)] = None
    label: Annotated[str | None, _table_option(help="Column of the labels; an empty cell means unlabelled.")] = None
    labels: Annotated[Path | None, _table_option(help="A further table of ids and labels, added to the nodes.")] = None
    id: Annotated[str | None, _table_option("--id", help="Column of the node ids.")] = None
    node_name: Annotated[
        str | None, _table_option("--name", help="Column of a name to show for each node beside its id.")
    ] = None
    classify: Annotated[
        list[str] | None,
        _table_option(metavar="COLUMN=VALUE", help="Classify only these nodes: type=movie; may be repeated."),
    ] = None
    features: Annotated[
        list[str] | None, _table_option(help="Feature column, or a pattern such as 'w*'; may be repeated.")
    ] = None
    text: Annotated[list[str] | None, _table_option(help="Feature column of free text; may be repeated.")] = None
    categorical: Annotated[list[str] | None, _table_option(help="Feature column of categories; may be repeated.")] = (
        None
    )
    ignore: Annotated[
        list[str] | None, _table_option(help="Column or pattern that is not a feature; may be repeated.")
    ] = None
    source: Annotated[str | None, _table_option(help="Column of an edge's first node.")] = None
    target: Annotated[str | None, _table_option(help="Column of an edge's second node.")] = None
    weight: Annotated[str | None, _table_option(help="Column of the edge weights.")] = None
    relation: Annotated[
        str | None,
        _table_option(
            help="Column of the edges that says of which kind each is, such as cites or coauthor. Each kind is a "
            "relation with channels of its own, weighted by what it is worth on this graph."
        ),
    ] = None
    directed: Annotated[
        bool,
        _table_option("--directed", help="Edges lead from source to target; each direction gets channels of its own."),
    ] = False
    unlabelled: Annotated[
        list[str] | None, _table_option(help="A label that means unlabelled, such as '?'; may be repeated.")
    ] = None
    unknown_ids: Annotated[Literal["error", "drop"], _table_option(help="What to do with edges to unknown ids.")] = (
        "error"
    )
    impute: Annotated[
        Literal["mean", "zero", "error"],
        _table_option(help="What a missing number becomes, beside a feature that says that it is missing."),
    ] = "mean"
    decimal: Annotated[Literal[".", ","], _table_option(help="Decimal sign of numbers in text.")] = "."
    encoding: Annotated[str, _table_option(help="Encoding of text files, such as latin-1.")] = "utf-8"
    text_model: Annotated[
        str | None,
        _table_option(
            help="Folder with a table of token vectors, by which texts are read beside their words; default: that of "
            "the extra 'text', if it is installed. 'words': count words only."
        ),
    ] = None
    featureless: Annotated[
        bool, _table_option("--featureless", help="Learn from the edges alone; no column is a feature.")
    ] = False
    data: DataFolder = None

    def load(self, shown: "Callable[[pd.DataFrame], pd.DataFrame] | None" = None) -> "LoadedGraph":
        """The benchmark graph, or the graph of the tables. shown: as for ``check_tables``."""
        if self.dataset and (self.nodes or self.edges):
            raise DccgcnError(
                f"Both {self.dataset!r} and tables were given.", "Name a benchmark graph or give two tables."
            )
        if self.dataset:
            return self._load_benchmark(self.dataset)
        tables, problems = self.check_tables(shown)
        if tables is None:
            raise problems[0]
        return LoadedGraph(tables.graph, {}, tables)

    def _load_benchmark(self, name: str) -> "LoadedGraph":
        from dccgcn.datasets import load

        dataset = load(name, self.data)
        if not self.directed:
            return LoadedGraph(dataset.graph, dataset.splits)
        if dataset.directed_edges is None:
            raise DccgcnError(f"The edges of {name} have no direction.", "Leave --directed out.")
        graph = dataset.graph.with_relations({"edges": dataset.directed_edges}, directed=True)
        return LoadedGraph(graph, dataset.splits)

    def check_tables(
        self, shown: "Callable[[pd.DataFrame], pd.DataFrame] | None" = None, **relaxed: Any
    ) -> "tuple[Tables | None, list[DccgcnError]]":
        """The graph of the tables, or everything that is wrong with them. relaxed: options to change."""
        from dccgcn.tables import TableOptions, check_tables, is_graphml

        if not self.nodes or not (self.edges or is_graphml(self.nodes)):
            missing = "--edges" if self.nodes else "--nodes" if self.edges else "A graph"
            raise DccgcnError(
                f"{missing} is missing.", "Give --nodes and --edges, or the name of a benchmark graph such as cora."
            )
        shared = {field.name for field in fields(self)} & {field.name for field in fields(TableOptions)}
        options = {name: getattr(self, name) for name in shared}
        options["features"] = self.features or None  # Typer gives an empty list where nothing was named
        with progress_bar("tables") as progress:
            changed = TableOptions(**{**options, **relaxed})
            return check_tables(self.nodes, edge_files(self.edges), changed, progress, shown)


@dataclass(frozen=True)
class LoadedGraph:
    """A graph and what was loaded with it."""

    graph: "NodeGraph"
    published_splits: "dict[str, Split]"
    tables: "Tables | None" = None  # None for a benchmark graph
