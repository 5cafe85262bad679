"""dccgcn audit: check trusted predictions by hand, and bound the share of wrong ones."""

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dccgcn.cli.display import errors, output, print_json, print_note
from dccgcn.cli.options import NEW_FILE, Json
from dccgcn.errors import DccgcnError
from dccgcn.text import printable, truncate

if TYPE_CHECKING:
    from dccgcn.label import RunAudit

_KEYS = "Enter: right · number: another class · s: cannot be told (counts as wrong) · u: undo · q: stop"


def audit(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder that [b]dccgcn fit … --out[/b] wrote.")],
    bound: Annotated[
        float, typer.Option(help="Share of wrong predictions to rule out; sets the number of checks.")
    ] = 0.05,
    checks: Annotated[int | None, typer.Option(help="Number of checks to plan instead.", min=1)] = None,
    confidence: Annotated[float, typer.Option(help="Probability with which the bound holds.")] = 0.95,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the draw, to repeat it; default: unpredictable.", min=0)
    ] = None,
    nodes: Annotated[Path | None, typer.Option(help="The table of nodes of the run, to show their rows.")] = None,
    draw: Annotated[
        Path | None,
        typer.Option(metavar=NEW_FILE, help="Write the drawn predictions to this new CSV file, to fill in."),
    ] = None,
    checked: Annotated[
        Path | None, typer.Option(help="Read the answers from such a file: columns node_id, label.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Who checks; default: the user of this computer.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Draw again instead of continuing the last audit.")] = False,
    json: Json = False,
) -> None:
    """Draw trusted predictions at random, ask whether they are right, and state how many are wrong at most.

    The bound is exact and assumes nothing but the random draw. Every answer is saved at once; repeat the command to go
    on. The result is written to the run's folder, its report and its model card. In a table, the label ? means that the
    class cannot be told; it counts as wrong.

    Examples:

        dccgcn audit runs/topics --bound 0.05

        dccgcn audit runs/topics --draw checks.csv

        dccgcn audit runs/topics --checked checks.csv
    """
    from dccgcn.label import open_audit, status

    who = " ".join(printable(name or getpass.getuser()).split()) or "someone"
    plan: dict[str, Any] = {"bound": bound, "checks": checks, "confidence": confidence, "seed": seed}
    with open_audit(run, who, nodes=nodes, new=new, **plan) as opened:
        if draw:
            opened.write_draw(draw)
            print_note(f"Written to {draw}: {opened.audit.draw.planned} predictions to check")
            return
        if checked:
            print_note(f"{opened.read_checks(checked, who)} new answers")
        elif not json:
            _ask_all(opened, who)
        summary, now = opened.save(), status(opened.audit)
    if json:
        print_json({**now, "summary": summary.model_dump() if summary else None})
        return
    if summary is None:
        raise DccgcnError("No prediction was checked yet.", f"Repeat the command to check {now['planned']} of them.")
    output.print(summary.sentence().replace("\u00a0", " "), soft_wrap=True)
    if not now["done"]:
        left = now["planned"] - now["checked"]
        print_note(f"{left} of the {now['planned']} planned checks are left; the bound for these is tighter.")


def _ask_all(opened: "RunAudit", who: str) -> None:
    """Show the next prediction and record the answer, until the planned checks are done or the person stops."""
    from dccgcn.label import next_check

    print_note(_KEYS)
    while len(opened.audit.checked) < opened.audit.draw.planned and (node := next_check(opened.audit)) is not None:
        _show(opened, node)
        prediction, classes = opened.audit.predictions[node], opened.classes
        while (answer := _key(len(classes))) is None:
            print_note(_KEYS)
        if answer == "q":
            return
        if answer == "u":
            opened.undo(who)
        elif answer.isdecimal():
            opened.check(who, node, classes[int(answer) - 1])
        else:
            opened.check(who, node, "" if answer == "s" else prediction)


def _show(opened: "RunAudit", node: str) -> None:
    """The row of a node, its prediction and the classes with their numbers."""
    audit = opened.audit
    cells, more = opened.source.row(opened.source.position[node])
    errors.rule(f"{len(audit.answers) + 1} of {audit.draw.planned}")
    for column, value in cells[:20]:
        print_note(truncate(f"{printable(column)}: {printable(value)}", 400))
    if (hidden := more + max(0, len(cells) - 20)) > 0:
        print_note(f"… and {hidden} more columns")
    print_note(f"Node {truncate(printable(node), 60)} was predicted: {audit.predictions[node]}")
    print_note("  ".join(f"{number} {printable(label)}" for number, label in enumerate(opened.classes, 1)))


def _key(n_classes: int) -> str | None:
    """What was typed: Enter (an empty text), s, u, q or the number of a class; None if it is something else."""
    errors.print("? ", end="")
    try:
        answer = input().strip().lower()
    except EOFError:
        return "q"
    is_class = answer.isdecimal() and 1 <= int(answer) <= n_classes
    return answer if is_class or answer in ("", "s", "u", "q") else None
