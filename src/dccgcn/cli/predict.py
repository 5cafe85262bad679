"""dccgcn predict: classify new nodes with a trained model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dccgcn.cli.display import errors, output, print_findings, print_json, printable, table
from dccgcn.cli.options import NEW_FILE, AbstainBelow, Json, Overwrite, Probabilities, Threads, edge_files

if TYPE_CHECKING:
    import pandas as pd

# printed; the file of --out has all rows and columns
_MAX_ROWS = 20
_COLUMNS = ("node_id", "name", "prediction", "probability", "trust", "abstain", "channels_agree")


def predict(
    model: Annotated[Path, typer.Argument(help="Folder that [b]dccgcn fit … --out[/b] wrote.")],
    nodes: Annotated[Path, typer.Option(help="Table of the new nodes, with the columns of the training table.")],
    edges: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Table of edges among the new nodes and to training nodes. Of several relations: a table of each, "
            "called as at training or given as cites=FILE.",
        ),
    ] = None,
    unknown_ids: Annotated[
        Literal["error", "drop"], typer.Option(help="What to do with edges to unknown ids.")
    ] = "error",
    encoding: Annotated[str, typer.Option(help="Encoding of text files, such as latin-1.")] = "utf-8",
    decimal: Annotated[Literal[".", ","], typer.Option(help="Decimal sign of numbers in text.")] = ".",
    probabilities: Probabilities = False,
    abstain_below: AbstainBelow = None,
    threads: Threads = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar=NEW_FILE, help="Write the predictions to this file: .csv, .parquet, .sqlite or .duckdb."),
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Classify new nodes with a trained model, without training again.

    The tables need the columns that the model was trained on, except the labels. A node without edges is classified
    from its features alone.

    Examples:

        dccgcn fit --nodes nodes.csv --edges edges.csv --label topic --out runs/mine

        dccgcn predict runs/mine --nodes more.csv --edges more-edges.csv --out predictions.csv
    """
    from dccgcn.runtime.threads import use_threads
    from dccgcn.store.model import load_model
    from dccgcn.tables.write import write_frames

    use_threads(threads)
    loaded = load_model(model)
    graph = loaded.read(nodes, edge_files(edges), unknown_ids=unknown_ids, encoding=encoding, decimal=decimal)
    with errors.status("predicting"):
        frame = loaded.predict(graph, probabilities=probabilities, abstain_below=abstain_below)
    if out:
        write_frames({"predictions": frame}, out, overwrite)
    if json:
        found = [vars(finding) for finding in graph.findings]
        rows = frame.to_dict("records")
        print_json({"model": str(model), "method": loaded.result.method, "predictions": rows, "findings": found})
        return
    print_new_nodes(frame, f"{loaded.result.method} on {loaded.result.graph.name}")
    if len(frame) > _MAX_ROWS:
        errors.print(f"… and {len(frame) - _MAX_ROWS:,} more" + ("" if out else "; --out writes all"), highlight=False)
    print_findings(graph.findings)
    if out:
        errors.print(f"Written to {out}", highlight=False)


def print_new_nodes(frame: "pd.DataFrame", model: str) -> None:
    """The first rows of the predictions."""
    brief = frame[[column for column in _COLUMNS if column in frame]]
    shown = table(f"{len(frame):,} new nodes: {model}", *brief.columns)
    for row in brief.head(_MAX_ROWS).itertuples(index=False):
        shown.add_row(*(f"{cell:.2f}" if isinstance(cell, float) else printable(cell) for cell in row))
    output.print(shown)
