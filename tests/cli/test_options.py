"""Option groups: dataclasses whose fields become options of a command."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from dccgcn.cli.doctor import doctor
from dccgcn.cli.fit import SplitOptions, fit
from dccgcn.cli.options import GraphOptions, with_option_groups
from dccgcn.tables.columns import TableOptions
from helpers.command import dccgcn, refused


@dataclass(frozen=True)
class Colours:
    shade: Annotated[str, typer.Argument(help="A shade.")]
    mix: Annotated[list[str] | None, typer.Option(help="Colours to mix.", rich_help_panel="Mixing")] = None
    mode: Annotated[Literal["add", "subtract"], typer.Option(help="How to mix.")] = "add"


@dataclass(frozen=True)
class Canvas:
    colours: Annotated[int, typer.Option(help="Number of colours.", min=1)] = 3  # the name of a group's parameter


def paint(colours: Colours, canvas: Canvas, out: Annotated[Path | None, typer.Option(help="A file.")] = None) -> None:
    """Paint."""
    print(colours, canvas, out)


@pytest.fixture
def run():
    app = typer.Typer()
    app.command()(with_option_groups(paint))
    return lambda *arguments: CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})


def test_a_command_receives_its_groups_filled_by_name(run):
    done = run("red", "--mix", "a", "--mix", "b", "--mode", "subtract", "--colours", "5", "--out", "x.png")
    assert done.output.split("\n")[0] == f"{Colours('red', ['a', 'b'], 'subtract')} {Canvas(5)} x.png"
    assert run("red").output.split("\n")[0].endswith(f"{Canvas()} None")


def test_help_shows_texts_defaults_and_panels(run):
    shown = run("--help").output
    for text in ("Paint.", "A shade.", "Colours to mix.", "Mixing", "--mode", "[default: add]", "A file."):
        assert text in shown


def test_missing_and_wrong_values_are_refused(run):
    assert run().exit_code == 2
    assert run("red", "--mode", "divide").exit_code == 2
    assert run("red", "--colours", "0").exit_code == 2


def test_two_groups_with_one_option_are_refused():
    def twice(one: Canvas, other: Canvas) -> None: ...

    with pytest.raises(ValueError, match="colours"):
        with_option_groups(twice)


def test_the_command_line_offers_the_options_of_tables():
    offered = {field.name for field in fields(GraphOptions)}
    assert {field.name for field in fields(TableOptions)} - offered == {"classes", "scale", "name"}
    for field in fields(TableOptions):
        if field.name in offered:  # equal defaults; Typer writes an empty list as None
            assert getattr(GraphOptions, field.name) in (field.default, None)
    for command in (fit, doctor):
        assert offered <= set(command.__annotations__)
    assert {field.name for field in fields(SplitOptions)} <= set(fit.__annotations__)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "A graph is missing"),
        (("--nodes", "n.csv"), "--edges is missing"),
        (("--edges", "e.csv"), "--nodes is missing"),
        (("cora", "--nodes", "n.csv"), "Both 'cora' and tables"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "doctor"])
def test_one_graph_must_be_named(command, arguments, words):
    refused(dccgcn(command, *arguments), words)
