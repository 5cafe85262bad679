"""The files of one experiment: a Markdown page, its data as JSON, and figures."""

import json
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count
from typing import Any

import numpy as np

from dccgcn import datasets
from dccgcn.experiments import figures
from dccgcn.experiments.choices import choices_body, defaults_list
from dccgcn.experiments.concord import concord_body
from dccgcn.experiments.confidence import confidence_body, confidence_json
from dccgcn.experiments.overview import overview_body
from dccgcn.experiments.published import published_body
from dccgcn.experiments.reading import reading
from dccgcn.experiments.results import Results
from dccgcn.experiments.rows import RunRow
from dccgcn.experiments.spec import Spec
from dccgcn.experiments.tables import table_body
from dccgcn.experiments.theorems import theorems_body, theorems_json
from dccgcn.text import markdown_table

Files = dict[str, str | bytes]
_COUNTS_ITSELF = ("published", "concord")  # pages that name what is missing


@dataclass(frozen=True)
class Content:
    """What differs between kinds of pages."""

    body: str
    data: dict[str, Any] | None = None  # for the JSON file
    figures: dict[str, Any] = field(default_factory=dict)  # by file name without ending
    closing: str = ""  # after the interpretation


def content_of(results: Results) -> Content:
    """The content of a page of any kind."""
    name = results.spec.name
    match results.spec.kind:
        case "table":
            return Content(table_body(results), results.to_json())
        case "curves":
            drawn = {name: figures.curves(results)} if results.used() else {}
            return Content(table_body(results), results.to_json(), drawn)
        case "map":
            return _map_content(results)
        case "surface":
            data = {"experiment": name, "title": results.spec.title, **figures.surfaces()}
            return Content(ridge_table(data), data, {name: figures.surface(data)})
        case "theorems":
            return Content(theorems_body(results), theorems_json(results))
        case "confidence":
            reliability, risk = figures.reliability_diagrams(results), figures.risk_coverage_curves(results)
            drawn = {f"{name}-reliability": reliability, f"{name}-risk": risk}
            return Content(confidence_body(results), confidence_json(results), drawn)
        case "overview":
            return Content(overview_body(results))
        case "choices":
            return Content(choices_body(results), closing=defaults_list(results))
        case "published":
            return Content(published_body(results))
        case "concord":
            return Content(concord_body(results))


def files_of(results: Results, command: str) -> Files:
    """Contents by file name."""
    spec, content = results.spec, content_of(results)
    page = spec.page or spec.name
    files: Files = {}
    if content.data is not None:
        files[f"{page}.json"] = json.dumps(content.data, indent=1) + "\n"
    for name, figure in content.figures.items():
        files |= {f"{name}.{kind}": image for kind, image in figures.saved(figure).items()}
    images = [f"![{spec.title}]({name}.svg)" for name in content.figures]
    parts = [f"# {spec.title}", f"The paper: {spec.claim}" if spec.claim else "", spec.intro or protocol(spec)]
    left = "" if spec.kind in _COUNTS_ITSELF else results.runs_left()
    parts += [left, *images, content.body, reading(results), content.closing, provenance(command, results.used())]
    files[f"{page}.md"] = "\n\n".join(part for part in parts if part) + "\n"
    return files


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


def provenance(command: str, rows: Iterable[RunRow]) -> str:
    """Command, dates and processors of the runs, and the machine and versions that wrote the page."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    rows = list(rows)
    days = sorted({row.date for row in rows}) or [today]
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    processors = sorted({row.cpu or "a processor that was not recorded" for row in rows})
    where = f" on {'; '.join(processors)}" if processors else ""
    packages = ", ".join(f"{name} {version(name)}" for name in ("dccgcn", "torch", "numba", "numpy", "scipy"))
    machine = f"{platform.system()} {platform.machine()}, {cpu_count()} cores"
    return (
        f"Measured by `{command}`, runs of {when}{where}; written on {today}, {machine}, "
        f"Python {platform.python_version()}, {packages}."
    )


def _map_content(results: Results) -> Content:
    """Figure 6: accuracies, purity of the maps, and the maps."""
    found = {system.name: results.runs(system, 0).get(0) for system in results.spec.systems}
    maps = {name: row.picture for name, row in found.items() if row and row.picture}
    data = {**results.to_json(), "maps": {name: picture.model_dump() for name, picture in maps.items()}}
    if not maps:
        return Content(table_body(results), data)
    rows = [[name, f"{100 * picture.purity:.1f}"] for name, picture in maps.items()]
    purity = markdown_table(["map", "ten nearest nodes of the same class, %"], rows)
    drawn = figures.maps(results, datasets.load(results.spec.columns[0].dataset).graph.labels)
    return Content(f"{table_body(results)}\n\n{purity}", data, {results.spec.name: drawn})


def ridge_table(data: dict[str, Any]) -> str:
    """For some p1, the p2 that maximises each expression of Figure 7; the paper says p2 = p1."""
    p1, p2 = np.array(data["p1"]), np.array(data["p2"])
    chosen = (0.5, 0.6, 0.7, 0.8, 0.9)
    at = [int(np.abs(p1 - p).argmin()) for p in chosen]
    rows = []
    for name, by_classes in data["bounds"].items():
        for c, values in by_classes.items():
            z = np.array(values)  # (p1, p2)
            rows.append([name, c, *(f"{p2[z[i].argmax()]:.2f} ({z[i].max():.3f})" for i in at)])
    return markdown_table(["p2 that maximises the bound (its value)", "classes", *(f"p1 = {p}" for p in chosen)], rows)
