"""dccgcn methods: list the methods and their settings."""

from typing import TYPE_CHECKING, Annotated

import typer

from dccgcn.cli.display import output, print_json, table
from dccgcn.cli.options import Json

if TYPE_CHECKING:
    from dccgcn.models.base import Method


def methods(
    name: Annotated[str | None, typer.Argument(help="A method whose settings to show.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List all methods with their references, or the settings of one method.

    Examples:

        dccgcn methods

        dccgcn methods concord
    """
    from dccgcn.models.registry import METHODS, get_method

    if name is not None:
        _describe(get_method(name), json)
        return
    if json:
        print_json([{"name": m.name, "summary": m.summary, "reference": m.reference} for m in METHODS.values()])
        return
    shown = table("Methods", "name", "what it does", "reference")
    for column in shown.columns:
        column.justify = "left"
    for m in METHODS.values():
        shown.add_row(m.name, m.summary, m.reference)
    output.print(shown)


def _describe(method: "Method", json: bool) -> None:
    """Print what a method does, and each setting with its default and meaning."""
    settings, fields = method.settings(), method.settings.model_fields
    listed = [
        {"name": option, "default": value, "meaning": fields[option].description}
        for option, value in settings.model_dump().items()
    ]
    if json:
        about = {"name": method.name, "summary": method.summary, "reference": method.reference}
        print_json({**about, "predicts_new_nodes": method.predict_new is not None, "settings": listed})
        return
    shown = table(f"{method.name}: {method.summary}", "setting", "default", "meaning")
    shown.columns[-1].justify = "left"
    for option in listed:
        shown.add_row(str(option["name"]), str(option["default"]), str(option["meaning"] or ""))
    output.print(shown)
    verb = "predicts" if method.predict_new else "cannot predict"
    output.print(f"{method.reference}. It {verb} nodes that are added after training.", soft_wrap=True)
