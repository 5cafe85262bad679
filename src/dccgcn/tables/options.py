"""TableOptions: how tables are read. Keywords of ``read_tables`` and options of the command line are made of it.

It imports nothing heavy, since every command reads it when it starts.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import Annotated, Any, Literal, TypedDict, get_args, get_origin, get_type_hints

from dccgcn.errors import GraphError, check_choice
from dccgcn.text import did_you_mean

Impute = Literal["mean", "zero", "error"]
UnknownIds = Literal["error", "drop"]
Decimal = Literal[".", ","]


class TableOptions(TypedDict, total=False):
    """What may be said about tables; what is not said is detected, and a finding tells the choice."""

    label: Annotated[str | None, "Column of the labels. An empty cell, or -1 among whole numbers, means unlabelled."]
    labels: Annotated[Any, "A further table of ids and labels, which are added to those of the nodes."]
    id: Annotated[str | None, "Column of the node ids."]
    name: Annotated[str | None, "Column with a name of each node, shown beside its id."]
    classify: Annotated[Sequence[str], "Classify only nodes with COLUMN=VALUE, such as type=movie."]
    classes: Annotated[Sequence[Any] | None, "Names of the classes, in order; any other label is an error."]
    unlabelled: Annotated[Sequence[Any], "A label that means unlabelled, such as '?'."]
    bins: Annotated[int | None, "Make so many classes of labels that are numbers, each with as many nodes."]
    features: Annotated[Sequence[str] | None, "Feature column, or a pattern such as 'w*'. Default: all other columns."]
    text: Annotated[Sequence[str], "Feature column of free text."]
    categorical: Annotated[Sequence[str], "Feature column of categories."]
    ignore: Annotated[Sequence[str], "Column, or pattern, that is no feature."]
    text_model: Annotated[
        str | None,
        "Folder with a table of token vectors (tokenizer.json, model.safetensors), by which texts are read beside "
        "their words. Default: that of the extra 'text', if it is installed. 'words': count words only.",
    ]
    source: Annotated[str | None, "Column of an edge's first node."]
    target: Annotated[str | None, "Column of an edge's second node."]
    weight: Annotated[str | None, "Column of the edge weights."]
    relation: Annotated[
        str | None,
        "Column of the edges that says of which kind each is, such as cites or coauthor. Each kind is a relation with "
        "channels of its own, weighted by what it is worth on this graph.",
    ]
    directed: Annotated[bool, "Edges lead from source to target; each direction gets channels of its own."]
    unknown_ids: Annotated[UnknownIds, "Whether an edge with an id that is not among the nodes is refused or dropped."]
    impute: Annotated[Impute, "What a missing number becomes, beside a feature that says that it is missing."]
    scale: Annotated[bool, "Standardise dense columns of numbers to mean 0 and variance 1."]
    decimal: Annotated[Decimal, "Decimal sign of numbers in text."]
    encoding: Annotated[str, "Encoding of text files, such as latin-1."]
    featureless: Annotated[bool, "Learn from the edges alone; no column is a feature."]
    graph_name: Annotated[str | None, "Name of the graph. Default: that of the table of nodes."]


HINTS: Mapping[str, Any] = get_type_hints(TableOptions, include_extras=True)
_GIVEN: TableOptions = {"unknown_ids": "error", "impute": "mean", "scale": True, "decimal": ".", "encoding": "utf-8"}
_EMPTY = {bool: False, Sequence[str]: (), Sequence[Any]: ()}  # None for all others
DEFAULTS: Any = {**{name: _EMPTY.get(get_args(hint)[0]) for name, hint in HINTS.items()}, **_GIVEN}


def checked_options(given: TableOptions) -> TableOptions:
    """All options: those given, checked, and the defaults of the others. A single name counts as a list of one."""
    options: dict[str, Any] = {**DEFAULTS, **given}
    for name, value in options.items():
        if name not in HINTS:
            raise GraphError(
                f"There is no option {name!r}.{did_you_mean(name, HINTS)}", f"There are: {', '.join(HINTS)}."
            )
        hint = get_args(HINTS[name])[0]
        if get_origin(hint) is Literal:
            check_choice(name, value, get_args(hint))
        elif hint == str | None and not isinstance(value, str | None):
            raise GraphError(f"{name}={value!r} is not the name of one column.", f"Give text: {name}='topic'.")
        elif "Sequence" in str(hint) and (value is not None or DEFAULTS[name] is not None):
            options[name] = (value,) if isinstance(value, str) else tuple(value or ())
    if options["bins"] is not None and options["bins"] < 2:
        raise GraphError(f"bins={options['bins']} makes no classes.", "Give two or more.")
    return options  # type: ignore[return-value]


def with_table_options(function: Callable[..., Any]) -> Any:
    """Show the options in the signature and the docstring of a function that takes them as its last keywords."""
    kind, told = inspect.Parameter.KEYWORD_ONLY, []
    signature = inspect.signature(function)
    keywords = []
    for name, hint in HINTS.items():
        type_, help_ = get_args(hint)
        default = DEFAULTS[name]
        keywords.append(inspect.Parameter(name, kind, default=default, annotation=type_))
        told.append(f"    {name} : {inspect.formatannotation(type_)}, default {default!r}")
        told.append(fill(help_, 112, initial_indent=" " * 8, subsequent_indent=" " * 8))
    others = list(signature.parameters.values())[:-1]
    function.__signature__ = signature.replace(parameters=[*others, *keywords])  # type: ignore[attr-defined]
    function.__doc__ = (function.__doc__ or "").replace("    **options\n", "\n".join([*told, ""]))
    return function
