"""Options that commands share, and a decorator that turns dataclasses of options into options of a command."""

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from dccgcn.cli.display import progress_bar
from dccgcn.errors import DccgcnError
from dccgcn.runtime import check_output, check_writable
from dccgcn.tables import DEFAULTS, HINTS, TableOptions

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
            name: group(**{f.name: _popped(f.name, hints_of(group)[f.name], values) for f in fields(group)})
            for name, group in groups.items()
        }
        command(**built, **values)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


hints_of = partial(get_type_hints, include_extras=True)


def _popped(name: str, hint: Any, values: dict[str, Any]) -> Any:
    """The value of a field, taken from the values of a command; of table options those that were named."""
    if hint is not TableOptions:
        return values.pop(name)
    given = {option: values.pop(option) for option in _TABLE_PARAMETERS}
    return {option: value for option, value in given.items() if value not in (None, [])}


def _field_parameters(group: Any) -> list[inspect.Parameter]:
    parameters: list[inspect.Parameter] = []
    for f in fields(group):
        if (hint := hints_of(group)[f.name]) is TableOptions:
            parameters += _TABLE_PARAMETERS.values()
        else:
            default = inspect.Parameter.empty if f.default is MISSING else f.default
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(f.name, kind, default=default, annotation=hint))
    return parameters


_table_option = partial(typer.Option, rich_help_panel="Your own tables")


def _table_parameter(name: str, hint: Any) -> inspect.Parameter:
    """An option of ``read_tables`` as one of the command line; a list is an option that may be repeated."""
    kind, text = get_args(hint)
    default: Any = DEFAULTS[name]
    is_list = "Sequence" in str(kind)
    declared = [f"--{name}"] if default is False or name in ("id", "name") else []
    option = _table_option(*declared, help=f"{text[:-1]}; may be repeated." if is_list else text)
    annotation: Any = Annotated[list[str] | None if is_list else Path | None if kind is Any else kind, option]
    default = None if is_list else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


# label has --classes of its own: classes that no node of the table has yet
_TABLE_PARAMETERS = {name: _table_parameter(name, hint) for name, hint in HINTS.items() if name != "classes"}
EDGES_HELP = (
    "Table of edges, or a folder of them: two columns of node ids. Repeated, each table is a relation (a kind of "
    "edges) that is called like its file, or as in cites=FILE."
)


def edge_files(options: "Sequence[str] | None") -> "list[Path] | dict[str, Path] | None":
    """The files of --edges; by the names of their relations if some are given as NAME=FILE."""
    if not options:
        return None
    named = [
        text.split("=", 1) if "=" in text.partition("?")[0] and not Path(text).exists() else ("", text)
        for text in options
    ]
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
            "Parquet files; or a GraphML or GML file."
        ),
    ] = None
    edges: Annotated[list[str] | None, _table_option(metavar="FILE", help=EDGES_HELP)] = None
    tables: TableOptions = field(default_factory=TableOptions)  # each is an option of its own
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
        if not self.tables.get("directed"):
            return LoadedGraph(dataset.graph, dataset.splits)
        if dataset.directed_edges is None:
            raise DccgcnError(f"The edges of {name} have no direction.", "Leave --directed out.")
        graph = dataset.graph.with_relations({"edges": dataset.directed_edges}, directed=True)
        return LoadedGraph(graph, dataset.splits)

    def check_tables(
        self, shown: "Callable[[pd.DataFrame], pd.DataFrame] | None" = None, **relaxed: Any
    ) -> "tuple[Tables | None, list[DccgcnError]]":
        """The graph of the tables, or everything that is wrong with them. relaxed: options to change."""
        from dccgcn.tables import check_tables, is_graph_file

        if not self.nodes or not (self.edges or is_graph_file(self.nodes)):
            missing = "--edges" if self.nodes else "--nodes" if self.edges else "A graph"
            raise DccgcnError(
                f"{missing} is missing.", "Give --nodes and --edges, or the name of a benchmark graph such as cora."
            )
        options: Any = {**self.tables, **relaxed}
        with progress_bar("tables") as progress:
            return check_tables(self.nodes, edge_files(self.edges), options, progress, shown)


@dataclass(frozen=True)
class LoadedGraph:
    """A graph and what was loaded with it."""

    graph: "NodeGraph"
    published_splits: "dict[str, Split]"
    tables: "Tables | None" = None  # None for a benchmark graph
