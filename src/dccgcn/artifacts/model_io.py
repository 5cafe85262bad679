"""Model files: a Run as model.safetensors, model.json and the model card, and back bit by bit.

Loading checks version, hashes and the order of the classes before anything is used.
"""

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from dccgcn import __version__
from dccgcn.artifacts.model_card import model_card
from dccgcn.errors import DataFileError, DccgcnError, Finding
from dccgcn.graph import NodeGraph
from dccgcn.graph.cells import decode_labels
from dccgcn.graph.splits import PARTS, Split
from dccgcn.io.columns import Columns
from dccgcn.io.encoder import FeatureEncoder
from dccgcn.io.tables import Tables
from dccgcn.io.tensors import read_tensors, tensor_bytes
from dccgcn.models.concord.state import from_last_format
from dccgcn.models.prediction import Prediction
from dccgcn.models.registry import get_method
from dccgcn.runtime.files import sha256
from dccgcn.text import first_few
from dccgcn.workflow.run import FitDetails, Run, measure

FORMAT = 4  # of the folder; raised when an older version could not read it
DESCRIPTION, TENSORS, CARD = "model.json", "model.safetensors", "README.md"
_REMEDY = "Copy the whole folder again, or train the model again: dccgcn fit … --out FOLDER."

_FORMAT_3 = 3  # read for one release
_FORMAT_3_FIELDS = {
    "agree": "channels_agree",
    "before": "uncorrected",
    "joined": "joint",
    "repaired": "corrected",
}


def model_files(run: Run, tables: Tables | None = None) -> dict[str, str | bytes]:
    """The files by name, in the order to write them: model.json last, since a folder without it is not a model."""
    graph, split, prediction = run.graph, run.split, run.prediction
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
        "method": run.method,
        "settings": run.settings.model_dump(mode="json"),
        "seed": run.seed,
        "classes": classes,
        "ids": listed_ids,
        "graph": graph.name,
        "split": {"dataset": split.dataset, "kind": split.kind, "seed": split.seed, "nodes": split.nodes},
        "findings": {
            source: [asdict(finding) for finding in value.findings]
            for source, value in (("graph", graph), ("split", split), ("prediction", prediction))
        },
        "seconds": run.seconds,
        "threads": run.threads,
        "device": run.device,
        "tables": tables and {"columns": asdict(tables.columns), "encoder": tables.encoder.to_dict()},
        "files": {TENSORS: hashlib.sha256(tensors).hexdigest()},
    }
    content = json.dumps({**description, "hash": _hash(description)}, indent=1) + "\n"
    return {TENSORS: tensors, CARD: model_card(run), DESCRIPTION: content}


def read_run(folder: str | Path) -> tuple[Run, Tables | None]:
    """The run of a folder, and how its nodes were read if they came from tables.

    Refused if a file is missing, incomplete, altered, or of another format.
    """
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
            f"{folder / DESCRIPTION} lists the classes in another order than {TENSORS}, so predictions would get "
            "wrong names.",
            _REMEDY,
        )
    try:
        if description["format"] == _FORMAT_3:
            description, arrays = _from_format_3(description, arrays)
            warnings.warn(
                f"{folder} holds a model of format {_FORMAT_3}, which the next release of dccgcn will not read. Save "
                "it again: model = dccgcn.load_model(FOLDER); model.result.save(NEW_FOLDER, model.tables).",
                FutureWarning,
                stacklevel=3,  # the caller of load_model
            )
        return _run(description, arrays)
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
        raise DataFileError(f"There is no model in {folder}: it has no complete {DESCRIPTION}.", _REMEDY) from None
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise DataFileError(f"{path} was cut short or altered ({error}).", _REMEDY) from None
    if version not in (FORMAT, _FORMAT_3):
        raise DataFileError(
            f"{path} is of format {version!r}, saved by dccgcn {description.get('dccgcn')}; this is dccgcn "
            f"{__version__}, which reads format {FORMAT}.",
            "Use the version that saved it, or train the model again.",
        )
    if stored != _hash(description):
        raise DataFileError(f"{path} was altered after it was saved.", _REMEDY)
    return dict(description)


def _from_format_3(description: Mapping[str, Any], arrays: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Description and arrays of format 3 under the names of format 4. Settings.of renames the settings."""
    renamed = {_FORMAT_3_FIELDS.get(name, name): value for name, value in arrays["outcome"].items()}
    findings = dict(description["findings"])
    findings["prediction"] = findings.pop("outcome")
    if description["method"] == "concord":
        renamed["model"] = from_last_format(renamed["model"])
    return {**description, "findings": findings}, {**arrays, "prediction": renamed}


def _run(description: Mapping[str, Any], arrays: Mapping[str, Any]) -> tuple[Run, Tables | None]:
    classes, given = description["classes"], arrays["graph"]
    findings = {source: tuple(Finding(**f) for f in listed) for source, listed in description["findings"].items()}
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
    graph = graph.with_findings(findings["graph"])  # those of the original tables, which are not stored
    split = Split(**description["split"], **arrays["split"], findings=findings["split"])
    split.check(graph)
    prediction = Prediction(**arrays["prediction"], findings=findings["prediction"])
    if prediction.probabilities.shape != (graph.n, graph.c):
        raise ValueError(f"probabilities of shape {prediction.probabilities.shape} for {graph.n} nodes")
    method = get_method(description["method"])
    details = FitDetails(
        method=method.name,
        settings=method.settings.of(description["settings"]),
        **{name: description[name] for name in ("seed", "seconds", "threads", "device")},
    )
    run = measure(graph, split, prediction, details)
    if (read := description["tables"]) is None:
        return run, None
    return run, Tables(graph, FeatureEncoder.from_dict(read["encoder"]), Columns(**read["columns"]))


def _plain(values: Sequence[Any], kind: str) -> list[Any]:
    """Values that JSON gives back unchanged, types included."""
    listed = [value.item() if isinstance(value, np.generic) else value for value in values]
    other = [value for value in listed if type(value) not in (str, int, bool, float)]
    if other:
        raise DccgcnError(
            f"A model keeps {kind} that are text or numbers, not {type(other[0]).__name__}: {first_few(other)}.",
            "Give them as text.",
        )
    return listed


def _hash(description: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()
