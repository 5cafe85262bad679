"""Model files: a Result as model.safetensors, model.json and the model card, and back bit by bit.

Loading checks version, hashes and the order of the classes before anything is used.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn import __version__
from dccgcn.errors import DataFileError, DccgcnError, Finding
from dccgcn.graph import PARTS, NodeGraph, Split
from dccgcn.methods import ArraySpec, Method, Prediction, Sizes, check_array, check_arrays, check_csr, get_method
from dccgcn.runtime import Content, check_regular, current_path, read_json, sha256
from dccgcn.store.card import model_card
from dccgcn.store.model_schema import FORMAT, ModelDescription
from dccgcn.store.tensors import read_tensors, tensor_pieces
from dccgcn.tables import Tables
from dccgcn.text import first_few
from dccgcn.workflow import Result

DESCRIPTION: str = "model.json"
TENSORS: str = "model.safetensors"
CARD: str = "MODEL.md"
_REMEDY = "Copy the whole folder again, or train the model again: dccgcn fit … --out FOLDER."


def model_files(result: Result, tables: Tables | None = None) -> dict[str, Content]:
    """The files by name, in the order to write them: model.json last, since a folder without it is not a model."""
    graph, split, prediction = result.graph, result.split, result.prediction
    _check_prediction(prediction, graph, split, get_method(result.method), result.settings)
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
    if graph.relations:
        arrays["graph"]["relations"] = {str(i): matrix for i, matrix in enumerate(graph.relations.values())}
    if graph.vectors is not None:
        arrays["graph"]["vectors"] = graph.vectors
    if graph.targets is not None:
        arrays["graph"]["targets"] = graph.targets
    tensors, digest = tensor_pieces(arrays, json.dumps(classes)), hashlib.sha256()
    for piece in tensors:
        digest.update(piece)
    description = {
        "format": FORMAT,
        "dccgcn": __version__,
        "method": result.method,
        "settings": result.settings.model_dump(mode="json"),
        "seed": result.seed,
        "classes": classes,
        "ids": listed_ids,
        "names": None if graph.names is None else graph.names.tolist(),
        "graph": graph.name,
        "relations": list(graph.relations),
        "directed": graph.directed,
        "split": {"dataset": split.dataset, "kind": split.kind, "seed": split.seed, "nodes": split.nodes},
        "findings": {
            source: [asdict(finding) for finding in value.findings]
            for source, value in (("graph", graph), ("split", split), ("prediction", prediction))
        },
        "seconds": result.seconds,
        "threads": result.threads,
        "device": result.device,
        "tables": tables and {"columns": tables.columns.model_dump(), "encoder": tables.encoder.model_dump()},
        "files": {TENSORS: digest.hexdigest()},
    }
    ModelDescription.of(json.loads(json.dumps(description)))  # what is written can be read
    content = json.dumps({**description, "hash": _hash(description)}, indent=1) + "\n"
    return {TENSORS: tensors, CARD: model_card(result), DESCRIPTION: content}


def read_run(folder: str | Path) -> Result:
    """The result that a folder holds, with how its nodes were read if they came from tables.

    Refused if a file is missing, incomplete, altered, or of another format, or if any array or field is not what the
    method writes. The hashes find accidents; the other checks are for folders from somebody else.
    """
    folder = Path(folder)
    try:
        return _read_run(folder)
    except DataFileError as error:
        raise DataFileError(error.what, error.remedy if "train" in error.remedy else _REMEDY) from error.__cause__
    except DccgcnError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, OSError) as error:
        raise DataFileError(f"{folder} does not hold a model ({type(error).__name__}: {error}).", _REMEDY) from error


def _read_run(folder: Path) -> Result:
    values = _read_description(folder)
    description = ModelDescription.of(values)
    path = current_path(folder, TENSORS)
    check_regular(path)
    if (found := sha256(path)) != description.files.get(TENSORS):
        raise DataFileError(f"{path} was cut short or altered: its hash is {found[:12]}…, not the one saved.")
    arrays, note = read_tensors(path)
    if note != json.dumps(description.classes):
        raise DataFileError(
            f"{folder / DESCRIPTION} lists the classes in another order than {TENSORS}, so predictions would get "
            "wrong names."
        )
    return _run(description, arrays)


def _read_description(folder: Path) -> dict[str, Any]:
    """The checked version and hash of model.json; its fields are not yet checked."""
    path = current_path(folder, DESCRIPTION)
    if not path.exists():
        raise DataFileError(f"There is no model in {folder}: it has no complete {DESCRIPTION}.")
    description = read_json(path)
    if not isinstance(description, dict) or not {"hash", "format"} <= description.keys():
        raise DataFileError(f"{path} was cut short or altered (it has no hash or no format).")
    stored, version = description.pop("hash"), description["format"]
    if version != FORMAT:
        raise DataFileError(
            f"{path} is of format {repr(version)[:20]}, saved by dccgcn {str(description.get('dccgcn'))[:20]}; this "
            f"is dccgcn {__version__}, which reads format {FORMAT}.",
            "Use the version that saved it, or train the model again.",
        )
    if stored != _hash(description):
        raise DataFileError(f"{path} was altered after it was saved.")
    return description


def _run(description: ModelDescription, arrays: Mapping[str, Any]) -> Result:
    if set(arrays) != {"graph", "split", "prediction"}:
        raise DataFileError(f"{TENSORS} does not hold a graph, a split and a prediction.")
    findings = {
        source: tuple(Finding(**finding.model_dump()) for finding in listed) for source, listed in description.findings
    }
    graph = _graph(description, arrays["graph"]).with_findings(findings["graph"])  # of tables that are not stored
    check_arrays(arrays["split"], {part: ArraySpec((None,), "int", 0, graph.n - 1) for part in PARTS}, "split")
    split = Split(**description.split.model_dump(), **arrays["split"], findings=findings["split"])
    split.check(graph)
    method = get_method(description.method)
    settings = method.settings.of(description.settings)
    prediction = Prediction(**arrays["prediction"], findings=findings["prediction"])
    _check_prediction(prediction, graph, split, method, settings)
    fit = description.model_dump(include={"seed", "seconds", "threads", "device"})
    result = Result(graph, split, method.name, settings, prediction=prediction, **fit)
    if (tables := description.tables) is None:
        return result
    tables.check(graph.d)
    return replace(result, tables=Tables(graph, tables.encoder, tables.columns))


def _check_prediction(prediction: Prediction, graph: NodeGraph, split: Split, method: Method, settings: Any) -> None:
    """Raise a DataFileError unless the arrays are valid: asked by the reader, and by the writer so that both agree."""
    prediction.check(graph.n, graph.c)
    if method.model_specs and prediction.model:
        n_seen = len(np.unique(graph.labels[split.train]))
        n_vectors = 0 if graph.vectors is None else graph.vectors.shape[1]
        sizes = Sizes(graph.n, graph.d, n_seen, tuple(graph.relations), graph.directed, n_vectors)
        check_arrays(prediction.model, method.model_specs(prediction.model, sizes, settings), "model")


def _graph(description: ModelDescription, given: Mapping[str, Any]) -> NodeGraph:
    classes = description.classes
    features: Any = given.get("features")
    if sp.issparse(features):
        check_csr(features, features.shape, "graph, features")
    else:
        check_array(features, ArraySpec((None, None)), "graph, features")
    n = features.shape[0]
    specs = {
        "edges": ArraySpec((None, 2), "int", 0, n - 1),
        "weights": ArraySpec((None,), low=0),
        "labels": ArraySpec((n,), "int", -1, len(classes) - 1),
    }
    if description.ids is None:
        specs["ids"] = ArraySpec((n,), "int", -math.inf, math.inf)
    if "vectors" in given:
        specs["vectors"] = ArraySpec((n, None))
    if "targets" in given:
        specs["targets"] = ArraySpec((n,), "bool")
    others = {name: array for name, array in given.items() if name not in ("features", "relations")}
    check_arrays(others, specs, "graph")
    graph = NodeGraph.from_codes(
        features,
        given["edges"],
        given["labels"],
        classes,
        ids=given["ids"] if description.ids is None else description.ids,
        edge_weights=given["weights"],
        featureless=True,
        name=description.graph,
    )
    graph = graph.with_names(description.names).with_targets(given.get("targets"))
    if description.relations:
        graph = graph.with_relations(_relations(description, given, n), description.directed)
    return graph.with_vectors(given["vectors"]) if "vectors" in given else graph


def _relations(description: ModelDescription, given: Mapping[str, Any], n: int) -> dict[str, sp.csr_array]:
    matrices = given.get("relations", {})
    if set(matrices) != set(map(str, range(len(description.relations)))):
        raise DataFileError("graph, relations are not those that model.json names.")
    for name, matrix in matrices.items():
        check_csr(matrix, (n, n), f"graph, relations, {name}", low=0)
    return {name: matrices[str(i)] for i, name in enumerate(description.relations)}


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
