"""Option groups: dataclasses whose fields become options of a command."""

from dataclasses import fields

import pytest

from dccgcn.cli.doctor import doctor
from dccgcn.cli.fit import SplitOptions, fit
from dccgcn.cli.options import GraphOptions
from dccgcn.tables.columns import TableOptions
from helpers.command import dccgcn, refused


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
