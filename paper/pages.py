"""The files of the experiments: Markdown pages from templates, and figures."""

import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib.figure import Figure

from dccgcn import datasets
from dccgcn.text import markdown_table
from paper import choices, confidence, dcc_parts, figures, overview, published, tables, theorems
from paper.concord import ConcordPage
from paper.reading import reading
from paper.results import Results
from paper.signals import BINS
from paper.spec import Spec

Files = dict[str, str | bytes]
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
for module in (choices, confidence, dcc_parts, figures, overview, published, tables, theorems):
    own = {name: x for name, x in vars(module).items() if getattr(x, "__module__", "") == module.__name__}
    TEMPLATES.globals |= own
TEMPLATES.globals |= {"concord_page": ConcordPage, "reading": reading, "BINS": BINS}

# classes, features, nodes and edges as the paper's Table 1 prints them
TABLE1 = {
    "cora": (7, 1433, 2708, 5429),
    "citeseer": (6, 3703, 3327, 4732),
    "pubmed": (3, 500, 19717, 44338),
    "corafull": (70, 8710, 19793, 65331),
    "acm": (3, 1870, 3025, 13128),
    "flickr": (9, 12047, 7575, 239738),
    "uai2010": (19, 4973, 3067, 28311),
}


def rendered(template: str, **values: Any) -> str:
    """A page of a template; parts that are empty leave one blank line."""
    text = TEMPLATES.get_template(f"{template}.md.j2").render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def files_of(results: Results, command: str) -> Files:
    """The page of an experiment and its figures, by file name."""
    spec, drawn = results.spec, figures_of(results)
    page = rendered(
        "page",
        results=results,
        spec=spec,
        protocol=protocol(spec),
        figures=list(drawn),
        provenance=provenance(command, results.used()),
    )
    return {f"{spec.page or spec.name}.md": page, **{f"{name}.svg": figures.svg(one) for name, one in drawn.items()}}


def figures_of(results: Results) -> Mapping[str, Figure]:
    """The figures of a page by file name without ending."""
    name = results.spec.name
    match results.spec.kind:
        case "curves" if len(results.used()):
            return {name: figures.curves(results)}
        case "map" if "map" in results.used():
            return {name: figures.maps(results, datasets.load(results.spec.columns[0].dataset).graph.labels)}
        case "surface":
            return {name: figures.surface()}
        case "confidence":
            reliability, risk = figures.reliability_diagrams(results), figures.risk_coverage_curves(results)
            return {f"{name}-reliability": reliability, f"{name}-risk": risk}
    return {}


def readme(every: Sequence[Results], command: str) -> str:
    """docs/results/README.md: all experiments in the order of the paper, each with its main results."""
    used = pd.concat([results.used() for results in every]) if every else pd.DataFrame()
    return rendered("readme", every=every, provenance=provenance(command, used))


def table1_page() -> str:
    """The paper's Table 1 beside the counts of the graphs as they are read here."""
    rows: list[list[str]] = []
    same: list[str] = []
    fewer: list[str] = []
    for name, printed in TABLE1.items():
        info = datasets.describe(name)
        ours = (info.classes, info.features, info.nodes, info.pairs)
        cells = [f"{a:,}" if a == b else f"{a:,} / {b:,}" for a, b in zip(printed, ours, strict=True)]
        zero = "unknown" if info.zero_rows is None else f"{info.zero_rows:,}"
        rows.append([info.title, *cells, f"{info.isolated:,}", zero])
        if missing := printed[3] - info.pairs:
            fewer.append(f"{info.title} ({missing:,} fewer)")
        else:
            same.append(info.title)
    header = ["dataset", "classes", "features", "nodes", "edges", "nodes without edges", "nodes without features"]
    return rendered("table1", table=markdown_table(header, rows), fewer=fewer, same=same, n_graphs=len(TABLE1))


def protocol(spec: Spec) -> str:
    """How the numbers were measured."""
    if not spec.columns:
        return ""
    if all(column.is_drawn for column in spec.columns):
        how = "class-balanced evaluation splits (seeds from 0), without validation, tested on all other labelled nodes"
    else:
        how = "Planetoid's public split with its 500 validation nodes and 1000 test nodes, one seed each"
    runs = f"Mean ± standard deviation over {spec.runs} runs" if spec.runs > 1 else "One run"
    return f"{runs} on {how}. Every system is run on the same splits with its published settings."


def provenance(command: str, runs: pd.DataFrame) -> str:
    """Command, dates and processors of the runs, and the machine and versions that wrote the page."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    days = sorted(set(runs["date"])) if len(runs) else [today]
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    processors = sorted(set(runs.cpu.fillna("a processor that was not recorded"))) if len(runs) else []
    where = f" on {'; '.join(processors)}" if processors else ""
    packages = ", ".join(f"{name} {version(name)}" for name in ("dccgcn", "torch", "numba", "numpy", "scipy"))
    machine = f"{platform.system()} {platform.machine()}, {cpu_count()} cores"
    return (
        f"Measured by `{command}`, runs of {when}{where}; written on {today}, {machine}, "
        f"Python {platform.python_version()}, {packages}."
    )
