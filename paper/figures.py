"""The paper's figures, drawn from the stored runs. Every curve has a marker as well as a colour."""

import io
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dccgcn.palette import MARKERS, OKABE_ITO, SURFACE, colours
from dccgcn.text import markdown_table
from paper import theory
from paper.confidence import pooled_bins, rankings
from paper.measure import MAP_UNITS, map_nodes
from paper.results import Results
from paper.signals import COVERAGES, FINAL, SIGNALS

_STYLE: Any = {
    "svg.hashsalt": "dccgcn", "svg.fonttype": "none", "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False,
}  # fmt: skip
_WIDTH, _HEIGHT = 3.2, 2.8  # of a panel, in inches
_DPI = 110  # of what is drawn as pixels: points of maps, and surfaces
GRID = np.linspace(0.02, 0.98, 49)  # accuracies of Figure 7
CLASSES = (3, 7, 70)


def svg(figure: Figure) -> bytes:
    """The picture as SVG; the same data give the same bytes."""
    buffer = io.BytesIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(buffer, format="svg", dpi=_DPI, metadata={"Date": None})
    return buffer.getvalue()


def panels(rows: int, columns: int) -> tuple[Figure, list[list[Axes]]]:
    """An empty figure, without global state."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH * columns, _HEIGHT * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, axes.tolist()


def _legend(figure: Figure, ax: Axes) -> None:
    """One for all panels, below them."""
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)


def curves(results: Results) -> Figure:
    """Figures 4 and 5: a panel per dataset, a curve per system and metric over the label rates."""
    spec = results.spec
    datasets = list(dict.fromkeys(column.dataset for column in spec.columns))
    figure, (axes,) = panels(1, len(datasets))
    named = [(system, metric) for system in spec.systems for metric in spec.metrics]
    for ax, dataset in zip(axes, datasets, strict=True):
        at = [c for c, column in enumerate(spec.columns) if column.dataset == dataset]
        for i, (system, metric) in enumerate(named):
            means = {c: results.cell(system, c, metric).ours for c in at}
            points = [(100 * spec.columns[c].amount, mean) for c, mean in means.items() if mean]
            x, y = [rate for rate, _ in points], [mean.mean for _, mean in points]
            error = [mean.std / np.sqrt(mean.n) if mean.std is not None else 0 for _, mean in points]
            name = system.name if len(spec.metrics) == 1 else spec.metrics[metric]
            style: dict[str, Any] = {"marker": MARKERS[i], "color": colours(len(named))[i], "capsize": 2}
            ax.errorbar(x, y, yerr=error, label=name, markersize=4, **style)
        ax.set(title=dataset, xlabel="label rate in %", ylabel="accuracy in %")
    _legend(figure, axes[0])
    return figure


def maps(results: Results, labels: np.ndarray) -> Figure:
    """Figure 6: a map of the embeddings of each system, coloured by true class."""
    systems = results.spec.systems
    figure, (axes,) = panels(1, len(systems))
    palette = np.array(colours(int(labels.max()) + 1))
    for ax, system in zip(axes, systems, strict=True):
        runs = results.runs(system, 0)
        ax.set(title=system.name, xticks=[], yticks=[])
        if "map" in runs:
            run = runs.loc[0]
            xy = np.reshape(run["map"], (-1, 2)) / MAP_UNITS
            classes = labels[map_nodes(labels, results.spec.map_nodes)]
            ax.scatter(xy[:, 0], xy[:, 1], s=1, c=palette[classes], linewidths=0, rasterized=True)
            ax.set_xlabel(f"accuracy {100 * run.accuracy:.1f} %, purity {100 * run.purity:.1f} %")
    return figure


def purity_table(results: Results) -> str:
    """How coherent the classes are on each map; empty without maps."""
    purities = {s.name: results.values(s, 0, "purity") for s in results.spec.systems}
    rows = [[name, f"{purity.iloc[0]:.1f}"] for name, purity in purities.items() if len(purity)]
    return markdown_table(["map", "ten nearest nodes of the same class, %"], rows) if rows else ""


def surfaces() -> dict[str, dict[int, np.ndarray]]:
    """Figure 7's data: each expression over the grid, (p1, p2), for 3, 7 and 70 classes."""
    p1, p2 = np.meshgrid(GRID, GRID, indexing="ij")
    bounds: dict[str, Callable[..., np.ndarray]] = {
        "Eq. 3, as printed": theory.upper_bound,
        "the smaller bound of Eq. 3 over both channels": theory.upper_bound_over_better,
        "counting right predictions only": theory.corrected_upper_bound,
    }
    return {name: {c: bound(p1, p2, c).round(5) for c in CLASSES} for name, bound in bounds.items()}


