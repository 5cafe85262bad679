"""dccgcn methods: what can be fitted."""

from typing import TYPE_CHECKING, Annotated

import typer

from dccgcn.cli.display import output, print_json, table

if TYPE_CHECKING:
    from dccgcn.models.base import Method


def methods(
    name: Annotated[str | None, typer.Argument(help="One method: show its settings.", show_default=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the methods with a line and a reference each, or the settings of one.

    Examples:

        dccgcn methods

        dccgcn methods concord
    """
    from dccgcn.models.registry import METHODS, get_method

    if name is not None:
        _one(get_method(name), json)
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


def _one(method: "Method", json: bool) -> None:
    """What it does, and every setting with its default and meaning."""
    settings, fields = method.settings(), method.settings.model_fields
    listed = [
        {"name": option, "default": value, "meaning": fields[option].description}
        for option, value in settings.model_dump().items()
    ]
    if json:
        about = {"name": method.name, "summary": method.summary, "reference": method.reference}
        print_json({**about, "answers_for_new_nodes": method.predict_new is not None, "settings": listed})
        return
    shown = table(f"{method.name}: {method.summary}", "setting", "default", "meaning")
    shown.columns[-1].justify = "left"
    for option in listed:
        shown.add_row(str(option["name"]), str(option["default"]), str(option["meaning"] or ""))
    output.print(shown)
    new = "answers" if method.predict_new else "does not answer"
    output.print(f"{method.reference}. It {new} for nodes that come after training.", soft_wrap=True)
