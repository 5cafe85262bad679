"""dccgcn methods: list the methods and their settings."""

from typing import Annotated

import typer

from dccgcn.cli.display import output, print_json, table
from dccgcn.cli.options import Json


def methods(
    name: Annotated[str | None, typer.Argument(help="A method whose settings to show.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List all methods with their references, or the settings of one method.

    Examples:

        dccgcn methods

        dccgcn methods concord
    """
    from dccgcn.methods.registry import ENTRIES

    if name is not None:
        _describe(name, json)
        return
    if json:
        print_json([{"name": name, "summary": e.summary, "reference": e.reference} for name, e in ENTRIES.items()])
        return
    shown = table("Methods", "name", "what it does", "reference")
    for column in shown.columns:
        column.justify = "left"
    for name, entry in ENTRIES.items():
        shown.add_row(name, entry.summary, entry.reference)
    output.print(shown)


def _describe(name: str, json: bool) -> None:
    """Print what a method does, and each setting with its default and meaning."""
    from dccgcn.methods.registry import ENTRIES, get_method

    method, entry = get_method(name), ENTRIES[name]
    settings, fields = method.settings(), method.settings.model_fields
    listed = [
        {"name": option, "default": value, "meaning": fields[option].description}
        for option, value in settings.model_dump().items()
    ]
    if json:
        about = {"name": name, "summary": entry.summary, "reference": entry.reference}
        print_json({**about, "predicts_new_nodes": method.predict_new is not None, "settings": listed})
        return
    shown = table(f"{name}: {entry.summary}", "setting", "default", "meaning")
    shown.columns[-1].justify = "left"
    for option in listed:
        shown.add_row(str(option["name"]), str(option["default"]), str(option["meaning"] or ""))
    output.print(shown)
    verb = "predicts" if method.predict_new else "cannot predict"
    output.print(f"{entry.reference}. It {verb} nodes that are added after training.", soft_wrap=True)
