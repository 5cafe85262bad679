"""run: fit a method on a graph; Result: what it returns."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dccgcn.artifacts.report import write_report
from dccgcn.artifacts.run_folder import check_report_path, save_run
from dccgcn.errors import DccgcnError
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split, check_training
from dccgcn.io.tables import Tables
from dccgcn.models.base import Method
from dccgcn.models.registry import get_method
from dccgcn.progress import Progress
from dccgcn.runtime.files import write_atomically
from dccgcn.settings import Settings
from dccgcn.workflow.run import Run, fit_and_measure, run_csv, run_frame


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

    @classmethod
    def from_run(cls, run: Run) -> "Result":
        """The same run with the methods of a Result."""
        return cls(**vars(run))

    def to_frame(self) -> pd.DataFrame:
        """One row per node, in the columns of predictions.csv.

        Returns
        -------
        DataFrame
            ``node_id``, ``prediction``; ``trust``, or ``probability`` where the method does not estimate trust;
            ``channels_agree`` (yes or no) and ``prediction_<channel>`` for methods with channels;
            ``role`` (train, validation, test, unused or unlabelled); ``label``.
        """
        return run_frame(self)

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Write ``to_frame()`` as CSV that is safe to open in a spreadsheet.

        Parameters
        ----------
        path : str or Path, optional
            File to write. Omitted: the text is returned.
        """
        text = run_csv(self)
        if path is None:
            return text
        write_atomically(path, text)
        return None

    def save(self, folder: str | Path, tables: Tables | None = None, overwrite: bool = False) -> None:
        """Write predictions.csv, result.json, settings.yaml, split.json and the model to a folder.

        All files are written, or none: an earlier run in the folder is there until the new one is complete.
        ``load_model`` reads the folder.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist. Refused if it holds any file that no run wrote.
        tables : Tables, optional
            What ``read_tables`` returned, so that the loaded model can read new nodes from tables.
        overwrite : bool, default False
            Replace an earlier run in the folder, which is an error otherwise.
        """
        save_run(self, folder, tables, overwrite)

    def report(self, path: str | Path, overwrite: bool = False) -> None:
        """Write a report of the run: one HTML file that needs no network.

        Parameters
        ----------
        path : str or Path
            The HTML file.
        overwrite : bool, default False
            Replace a file that is not a report, which is an error otherwise. An earlier report is always replaced.
        """
        check_report_path(Path(path), overwrite)
        write_report(self, path)


def run(
    graph: NodeGraph,
    split: Split | None = None,
    method: Method | str = "concord",
    settings: Settings | Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    device: str = "cpu",
) -> Result:
    """Classify the nodes of a graph, and measure the predictions on the test nodes of a split.

    Parameters
    ----------
    graph : NodeGraph
        With labels on some nodes.
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
        Called with (stage, steps done, steps in all).
    device : str
        A torch device, such as ``"cuda"``. Methods that solve in NumPy and SciPy stay on the CPU.

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
    if not isinstance(graph, NodeGraph):
        remedy = "Build one: NodeGraph(features, edges, labels), or from_pyg, from_networkx of dccgcn.io.convert."
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
    return Result.from_run(fit_and_measure(graph, split, method, settings, seed, progress=progress, device=device))
