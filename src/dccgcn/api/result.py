"""run: fit a method on a graph; Result: what it returns."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.artifacts.notebook import summary_html, summary_text
from dccgcn.artifacts.notebook_bar import notebook_bar
from dccgcn.artifacts.report import write_report
from dccgcn.artifacts.report.rows import OwnTable
from dccgcn.artifacts.run_folder import save_run
from dccgcn.errors import DccgcnError, SettingsError
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split, check_training
from dccgcn.io.convert import MASKS_NOT_USED, from_pyg, has_masks, is_pyg, split_from_pyg
from dccgcn.io.tables import Tables
from dccgcn.io.write import csv_pieces, csv_text, write_frames
from dccgcn.models.base import Method
from dccgcn.models.registry import get_method
from dccgcn.progress import Progress
from dccgcn.runtime.outputs import check_file, write_output
from dccgcn.runtime.ray_cluster import RayWorkers
from dccgcn.settings import Settings
from dccgcn.workflow.class_summary import ranking
from dccgcn.workflow.run import Run, fit_and_measure, target_frame
from dccgcn.workflow.suspect_labels import suspect_frame


@dataclass(frozen=True, eq=False, repr=False)
class Result(Run):
    """The predictions of one run, with its measurements and the ways to keep them.

    ``run`` makes it. Fractions are between 0 and 1, and None where the split has no test nodes.

    Attributes
    ----------
    graph, split, method, settings, seed
        What was run.
    prediction : Prediction
        Class probabilities, trust and channels, one row per node.
    accuracy, macro_f1 : float or None
        On the test nodes.
    channel_accuracy : dict of str to float
        Accuracy of each channel alone.
    agreement : float or None
        Fraction of test nodes on which the channels agree.
    accuracy_high, accuracy_low_before, accuracy_low_after : float or None
        Accuracy where the channels agree; where they disagree, before and after correction.
    corrected : float or None
        Fraction of test nodes whose prediction was corrected from neighbours.
    findings : tuple of Finding
        What was unusual about graph, split and fit.
    seconds, threads, device
        Of the fit.
    tables : Tables or None
        How the nodes were read, if ``run`` was given tables.

    Examples
    --------
    >>> from dccgcn import load_dataset, per_class, run
    >>> cora = load_dataset("cora").graph
    >>> result = run(cora, per_class(cora, 2, seed=0))
    >>> result.to_frame().columns.tolist()[:5]
    ['node_id', 'prediction', 'trust', 'channels_agree', 'prediction_own']
    >>> result.accuracy > 0.5
    True
    """

    tables: Tables | None = None

    @classmethod
    def from_run(cls, run: Run, tables: Tables | None = None) -> "Result":
        """The same run with the methods of a Result."""
        return cls(**vars(run), tables=tables)

    def __repr__(self) -> str:
        return summary_text(self)

    def _repr_html_(self) -> str:
        return summary_html(self)

    def to_frame(self, probabilities: bool = False, abstain_below: float | None = None) -> pd.DataFrame:
        """One row per node to classify, in the columns of predictions.csv.

        Parameters
        ----------
        probabilities : bool, default False
            Add a column ``probability_<class>`` for each class.
        abstain_below : float, optional
            Add a column ``abstain``: yes where trust is below this number.

        Returns
        -------
        DataFrame
            ``node_id``; ``name`` if the nodes have names; ``prediction``; ``trust``, or ``probability`` where the
            method does not estimate trust; ``channels_agree`` (yes or no) and ``prediction_<channel>`` for methods with
            channels; ``role`` (train, validation, test, unused or unlabelled); ``label``.
        """
        return target_frame(self, probabilities, abstain_below)

    def suspect_labels(self) -> pd.DataFrame:
        """Training labels that look wrong: predicted from all others, these nodes are clearly of another class.

        Returns
        -------
        DataFrame
            Most suspect first: ``node_id``; ``name`` if the nodes have names; ``label``; ``prediction`` without that
            label; the probabilities of both; ``channels_against``, the weight of the channels that predict another
            class than the label. Empty for methods other than Concord.
        """
        return suspect_frame(self.graph, self.split.train, self.prediction)

    def to_csv(
        self,
        path: str | Path | None = None,
        probabilities: bool = False,
        abstain_below: float | None = None,
        overwrite: bool = False,
    ) -> str | None:
        """Write ``to_frame()`` as CSV that is safe to open in a spreadsheet.

        Parameters
        ----------
        path : str or Path, optional
            File to write. Omitted: the text is returned.
        probabilities, abstain_below
            As for ``to_frame``.
        overwrite : bool, default False
            Replace a file that dccgcn wrote, which is an error otherwise.
        """
        frame = self.to_frame(probabilities, abstain_below)
        if path is None:
            return csv_text(frame, float_format="%.6f")
        write_output(path, csv_pieces(frame, float_format="%.6f"), overwrite)
        return None

    def write(
        self,
        path: str | Path,
        probabilities: bool = False,
        abstain_below: float | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Write ``to_frame()`` in the form of the file's ending: .csv, .parquet, .sqlite or .duckdb.

        Parameters
        ----------
        path : str or Path
            In a database the rows go to the table ``predictions``.
        probabilities, abstain_below
            As for ``to_frame``.
        overwrite : bool, default False
            Replace a file, or the table of a database, that dccgcn wrote, which is an error otherwise.
        progress : callable, optional
            Called with the name of a task, the steps done and all steps.
        """
        write_frames({"predictions": self.to_frame(probabilities, abstain_below)}, path, overwrite, progress)

    def ranking(self, class_name: Any) -> pd.DataFrame:
        """The predicted nodes by falling probability of one class: where to look for the nodes of a rare class.

        Parameters
        ----------
        class_name
            One of ``graph.classes``.

        Returns
        -------
        DataFrame
            ``class``, ``rank``, ``node_id``, ``name`` if the nodes have names, ``probability``, ``prediction``.
        """
        return ranking(self.graph, self.split, self.prediction, class_name)

    def embeddings(self) -> pd.DataFrame:
        """What the method knows of each node as a vector: for a map, for neighbours, for a model of your own.

        Returns
        -------
        DataFrame
            One row per node, indexed by its id. Of methods with several embeddings, such as those of two channels, all
            columns beside one another, called ``<embedding>_<number>``.

        Examples
        --------
        >>> from dccgcn import load_dataset, per_class, run
        >>> cora = load_dataset("cora").graph
        >>> len(run(cora, per_class(cora, 2, seed=0)).embeddings())
        2708
        """
        parts = self.prediction.embeddings
        if not parts:
            raise DccgcnError(f"{self.method} has no embeddings.", "Use concord, or a network such as gcn.")
        columns = [f"{name}_{i}" for name, rows in parts.items() for i in range(rows.shape[1])]
        index = pd.Index(self.graph.ids, name="node_id")
        return pd.DataFrame(np.hstack(list(parts.values())), index=index, columns=columns)

    def save(
        self,
        folder: str | Path,
        tables: Tables | None = None,
        overwrite: bool = False,
        probabilities: bool = False,
        abstain_below: float | None = None,
        command: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Write predictions.csv, result.json, settings.yaml, split.json and the model to a folder.

        All files are written, or none: an earlier run in the folder is there until the new one is complete.
        ``load_model`` reads the folder.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist. Refused if it holds any file that no run wrote.
        tables : Tables, optional
            What ``read_tables`` returned, so that the loaded model can read new nodes from tables. Not needed if
            ``run`` was given it.
        overwrite : bool, default False
            Replace an earlier run in the folder, which is an error otherwise.
        probabilities, abstain_below
            Columns of predictions.csv, as for ``to_frame``.
        command : str, optional
            What was typed to make the run; settings.yaml keeps it.
        progress : callable, optional
            As for ``write``.
        """
        frame = self.to_frame(probabilities, abstain_below)
        save_run(self, folder, tables or self.tables, overwrite, frame, command, progress)

    def report(self, path: str | Path, overwrite: bool = False, rows: pd.DataFrame | None = None) -> None:
        """Write a report of the run: one HTML file that needs no network.

        Parameters
        ----------
        path : str or Path
            The HTML file.
        overwrite : bool, default False
            Replace an earlier report, which is an error otherwise.
        rows : DataFrame, optional
            Your table of nodes, in the order of the graph. The page then shows the row of each node.
        """
        check_file(path, overwrite)
        label = None if self.tables is None else self.tables.columns.label
        write_report(self, path, overwrite, table=None if rows is None else OwnTable(rows, label))


def run(
    graph: NodeGraph | Tables,
    split: Split | None = None,
    method: Method | str = "concord",
    settings: Settings | Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    device: str = "cpu",
    scratch: str | Path | None = None,
    ray: str | RayWorkers | None = None,
) -> Result:
    """Classify the nodes of a graph, and measure the predictions on the test nodes of a split.

    Parameters
    ----------
    graph : NodeGraph, Tables, PyG Data or HeteroData
        With labels on some nodes. ``read_tables`` gives Tables. Of a PyG object the masks are the split; ``from_pyg``
        says how a HeteroData is read.
    split : Split, optional
        Training and test nodes. Omitted: every labelled node trains, and nothing is measured; use this to classify
        a graph of your own.
    method : str or Method
        See ``dccgcn methods``.
    settings : Settings or mapping, optional
        Options of the method, such as ``{"k": 10}``. Those that are not given are the ones published for a graph of
        this name, or else the defaults.
    seed : int
        Of everything random in training; 0 or larger.
    progress : callable, optional
        Called with (stage, steps done, steps in all). Omitted: in a notebook, a bar shows them after two seconds.
    device : str
        A torch device, such as ``"cuda"``. Methods that solve in NumPy and SciPy stay on the CPU.
    scratch : path, optional
        A folder for large graphs, in which Concord keeps its operators and views, memory-mapped. A run that was killed
        continues from its last finished stage when it is repeated. The folder is emptied at the end.

    ray : str or RayWorkers, optional
        Address of a Ray cluster on whose CPUs Concord's views, channels and predictions are computed, block of rows by
        block; ``"auto"`` is the one on this machine. Its machines must share the folder of ``scratch``.

    Returns
    -------
    Result

    Examples
    --------
    >>> import numpy as np
    >>> from dccgcn import NodeGraph, run
    >>> graph = NodeGraph(np.eye(4) + 0.1, [(0, 1), (2, 3)], ["a", None, "b", None])
    >>> run(graph).to_frame()["prediction"].tolist()
    ['a', 'a', 'b', 'b']
    """
    tables = graph if isinstance(graph, Tables) else None
    if tables is not None:
        graph = tables.graph
    elif is_pyg(graph):
        data, graph = graph, from_pyg(graph)
        if split is None and has_masks(data):
            split = split_from_pyg(data, graph)
            graph = graph.with_findings([finding for finding in graph.findings if finding.code != MASKS_NOT_USED])
    if not isinstance(graph, NodeGraph):
        remedy = "Build one: NodeGraph(features, edges, labels), dccgcn.read_tables, from_networkx or from_igraph."
        raise DccgcnError(f"run takes a NodeGraph, not a {type(graph).__name__}.", remedy)
    if split is not None and not isinstance(split, Split):
        remedy = "Draw one with per_class or by_rate, or build one from node positions: dccgcn.graph.splits.published."
        raise DccgcnError(f"The split is a {type(split).__name__}, not a Split.", remedy)
    method = get_method(method) if isinstance(method, str) else method
    if not isinstance(settings, Settings):
        settings = method.published_settings(graph.name, settings)
    split = Split.from_parts(graph, "all-labels", graph.labelled, [], []) if split is None else split
    split.check(graph)
    check_training(graph, split.train)
    if seed < 0:
        raise DccgcnError(f"The seed is {seed}.", "Seeds are whole numbers from 0 up.")
    if ray is not None:
        if method.on_ray is None:
            raise SettingsError(f"{method.name} runs on one machine only.", "Leave ray out, or use concord.")
        method = replace(method, fit=method.on_ray(RayWorkers(ray) if isinstance(ray, str) else ray))
    with staged_graph(graph, method, settings, scratch) as kept, notebook_bar() as bar:
        done = fit_and_measure(kept, split, method, settings, seed, progress=progress or bar, device=device)
    return Result.from_run(done, tables)


def staged_graph(
    graph: NodeGraph, method: Method, settings: Settings, scratch: str | Path | None
) -> AbstractContextManager[NodeGraph]:
    """The graph as it is, or with its cached values in a scratch folder."""
    if scratch is None:
        return nullcontext(graph)
    if method.staged is None:
        raise SettingsError(f"{method.name} keeps nothing in a scratch folder.", "Leave scratch out, or use concord.")
    return method.staged(graph, settings, Path(scratch))
