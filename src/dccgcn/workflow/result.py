"""Result: what a method predicted for a graph, how accurate it was, and the ways to keep it."""

import platform
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dccgcn import __version__
from dccgcn.errors import DccgcnError, Finding
from dccgcn.graph import NodeGraph, Split, check_training
from dccgcn.methods import Prediction
from dccgcn.progress import Progress
from dccgcn.quality import (
    ClassBalance,
    ClassRow,
    TrustedNodes,
    class_balance,
    class_findings,
    class_table,
    metrics,
    predicted_nodes,
    ranking,
    rare_class_scores,
    trusted_nodes,
)
from dccgcn.runtime import check_file
from dccgcn.settings import Settings
from dccgcn.tables import Tables, write_frames
from dccgcn.workflow.explain import Explanation, explain
from dccgcn.workflow.frames import target_frame
from dccgcn.workflow.suspect_labels import suspect_frame

_PACKAGES = ("torch", "torch_geometric", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The predictions of one run, with its measurements and the ways to keep them.

    ``run`` makes it. Fractions are between 0 and 1, and None where the split has no test nodes.

    Attributes
    ----------
    graph, split, method, settings, seed
        What was run.
    prediction : Prediction
        Class probabilities, trust and channels, one row per node.
    seconds, threads, device
        Of the fit; the seconds include operators that were not built before.
    tables : Tables or None
        How the nodes were read, if ``run`` was given tables.

    Examples
    --------
    >>> from dccgcn import load_dataset, per_class, run
    >>> cora = load_dataset("cora").graph
    >>> result = run(cora, per_class(cora, 2, seed=0))
    >>> result.to_frame().columns.tolist()[:5]
    ['node_id', 'prediction', 'trust', 'trusted', 'channels_agree']
    >>> result.accuracy > 0.5
    True
    """

    graph: NodeGraph
    split: Split
    method: str
    settings: Settings
    seed: int
    prediction: Prediction
    seconds: float
    threads: int
    device: str = "cpu"
    tables: Tables | None = None

    @cached_property
    def accuracy(self) -> float | None:
        """Share of the test nodes whose prediction is right."""
        return self._accuracy(self.prediction.y_pred)

    @cached_property
    def macro_f1(self) -> float | None:
        """Mean F1 over the classes of the test nodes."""
        test = self.split.test
        return metrics.macro_f1(self.graph.labels[test], self.prediction.y_pred[test]) if len(test) else None

    @cached_property
    def balance(self) -> ClassBalance | None:
        """Accuracy of guessing the most frequent class, and recall and average precision of the smallest one."""
        return class_balance(self.graph, self.split, self.prediction)

    @cached_property
    def channel_accuracy(self) -> dict[str, float]:
        """Accuracy of each channel alone; empty without test nodes."""
        scores = {name: self._accuracy(p.argmax(axis=1)) for name, p in self.prediction.channels.items()}
        return {name: score for name, score in scores.items() if score is not None}

    @property
    def agreement(self) -> float | None:
        """Share of the test nodes on which the channels agree."""
        return None if (step := self._correction) is None else float(step[1].mean())

    @property
    def accuracy_high(self) -> float | None:
        """Accuracy before correction where the channels agree."""
        return None if (step := self._correction) is None else self._accuracy(*step)

    @property
    def accuracy_low_before(self) -> float | None:
        """Accuracy before correction where the channels disagree."""
        return None if (step := self._correction) is None else self._accuracy(step[0], ~step[1])

    @property
    def accuracy_low_after(self) -> float | None:
        """Accuracy where the channels disagree."""
        return None if (step := self._correction) is None else self._accuracy(self.prediction.y_pred, ~step[1])

    @property
    def corrected(self) -> float | None:
        """Share of the test nodes whose prediction was corrected from neighbours."""
        corrected, test = self.prediction.corrected, self.split.test
        return float(corrected[test].mean()) if corrected is not None and len(test) else None

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What was unusual about graph, split and fit."""
        return (
            *class_findings(self.graph, self.split, self.prediction),  # first: no other finding matters as much
            *self.graph.findings,
            *self.split.findings,
            *check_training(self.graph, self.split.train),
            *self.prediction.findings,
        )

    @cached_property
    def trusted(self) -> TrustedNodes:
        """Which predictions are trusted, and the confidence in each."""
        return trusted_nodes(self.graph, self.split, self.prediction)

    @property
    def _correction(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(n,) the classes before correction, and (test,) whether the channels agree; None without test nodes."""
        before, agree = self.prediction.uncorrected, self.prediction.channels_agree
        if before is None or agree is None or len(self.split.test) == 0:
            return None
        return before.argmax(axis=1), agree[self.split.test]

    def _accuracy(self, y_pred: np.ndarray, among: Any = ...) -> float | None:
        """Share of right predictions, (n,), among all test nodes or some of them, (test,) bool; None without any."""
        is_right = (y_pred == self.graph.labels)[self.split.test][among]
        return float(is_right.mean()) if len(is_right) else None

    @property
    def is_predicted(self) -> np.ndarray:
        """(n,) bool: nodes without a training label whose class is wanted and so predicted."""
        return predicted_nodes(self.graph, self.split)

    def summary(self) -> dict[str, Any]:
        """Everything but the predictions, as plain values for JSON."""
        split = {"kind": self.split.kind, "seed": self.split.seed, "hash": self.split.hash}
        return {
            "dataset": self.graph.name,
            "method": self.method,
            "seed": self.seed,
            "n_train": len(self.split.train),
            "n_test": len(self.split.test),
            "accuracy": self.accuracy,
            "macro_f1": self.macro_f1,
            "balance": self.balance and vars(self.balance),
            "channel_accuracy": self.channel_accuracy,
            "agreement": self.agreement,
            "accuracy_high": self.accuracy_high,
            "accuracy_low_before": self.accuracy_low_before,
            "accuracy_low_after": self.accuracy_low_after,
            "corrected": self.corrected,
            "predictions": self._prediction_summary(),
            "rare_classes": rare_class_scores(self.graph, self.split, self.prediction),
            "seconds": round(self.seconds, 3),
            "threads": self.threads,
            "device": self.device,
            "split": split,
            "settings": self.settings.model_dump(),
            "findings": [vars(finding) for finding in self.findings],
            "versions": package_versions(),
        }

    def _prediction_summary(self) -> dict[str, Any]:
        """Number of predictions, how many are trusted, their mean trust, and these for each class."""
        rows, every = class_table(self.graph, self.split, self.prediction)

        def trust(row: ClassRow) -> dict[str, Any]:
            if self.prediction.trust is None:
                return {"trusted": None, "expected_accuracy": None}
            return {"trusted": row.trusted, "expected_accuracy": row.confidence}

        classes = [{"class": row.name, "labels": row.labels, "predicted": row.predicted, **trust(row)} for row in rows]
        return {"nodes": every.predicted, **trust(every), "classes": classes}

    def __repr__(self) -> str:
        from dccgcn.report import summary_text

        return summary_text(self)

    def _repr_html_(self) -> str:
        from dccgcn.report import summary_html

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
            ``node_id``; ``name`` if the nodes have names; ``prediction``; ``trust`` and ``trusted`` (yes, no, or
            estimated instead of yes with fewer than five labels per class), or ``probability`` where the method does
            not estimate trust; ``channels_agree`` (yes or no) and ``prediction_<channel>`` for methods with
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

    def write(
        self,
        path: str | Path,
        probabilities: bool = False,
        abstain_below: float | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Write ``to_frame()`` in the form of the file's ending: .csv, .parquet, .sqlite or .duckdb.

        CSV is safe to open in a spreadsheet: texts that it would run as formulas start with an apostrophe.

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

    def explain(self, node_id: Any) -> Explanation:
        """Why a node is predicted as it is: its channels, neighbours, similar nodes, and the features that decide.

        Parameters
        ----------
        node_id
            Its id, as in ``graph.ids``.

        Returns
        -------
        Explanation
            Prints as text; ``to_dict`` gives plain values.

        Examples
        --------
        >>> from dccgcn import load_dataset, per_class, run
        >>> cora = load_dataset("cora").graph
        >>> explanation = run(cora, per_class(cora, 5, seed=0)).explain(cora.ids[0])
        >>> explanation.degree == len(explanation.neighbours)
        True
        """
        return explain(self, node_id)

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
        from dccgcn.store import save_run

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
        from dccgcn.report import write_report

        check_file(path, overwrite)
        write_report(self, path, overwrite, rows=rows)


def package_versions() -> dict[str, str]:
    """Versions of Python, this package and the installed packages it computes with."""
    found = {"python": platform.python_version(), "dccgcn": __version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # an optional one
            continue
    return found
