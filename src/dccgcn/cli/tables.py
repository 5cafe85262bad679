"""The options of commands that read a graph: a benchmark's name, or two tables."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dccgcn.errors import DccgcnError

if TYPE_CHECKING:
    from dccgcn.io.tables import Tables

_GROUP = "Your own tables"

Name = Annotated[
    str | None, typer.Argument(help="A benchmark graph: see [b]dccgcn datasets[/b]. cora needs no download.")
]
Nodes = Annotated[
    Path | None,
    typer.Option(help="Table of nodes: CSV, TSV (plain or gzip) or Parquet, with a header.", rich_help_panel=_GROUP),
]
Edges = Annotated[Path | None, typer.Option(help="Table of edges, two columns of ids.", rich_help_panel=_GROUP)]
Label = Annotated[
    str | None, typer.Option(help="Column of the labels; an empty cell is unlabelled.", rich_help_panel=_GROUP)
]
Id = Annotated[str | None, typer.Option("--id", help="Column of the ids of the nodes.", rich_help_panel=_GROUP)]
Features = Annotated[
    list[str] | None,
    typer.Option(help="Feature column, or a pattern such as 'w*'; may be repeated.", rich_help_panel=_GROUP),
]
Text = Annotated[list[str] | None, typer.Option(help="Column of free text; may be repeated.", rich_help_panel=_GROUP)]
Categorical = Annotated[
    list[str] | None, typer.Option(help="Column of classes; may be repeated.", rich_help_panel=_GROUP)
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(help="Column or pattern that is no feature; may be repeated.", rich_help_panel=_GROUP),
]
Source = Annotated[str | None, typer.Option(help="Column of one end of an edge.", rich_help_panel=_GROUP)]
Target = Annotated[str | None, typer.Option(help="Column of its other end.", rich_help_panel=_GROUP)]
Weight = Annotated[str | None, typer.Option(help="Column of the edges' weights.", rich_help_panel=_GROUP)]
Unlabelled = Annotated[
    list[str] | None,
    typer.Option(help="A label that means unlabelled, such as '?'; may be repeated.", rich_help_panel=_GROUP),
]
UnknownIds = Annotated[
    Literal["error", "drop"], typer.Option(help="What to do with edges to unknown ids.", rich_help_panel=_GROUP)
]
Impute = Annotated[
    Literal["error", "zero", "mean"], typer.Option(help="What to do with missing numbers.", rich_help_panel=_GROUP)
]
Encoding = Annotated[str, typer.Option(help="Of text files, such as latin-1.", rich_help_panel=_GROUP)]
Featureless = Annotated[
    bool,
    typer.Option(
        "--featureless",
        help="Learn from the edges alone: no column of the nodes is a feature.",
        rich_help_panel=_GROUP,
    ),
]


@dataclass(frozen=True)
class TableOptions:
    """What the command line says about two tables."""

    nodes: Path | None
    edges: Path | None
    label: str | None = None
    id: str | None = None
    features: list[str] | None = None
    text: list[str] | None = None
    categorical: list[str] | None = None
    ignore: list[str] | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    unlabelled: list[str] | None = None
    unknown_ids: Literal["error", "drop"] = "error"
    impute: Literal["error", "zero", "mean"] = "error"
    encoding: str = "utf-8"
    featureless: bool = False

    def given_instead_of(self, name: str | None) -> bool:
        """Whether the graph comes from tables rather than a benchmark; an error if neither or both are named."""
        if name and (self.nodes or self.edges):
            raise DccgcnError(f"Both {name!r} and tables were given.", "Name a benchmark graph or give two tables.")
        if not name and not (self.nodes and self.edges):
            missing = "--edges" if self.nodes else "--nodes" if self.edges else "A graph"
            raise DccgcnError(
                f"{missing} is missing.", "Give --nodes and --edges, or the name of a benchmark graph such as cora."
            )
        return not name

    def read(self) -> "Tables":
        """The graph of the two tables."""
        from dccgcn.io.tables import read_tables

        assert self.nodes is not None  # see given_instead_of
        assert self.edges is not None
        return read_tables(
            self.nodes,
            self.edges,
            label=self.label,
            id=self.id,
            features=self.features or None,
            text=self.text or (),
            categorical=self.categorical or (),
            ignore=self.ignore or (),
            source=self.source,
            target=self.target,
            weight=self.weight,
            unlabelled=self.unlabelled or (),
            unknown_ids=self.unknown_ids,
            impute=self.impute,
            encoding=self.encoding,
            featureless=self.featureless,
        )
