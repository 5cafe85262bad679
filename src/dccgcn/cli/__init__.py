"""The command line. Results go to standard output, everything else to standard error.

Commands import NumPy, pandas and other slow packages only when they run, so that --help is fast.
"""

import os
import sys
from typing import Annotated

import typer

from dccgcn import __version__
from dccgcn.cli import audit, compare, datasets, doctor, fit, label, methods, runs
from dccgcn.cli.display import errors, output, print_error
from dccgcn.cli.options import Command
from dccgcn.errors import DccgcnError

app = typer.Typer(
    name="dccgcn",
    help="Classify the nodes of a graph from a handful of labels, and see which predictions can be trusted.",
    epilog="Start with: dccgcn fit cora --labels-per-class 2 --report",
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        output.print(__version__)
        raise typer.Exit


for command in (
    fit.fit,
    runs.predict,
    runs.explain,
    label.label,
    runs.label_next,
    audit.audit,
    compare.compare,
    datasets.datasets,
    doctor.doctor,
    datasets.export,
    runs.report,
    methods.methods,
):
    app.command(command.__name__.replace("_", "-"), cls=Command)(command)


def main() -> None:
    """Run the command line. Exit codes: 0 success, 2 a user error, 130 interrupted by Ctrl-C."""
    try:
        app()
    except DccgcnError as error:
        print_error(error)
        sys.exit(2)
    except MemoryError:
        print_error(DccgcnError("The machine has too little free memory.", "dccgcn doctor says how much is needed."))
        sys.exit(2)
    except SystemExit as stop:
        if stop.code == 130:
            errors.print("Interrupted.")
        raise


def run_process() -> None:
    """Run the command line as a process of its own, which ends at once when it is interrupted.

    Unloading torch and numba may take seconds on a busy machine. Nothing depends on it: files are written atomically,
    and the system releases locks.
    """
    try:
        main()
    except SystemExit as stop:
        if stop.code == 130:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)
        raise
