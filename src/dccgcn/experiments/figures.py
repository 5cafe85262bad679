"""The paper's figures, drawn from the stored runs. Every curve has a marker as well as a colour."""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dccgcn.evaluation import theory
from dccgcn.evaluation.signals import COVERAGES
from dccgcn.experiments.confidence import SIGNALS, metrics_of, pooled_bins, rankings
from dccgcn.experiments.results import Results
from dccgcn.palette import MARKERS, OKABE_ITO, SURFACE, colours
from dccgcn.runtime.extras import missing_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLE: Any = {
    "svg.hashsalt": "dccgcn", "svg.fonttype": "none", "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False,
}  # fmt: skip
_WIDTH, _HEIGHT = 3.2, 2.8  # of a panel, in inches
GRID = np.linspace(0.02, 0.98, 49)  # accuracies of Figure 7
CLASSES = (3, 7, 70)


def saved(figure: "Figure") -> dict[str, bytes]:
    """The same picture as SVG and as PNG; the same data give the same bytes."""
    import matplotlib

    files = {}
    stamps: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "png": {"Software": None}}
    for kind, metadata in stamps.items():
        buffer = io.BytesIO()
        with matplotlib.rc_context(_STYLE):
            figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
        files[kind] = buffer.getvalue()
    return files


def panels(rows: int, columns: int) -> "tuple[Figure, list[list[Axes]]]":
    """An empty figure, without global state."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("matplotlib", "figures") from None
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH * columns, _HEIGHT * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, axes.tolist()


def _legend(figure: "Figure", ax: "Axes") -> None:
    """One for all panels, below them."""
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)


def curves(results: Results) -> "Figure":
    """Figures 4 and 5: a panel per dataset, a curve per system and metric over the label rates."""
    spec = results.spec
    datasets = list(dict.fromkeys(column.dataset for column in spec.columns))
    figure, (axes,) = panels(1, len(datasets))
    named = [(system, metric) for system in spec.systems for metric in spec.metrics]
    for ax, dataset in zip(axes, datasets, strict=True):
        at = [c for c, column in enumerate(spec.columns) if column.dataset == dataset]
        for i, (system, metric) in enumerate(named):
            means = {c: results.cell(system, c, metric).ours for c in at}
            known = [(100 * spec.columns[c].amount, mean) for c, mean in means.items() if mean]
            x, y = [rate for rate, _ in known], [mean.mean for _, mean in known]
            error = [mean.std / np.sqrt(mean.n) if mean.std is not None else 0 for _, mean in known]
            name = system.name if len(spec.metrics) == 1 else spec.metrics[metric]
            style: dict[str, Any] = {"marker": MARKERS[i], "color": colours(len(named))[i], "capsize": 2}
            ax.errorbar(x, y, yerr=error, label=name, markersize=4, **style)
        ax.set(title=dataset, xlabel="label rate in %", ylabel="accuracy in %")
    _legend(figure, axes[0])
    return figure


def maps(results: Results, labels: np.ndarray) -> "Figure":
    """Figure 6: a map of the embeddings of each system, coloured by true class."""
    systems = results.spec.systems
    figure, (axes,) = panels(1, len(systems))
    palette = np.array(colours(int(labels.max()) + 1))
    for ax, system in zip(axes, systems, strict=True):
        row = results.runs(system, 0).get(0)
        ax.set(title=system.name, xticks=[], yticks=[])
        if row and row.picture:
            xy = np.array(row.picture.xy)
            ax.scatter(xy[:, 0], xy[:, 1], s=1, c=palette[labels[row.picture.nodes]], linewidths=0, rasterized=True)
            ax.set_xlabel(f"accuracy {100 * row.accuracy:.1f} %, purity {100 * row.picture.purity:.1f} %")
    return figure


def surfaces() -> dict[str, Any]:
    """Figure 7's data: each expression over the grid, for 3, 7 and 70 classes."""
    p1, p2 = np.meshgrid(GRID, GRID, indexing="ij")
    bounds: dict[str, Callable[..., np.ndarray]] = {
        "Eq. 3, as printed": theory.upper_bound,
        "the smaller bound of Eq. 3 over both channels": theory.upper_bound_over_better,
        "counting right predictions only": theory.corrected_upper_bound,
    }
    values = {name: {str(c): bound(p1, p2, c).round(5).tolist() for c in CLASSES} for name, bound in bounds.items()}
    return {"p1": GRID.round(4).tolist(), "p2": GRID.round(4).tolist(), "bounds": values}


def surface(data: dict[str, Any]) -> "Figure":
    """Figure 7: a row per expression, a column per number of classes; the ridge is the best p2 for each p1."""
    figure, axes = panels(len(data["bounds"]), len(CLASSES))
    p1, p2 = np.array(data["p1"]), np.array(data["p2"])
    for (name, by_classes), row in zip(data["bounds"].items(), axes, strict=True):
        for c, ax in zip(CLASSES, row, strict=True):
            z = np.array(by_classes[str(c)])  # (p1, p2)
            drawn = ax.contourf(p1, p2, z.T, levels=12, cmap=SURFACE)
            ax.plot(p1, p2[z.argmax(axis=1)], color=OKABE_ITO[3], linestyle="--", linewidth=1.5, clip_on=False)
            ax.set(title=f"{c} classes: {name}", xlabel="p1", ylabel="p2")
            ax.title.set_fontsize(7)
            figure.colorbar(drawn, ax=ax)
    return figure


def reliability_diagrams(results: Results) -> "Figure":
    """A panel per column: accuracy against confidence, a curve per system; above the diagonal is under-confident."""
    columns, systems = results.spec.columns, results.spec.systems
    figure, axes = _grid(len(columns))
    for c, ax in enumerate(axes[: len(columns)]):
        ax.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
        for i, system in enumerate(systems):
            bins = pooled_bins(metrics_of(results, system, c))
            x, y = [one[1] for one in bins], [one[2] for one in bins]
            ax.plot(x, y, marker=MARKERS[i], markersize=3, color=colours(len(systems))[i], label=system.name)
        ax.set(title=str(columns[c]), xlabel="confidence", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1))
    _legend(figure, axes[0])
    return figure


def risk_coverage_curves(results: Results) -> "Figure":
    """A panel per column: risk among the most trusted predictions of the first system, a curve per signal."""
    spec = results.spec
    figure, axes = _grid(len(spec.columns))
    found = [r for r in rankings(results) if r.system == spec.systems[0].name and r.part == "final"]
    for column, ax in zip(map(str, spec.columns), axes, strict=False):
        for i, signal in enumerate(SIGNALS):
            for r in (r for r in found if r.labels == column and r.signal == signal):
                risk = [100 * x for x in r.risk]
                ax.plot(100 * COVERAGES, risk, marker=MARKERS[i], markersize=3, color=colours(6)[i], label=signal)
        ax.set(title=column, xlabel="coverage in %", ylabel="wrong predictions in %")
    _legend(figure, axes[0])
    return figure


def _grid(n: int) -> "tuple[Figure, list[Axes]]":
    figure, axes = panels(-(-n // 3), min(3, n))
    flat = [ax for row in axes for ax in row]
    for ax in flat[n:]:
        ax.set_axis_off()
    return figure, flat
