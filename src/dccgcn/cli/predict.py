"""dccgcn predict: nodes that were not there at training."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from dccgcn.cli.display import errors, output, print_findings, print_json, printable, table

# on the terminal; the file has all
_SHOWN = 20
_COLUMNS = ("node_id", "prediction", "probability", "trust", "channels_agree")


def predict(
    model: Annotated[Path, typer.Argument(help="Folder that [b]dccgcn fit … --out[/b] wrote.")],
    nodes: Annotated[Path, typer.Option(help="Table of the new nodes, with the columns of training.")],
    edges: Annotated[
        Path | None, typer.Option(help="Table of their edges, among themselves and to nodes of training.")
    ] = None,
    unknown_ids: Annotated[
        Literal["error", "drop"], typer.Option(help="What to do with edges to unknown ids.")
    ] = "error",
    encoding: Annotated[str, typer.Option(help="Of text files, such as latin-1.")] = "utf-8",
    threads: Annotated[int | None, typer.Option(help="Threads to use; default: one per core.", min=1)] = None,
    out: Annotated[Path | None, typer.Option(help="Write the answers to this CSV file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Classify nodes that were not there at training, without training again.

    The tables have the columns that the model was trained on; a label column is not needed. Without edges a node is
    known by its features alone.

    Example:

        dccgcn fit --nodes nodes.csv --edges edges.csv --label topic --out runs/mine

        dccgcn predict runs/mine --nodes more.csv --edges more-edges.csv --out answers.csv
    """
    from dccgcn.api import load_model
    from dccgcn.io.write import csv_text
    from dccgcn.runtime.files import write_atomically
    from dccgcn.runtime.threads import use_threads

    use_threads(threads)
    loaded = load_model(model)
    graph = loaded.read(nodes, edges, unknown_ids=unknown_ids, encoding=encoding)
    with errors.status("answering"):
        frame = loaded.predict(graph)
    if out:
        write_atomically(out, csv_text(frame, float_format="%.6f"))
    if json:
        found = [vars(finding) for finding in graph.findings]
        answers = frame.to_dict("records")
        print_json({"model": str(model), "method": loaded.result.method, "answers": answers, "findings": found})
        return
    brief = frame[[column for column in _COLUMNS if column in frame]]
    shown = table(f"{len(frame):,} new nodes, by {loaded.result.method} on {loaded.result.graph.name}", *brief.columns)
    for row in brief.head(_SHOWN).itertuples(index=False):
        shown.add_row(*(f"{cell:.2f}" if isinstance(cell, float) else printable(cell) for cell in row))
    output.print(shown)
    if len(frame) > _SHOWN:
        errors.print(f"… and {len(frame) - _SHOWN:,} more" + ("" if out else "; --out writes all"), highlight=False)
    print_findings(graph.findings)
    if out:
        errors.print(f"Written to {out}", highlight=False)
