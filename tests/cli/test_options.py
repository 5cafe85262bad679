"""Option groups: dataclasses whose fields become options of a command."""

from dataclasses import fields
from inspect import signature

import pytest

from dccgcn.cli.doctor import doctor
from dccgcn.cli.fit import SplitOptions, fit
from dccgcn.tables import HINTS, read_tables
from helpers.command import dccgcn, refused


def test_the_command_line_offers_the_options_of_tables():
    for command in (fit, doctor):
        offered = {name: p.default for name, p in signature(command).parameters.items() if name in HINTS}
        assert HINTS.keys() - offered.keys() == {"classes"}
        keywords = signature(read_tables).parameters
        assert all(default in (keywords[name].default, None) for name, default in offered.items())
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
