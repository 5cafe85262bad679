"""A model folder: model.safetensors, model.json and the card README.md. Loading checks all before anything is used."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dccgcn import __version__
from dccgcn.artifacts.model_card import card
from dccgcn.errors import DataFileError, DccgcnError, Finding, GraphError
from dccgcn.graph import NodeGraph
from dccgcn.graph.cells import decode_labels
from dccgcn.graph.splits import PARTS, Split
from dccgcn.io.columns import Columns, find_column
from dccgcn.io.encoder import FeatureEncoder
from dccgcn.io.frames import Source, read_table
from dccgcn.io.options import UnknownIds
from dccgcn.io.parse import read_edges, read_ids
from dccgcn.io.tables import Tables
from dccgcn.io.tensors import read_tensors, tensor_bytes
from dccgcn.models.prediction import Prediction
from dccgcn.models.registry import get_method
from dccgcn.runtime.files import sha256
from dccgcn.text import first_few
from dccgcn.workflow.inductive import extend, grown
from dccgcn.workflow.result import Result, answers, measured

FORMAT = 3  # of the folder; raised when an older version could not read it
DESCRIPTION, TENSORS, CARD = "model.json", "model.safetensors", "README.md"
_REMEDY = "Copy the whole folder again, or train the model again: dccgcn fit … --out FOLDER."


@dataclass(frozen=True, eq=False)
class Model:
    """A run that was loaded: all its answers, and the way to answer for nodes that were not there."""

    result: Result
    tables: Tables | None = None  # how its nodes were read, if they came from tables

    def read(
        self,
        nodes: Source,
        edges: "Source | None" = None,
        *,
        unknown_ids: UnknownIds = "error",
        encoding: str = "utf-8",
    ) -> NodeGraph:
        """Further nodes from tables with the columns of training, as a graph that holds the old nodes and the new.

        edges : between new nodes, or new and old ones; omitted: the new nodes are known by their features alone.
        """
        graph = self.result.graph
        if self.tables is None:
            raise DccgcnError(
                f"The model of {graph.name!r} was not trained on tables, so their columns mean nothing to it.",
                "Train it with --nodes and --edges, or use dccgcn.grown and Model.predict in Python.",
            )
        columns = self.tables.columns
        table = read_table(nodes, "nodes", encoding)
        if table.frame.empty:
            raise GraphError(f"{table.name} has no rows.", "Give a row for each new node.")
        ids = read_ids(table, find_column(table, columns.id, "id, as at training"))
        findings = [*table.findings]
        with table.named_in_errors():
            features = self.tables.encoder.transform(table.frame)
        findings += self.tables.encoder.imputation_findings(table)
        pairs, weights = np.empty((0, 2), np.int64), None
        if edges is not None:
            edge_table = read_table(edges, "edges", encoding)
            for what, name in (("source", columns.source), ("target", columns.target), ("weight", columns.weight)):
                if name is not None:
                    find_column(edge_table, name, f"{what}, as at training")
            findings += edge_table.findings
            pairs, weights = read_edges(edge_table, columns, [*graph.ids.tolist(), *ids], unknown_ids, findings)
        return grown(graph, features, pairs, ids=ids, edge_weights=weights, findings=findings)

    def predict(self, nodes: "NodeGraph | Source", edges: "Source | None" = None) -> pd.DataFrame:
        """A row per new node: what is predicted, how probable it is, and whether the channels agree.

        nodes : a table, see ``read``, or a graph that ``grown`` made of this model's.
        """
        graph = nodes if isinstance(nodes, NodeGraph) else self.read(nodes, edges)
        old = self.result.graph
        if graph.classes != old.classes or graph.ids[: old.n].tolist() != old.ids.tolist():
            raise GraphError(
                "The graph does not start with the nodes and classes of training.", "Make it with grown(model's graph)."
            )
        frame = answers(graph, extend(self.result, graph))
        return frame.iloc[old.n :].reset_index(drop=True)


def model_files(result: Result, tables: Tables | None = None) -> dict[str, str | bytes]:
    """The files of the folder in the order to write them; model.json last, since a folder without it is no model."""
    graph, split, prediction = result.graph, result.split, result.prediction
    listed_ids = None if graph.ids.dtype.kind in "iu" else _plain(graph.ids.tolist(), "ids")
    classes = _plain(graph.classes, "class names")
    arrays = {
        "graph": {"features": graph.features, "edges": graph.edges, "weights": graph.weights, "labels": graph.labels},
        "split": {part: getattr(split, part) for part in PARTS},
        "prediction": {
            field.name: getattr(prediction, field.name) for field in fields(Prediction) if field.name != "findings"
        },
    }
    if listed_ids is None:
        arrays["graph"]["ids"] = graph.ids
    tensors = tensor_bytes(arrays, json.dumps(classes))
    description = {
        "format": FORMAT,
        "dccgcn": __version__,
        "method": result.method,
        "settings": result.settings.model_dump(mode="json"),
        "seed": result.seed,
        "classes": classes,
        "ids": listed_ids,
        "graph": graph.name,
        "split": {"dataset": split.dataset, "kind": split.kind, "seed": split.seed, "nodes": split.nodes},
        "findings": {
            what: [asdict(finding) for finding in found.findings]
            for what, found in (("graph", graph), ("split", split), ("prediction", prediction))
        },
        "seconds": result.seconds,
        "threads": result.threads,
        "device": result.device,
        "tables": tables and {"columns": asdict(tables.columns), "encoder": tables.encoder.to_dict()},
        "files": {TENSORS: hashlib.sha256(tensors).hexdigest()},
    }
    whole = json.dumps({**description, "hash": _hash(description)}, indent=1) + "\n"
    return {TENSORS: tensors, CARD: card(result), DESCRIPTION: whole}


def load_model(folder: str | Path) -> Model:
    """Read a model folder; refused if a file is missing, cut short, altered, or of another version."""
    folder = Path(folder)
    description = _read_description(folder)
    path = folder / TENSORS
    if not path.is_file():
        raise DataFileError(f"{path} is missing.", _REMEDY)
    if (found := sha256(path)) != description["files"].get(TENSORS):
        raise DataFileError(f"{path} was cut short or altered: its hash is {found[:12]}…, not the one saved.", _REMEDY)
    arrays, note = read_tensors(path)
    if note != json.dumps(description["classes"]):
        raise DataFileError(
            f"{folder / DESCRIPTION} lists the classes in another order than {TENSORS}, so answers would get "
            "wrong names.",
            _REMEDY,
        )
    try:
        return _model(description, arrays)
    except DccgcnError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise DataFileError(f"{folder} does not hold a model ({type(error).__name__}: {error}).", _REMEDY) from error


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        stored, version = description.pop("hash"), description["format"]
    except (FileNotFoundError, NotADirectoryError):
        raise DataFileError(f"There is no model in {folder}: it has no whole {DESCRIPTION}.", _REMEDY) from None
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise DataFileError(f"{path} was cut short or altered ({error}).", _REMEDY) from None
    if version != FORMAT:
        raise DataFileError(
            f"{path} is of format {version!r}, saved by dccgcn {description.get('dccgcn')}; this is dccgcn "
            f"{__version__}, which reads format {FORMAT}.",
            "Use the version that saved it, or train the model again.",
        )
    if stored != _hash(description):
        raise DataFileError(f"{path} was altered after it was saved.", _REMEDY)
    return dict(description)


def _model(description: dict[str, Any], arrays: dict[str, Any]) -> Model:
    classes, given = description["classes"], arrays["graph"]
    findings = {what: tuple(Finding(**f) for f in listed) for what, listed in description["findings"].items()}
    graph = NodeGraph(
        given["features"],
        given["edges"],
        decode_labels(given["labels"], classes),
        ids=given["ids"] if description["ids"] is None else description["ids"],
        classes=classes,
        edge_weights=given["weights"],
        featureless=True,
        name=description["graph"],
    )
    graph = graph.with_findings(
        findings["graph"]
    )  # what was odd about the tables, rather than about what was kept of them
    split = Split(**description["split"], **arrays["split"], findings=findings["split"])
    split.check(graph)
    prediction = Prediction(**arrays["prediction"], findings=findings["prediction"])
    if prediction.probabilities.shape != (graph.n, graph.c):
        raise ValueError(f"probabilities of shape {prediction.probabilities.shape} for {graph.n} nodes")
    method = get_method(description["method"])
    settings = method.settings.of(description["settings"])
    result = measured(
        graph,
        split,
        method.name,
        settings,
        description["seed"],
        prediction,
        description["seconds"],
        description["threads"],
    )
    result = replace(result, device=description["device"])
    if description["tables"] is None:
        return Model(result)
    read = description["tables"]
    return Model(result, Tables(graph, FeatureEncoder.from_dict(read["encoder"]), Columns(**read["columns"])))


def _plain(values: Sequence[Any], what: str) -> list[Any]:
    """Values that JSON gives back as they are, types included."""
    listed = [value.item() if isinstance(value, np.generic) else value for value in values]
    strange = [value for value in listed if type(value) not in (str, int, bool, float)]
    if strange:
        raise DccgcnError(
            f"A model keeps {what} that are text or numbers, not {type(strange[0]).__name__}: {first_few(strange)}.",
            "Give them as text.",
        )
    return listed


def _hash(description: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()
