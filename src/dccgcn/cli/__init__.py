"""The command line. Results go to standard output, everything else to standard error."""

import sys

import typer

from dccgcn.cli import bench, datasets, fit, methods, reproduce
from dccgcn.cli.display import errors
from dccgcn.errors import DccgcnError

app = typer.Typer(
    name="dccgcn",
    help="Classify the nodes of a graph from a handful of labels, and see which answers can be trusted.",
    epilog="Start with: dccgcn fit cora --labels-per-class 2",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("fit")(fit.fit)
app.command("datasets")(datasets.datasets)
app.command("methods")(methods.methods)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(bench.app, name="bench")


def main() -> None:
    """Run the command line: 0 done, 2 the user's mistake, 130 stopped by Ctrl-C."""
    try:
        app()
    except DccgcnError as error:
        errors.print(f"[bold red]Error:[/] {error.what}", highlight=False, markup=True, soft_wrap=True)
        if error.remedy:
            errors.print(f"[bold]Remedy:[/] {error.remedy}", highlight=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        errors.print("Stopped.")
        sys.exit(130)
