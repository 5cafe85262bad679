"""The paper's figures, drawn from what was measured. Nothing here hangs on colour alone."""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dccgcn.errors import DccgcnError
from dccgcn.evaluation import theory
from dccgcn.evaluation.signals import COVERAGES
from dccgcn.experiments.confidence import SIGNALS, judged, pooled_bins, rankings
from dccgcn.experiments.experiment import Experiment
from dccgcn.experiments.measured import Rows, entry, label
from dccgcn.palette import MARKERS, OKABE_ITO, SURFACE, colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLE: Any = {
    "svg.hashsalt": "dccgcn",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
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


def panels(rows: int, columns: int, width: float = 3.2, height: float = 2.8) -> "tuple[Figure, list[list[Axes]]]":
    """An empty figure; no state outside of it."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise DccgcnError("matplotlib is not installed.", "Install it with: pip install 'dccgcn[figures]'.") from None
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, axes.tolist()


def _legend(figure: "Figure", ax: "Axes") -> None:
    """One for all panels, below them, where it hides nothing."""
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)


def curves(e: Experiment, rows: Rows) -> "Figure":
    """Figures 4 and 5: a panel per dataset, a curve per line and metric over the label rates."""
    datasets = list(dict.fromkeys(column.dataset for column in e.columns))
    figure, (axes,) = panels(1, len(datasets))
    named = [(line, metric) for line in e.lines for metric in e.metrics]
    for ax, dataset in zip(axes, datasets, strict=True):
        at = [c for c, column in enumerate(e.columns) if column.dataset == dataset]
        for i, (line, metric) in enumerate(named):
            found = {c: entry(e, rows, line, c, metric, {}).ours for c in at}
            known = [(100 * e.columns[c].amount, s) for c, s in found.items() if s]
            x, y = [rate for rate, _ in known], [s.mean for _, s in known]
            error = [s.std / np.sqrt(s.n) if s.std is not None else 0 for _, s in known]
            called = line.name if len(e.metrics) == 1 else e.metrics[metric]
            look: dict[str, Any] = {
                "marker": MARKERS[i],
                "color": colours(len(named))[i],
                "capsize": 2,
                "markersize": 4,
            }
            ax.errorbar(x, y, yerr=error, label=called, **look)
        ax.set(title=dataset, xlabel="label rate in %", ylabel="accuracy in %")
    _legend(figure, axes[0])
    return figure


def maps(e: Experiment, rows: Rows, classes: Callable[[str], Any]) -> "Figure":
    """Figure 6: a map of the embeddings for each line, coloured by true class."""
    figure, (axes,) = panels(1, len(e.lines))
    column = e.columns[0]
    labels = classes(column.dataset)
    palette = np.array(colours(int(labels.max()) + 1))
    for ax, line in zip(axes, e.lines, strict=True):
        row = rows.get(e.keys.get((line.name, 0, 0), ""), {})
        ax.set(title=line.name, xticks=[], yticks=[])
        if "picture" in row:
            xy = np.array(row["picture"]["xy"])
            ax.scatter(
                xy[:, 0], xy[:, 1], s=1, c=palette[labels[row["picture"]["nodes"]]], linewidths=0, rasterized=True
            )
            ax.set_xlabel(f"accuracy {100 * row['accuracy']:.1f} %, purity {100 * row['picture']['purity']:.1f} %")
    return figure


def surfaces() -> dict[str, Any]:
    """Figure 7's data: each expression over the grid, for 3, 7 and 70 classes."""
    p1, p2 = np.meshgrid(GRID, GRID, indexing="ij")
    bounds: dict[str, Callable[..., np.ndarray]] = {
        "Eq. 3, as printed": theory.upper_bound,
        "the smaller of Eq. 3's for either channel": theory.upper_bound_over_better,
        "counting right answers only": theory.corrected_upper_bound,
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


def reliability_diagrams(e: Experiment, rows: Rows) -> "Figure":
    """A panel per column: accuracy against confidence, a curve per line; above the diagonal is under-confident."""
    figure, axes = _grid(len(e.columns))
    for c, ax in enumerate(axes[: len(e.columns)]):
        ax.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
        for i, line in enumerate(e.lines):
            bars = pooled_bins(list(judged(e, rows, line, c).values()))
            x, y = [bar[1] for bar in bars], [bar[2] for bar in bars]
            ax.plot(x, y, marker=MARKERS[i], markersize=3, color=colours(len(e.lines))[i], label=line.name)
        ax.set(title=label(e.columns[c]), xlabel="confidence", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1))
    _legend(figure, axes[0])
    return figure


def risk_coverage_curves(e: Experiment, rows: Rows) -> "Figure":
    """A panel per column: risk among the most trusted answers of the first line, a curve per signal."""
    figure, axes = _grid(len(e.columns))
    found = [r for r in rankings(e, rows) if r.line == e.lines[0].name and r.of == "answer"]
    for column, ax in zip(e.columns, axes, strict=False):
        for i, signal in enumerate(SIGNALS):
            for r in (r for r in found if r.labels == label(column) and r.signal == signal):
                risk = [100 * x for x in r.risk]
                ax.plot(100 * COVERAGES, risk, marker=MARKERS[i], markersize=3, color=colours(6)[i], label=signal)
        ax.set(title=label(column), xlabel="coverage in %", ylabel="wrong answers in %")
    _legend(figure, axes[0])
    return figure


def _grid(n: int) -> "tuple[Figure, list[Axes]]":
    figure, axes = panels(-(-n // 3), min(3, n))
    flat = [ax for row in axes for ax in row]
    for ax in flat[n:]:
        ax.set_axis_off()
    return figure, flat
