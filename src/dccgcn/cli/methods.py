"""dccgcn methods: what can be fitted."""

from typing import Annotated

import typer

from dccgcn.cli.display import output, print_json, table


def methods(json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """List the methods with a line and a reference each."""
    from dccgcn.methods import METHODS

    if json:
        print_json([{"name": m.name, "summary": m.summary, "reference": m.reference} for m in METHODS.values()])
        return
    shown = table("Methods", "name", "what it does", "reference")
    for column in shown.columns:
        column.justify = "left"
    for m in METHODS.values():
        shown.add_row(m.name, m.summary, m.reference)
    output.print(shown)