def surface() -> Figure:
    """Figure 7: a row per expression, a column per number of classes; the ridge is the best p2 for each p1."""
    bounds = surfaces()
    figure, axes = panels(len(bounds), len(CLASSES))
    for (name, by_classes), row in zip(bounds.items(), axes, strict=True):
        for (c, z), ax in zip(by_classes.items(), row, strict=True):
            drawn = ax.contourf(GRID, GRID, z.T, levels=12, cmap=SURFACE)
            drawn.set_rasterized(True)
            ax.plot(GRID, GRID[z.argmax(axis=1)], color=OKABE_ITO[3], linestyle="--", linewidth=1.5, clip_on=False)
            ax.set(title=f"{c} classes: {name}", xlabel="p1", ylabel="p2")
            ax.title.set_fontsize(7)
            figure.colorbar(drawn, ax=ax)
    return figure


def ridge_table() -> str:
    """For some p1, the p2 that maximises each expression of Figure 7; the paper says p2 = p1."""
    chosen = (0.5, 0.6, 0.7, 0.8, 0.9)
    at = [int(np.abs(GRID - p).argmin()) for p in chosen]
    rows = [
        [name, str(c), *(f"{GRID[z[i].argmax()]:.2f} ({z[i].max():.3f})" for i in at)]
        for name, by_classes in surfaces().items()
        for c, z in by_classes.items()
    ]
    return markdown_table(["p2 that maximises the bound (its value)", "classes", *(f"p1 = {p}" for p in chosen)], rows)


def reliability_diagrams(results: Results) -> Figure:
    """A panel per column: accuracy against confidence, a curve per system; above the diagonal is under-confident."""
    columns, systems = results.spec.columns, results.spec.systems
    figure, axes = _grid(len(columns))
    for c, ax in enumerate(axes[: len(columns)]):
        ax.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
        for i, system in enumerate(systems):
            bins = pooled_bins(results.first_runs(system, c))
            ax.plot(
                bins[:, 1],
                bins[:, 2],
                marker=MARKERS[i],
                markersize=3,
                color=colours(len(systems))[i],
                label=system.name,
            )
        ax.set(title=str(columns[c]), xlabel="confidence", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1))
    _legend(figure, axes[0])
    return figure


def risk_coverage_curves(results: Results) -> Figure:
    """A panel per column: risk among the most trusted predictions of the first system, a curve per signal."""
    spec = results.spec
    figure, axes = _grid(len(spec.columns))
    entries = [r for r in rankings(results) if r.system == spec.systems[0].name and r.part == FINAL]
    for column, ax in zip(map(str, spec.columns), axes, strict=False):
        for i, signal in enumerate(SIGNALS):
            for r in (r for r in entries if r.labels == column and r.signal == signal):
                if r.risk is not None:
                    style: dict[str, Any] = {"marker": MARKERS[i], "color": colours(len(SIGNALS))[i], "label": signal}
                    ax.plot(100 * COVERAGES, 100 * r.risk, markersize=3, **style)
        ax.set(title=column, xlabel="coverage in %", ylabel="wrong predictions in %")
    _legend(figure, axes[0])
    return figure


def _grid(n: int) -> tuple[Figure, list[Axes]]:
    figure, axes = panels(-(-n // 3), min(3, n))
    flat = [ax for row in axes for ax in row]
    for ax in flat[n:]:
        ax.set_axis_off()
    return figure, flat
