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
    from dccgcn.methods import ENTRIES

    if name is not None:
        _describe(name, json)
    elif json:
        print_json([{"name": name, "summary": e.summary, "reference": e.reference} for name, e in ENTRIES.items()])
    else:
        shown = table("Methods", "name", "what it does", "reference", text=(0, 1, 2))
        for name, entry in ENTRIES.items():
            shown.add_row(name, entry.summary, entry.reference)
        output.print(shown)


def _describe(name: str, json: bool) -> None:
    """Print what a method does, and each setting with its default and meaning."""
    from dccgcn.methods import ENTRIES, get_method

    method, entry = get_method(name), ENTRIES[name]
    fields = method.settings.model_fields
    settings = [
        {"name": setting, "default": value, "meaning": fields[setting].description}
        for setting, value in method.settings().model_dump().items()
    ]
    if json:
        about = {"name": name, "summary": entry.summary, "reference": entry.reference}
        print_json({**about, "predicts_new_nodes": method.predict_new is not None, "settings": settings})
        return
    shown = table(f"{name}: {entry.summary}", "setting", "default", "meaning", text=(0, 2))
    for setting in settings:
        shown.add_row(str(setting["name"]), str(setting["default"]), str(setting["meaning"] or ""))
    output.print(shown)
    verb = "predicts" if method.predict_new else "cannot predict"
    output.print(f"{entry.reference}. It {verb} nodes that are added after training.", soft_wrap=True)
