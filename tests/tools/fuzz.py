"""Mutated tables through the reader: every file gives a graph or a DccgcnError with a remedy, never a traceback.

    cd tests && python -m tools.fuzz 10000

The number of a case determines it, so a failure is repeated with: python -m tools.fuzz 1 NUMBER
"""

import csv
import gzip
import io
import json
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dccgcn import NodeGraph, load_model, read_tables
from dccgcn import run as fit
from dccgcn.errors import DccgcnError

NODES = (
    "id,topic,title,age,country,w0,w1\n"
    '007,graphs,"deep networks, for graphs",12,DE,0,1\n'
    '"line\nbreak",,graph learning with few labels,15.5,DE,1,0\n'
    "=3,food,cooking with many spices,-4e1,FR,1,1\n"
    "08,,spices for cooking at home,33,FR,0,0\n"
    "é,graphs,networks and graphs at home,7,DE,1,0\n"
)
EDGES = 'source,target,weight\n007,"line\nbreak",1\n=3,08,0.5\n08,é,2\né,007,1.5\n'
CELLS = [
    "", '"', '""', "nan", "inf", "-1", "1.5", "1e999", "0x1", "'", "'=1", "\u202e", "<script>", "9" * 40, "a" * 200_000,
    "\t", ";", "\r", "\n", "\0", "NA", "True", "١٢", "\ufeff", "\ud7ff", ",,,,", "1_000", "--", "=1+1", "id", "007",
]  # fmt: skip
VALUES: list[Any] = [
    0, -1, 7, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, 1.0, 0.5, 1e308, True, None, "\ud800", "e\u0301", ["a", 1], {},
    float("nan"), float("inf"), {"a": {"b": [1]}}, [0.5, 1.5], "2020-01-01", "$1,000", "34.5%", "09508", "[1, 2]",
]  # fmt: skip
TYPED = [pd.Timestamp("2020-01-01"), Decimal("1.5"), b"a", date(2020, 1, 1), np.float32(1.5), pd.Timedelta("1h")]
ENCODINGS = ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig"]


def case(number: int) -> tuple[bytes, bytes, dict]:
    """The two files and the options of a numbered case."""
    rng = np.random.default_rng(number)
    which = int(rng.integers(2))
    rows = list(csv.reader(io.StringIO([NODES, EDGES][which])))
    for _ in range(rng.integers(0, 4)):
        _change(rows, rng)
    match rng.choice(["sound", "text", "loose", "gzip", "parquet", "json"], p=[0.35, 0.15, 0.15, 0.1, 0.15, 0.1]):
        case "sound":
            content = _csv_text(rows).encode()
        case "text":
            content = _encoded(_csv_text(rows), rng)
        case "loose":  # cells are not quoted
            content = _encoded("\n".join(",".join(cells) for cells in rows), rng)
        case "gzip":
            content = gzip.compress(_csv_text(rows).encode())
        case "json":
            names = rows[0] if rows else []
            records = [dict(zip(names, map(partial(_any, rng), cells), strict=False)) for cells in rows[1:]]
            content = ("\n".join(map(json.dumps, records)) or "{}").encode()
        case _:
            content = _parquet(rows, rng)
    if rng.random() < 0.3:
        for _ in range(rng.integers(1, 4)):
            content = _bytes(content, rng)
    contents = [NODES.encode(), EDGES.encode()]
    contents[which] = content
    return contents[0], contents[1], _options(rng)


def _any(rng: np.random.Generator, cell: Any, values: Sequence[Any] = VALUES) -> Any:
    """The cell, or rarely a value of another type."""
    return values[rng.integers(len(values))] if rng.random() < 0.05 else cell


def _parquet(rows: list[list[str]], rng: np.random.Generator) -> bytes:
    width = max((len(cells) for cells in rows), default=0)
    padded: list[list[Any]] = [cells + [None] * (width - len(cells)) for cells in rows]
    frame = pd.DataFrame(padded[1:], columns=[f"{c}" for c in padded[0]] if padded else None, dtype=object)
    frame = frame.loc[:, ~frame.columns.duplicated()]
    if rng.random() < 0.3:
        frame = frame.apply(pd.to_numeric, errors="coerce")
    if rng.random() < 0.3 and len(frame.columns):  # a whole column of another type
        value = [*VALUES, *TYPED][rng.integers(len(VALUES) + len(TYPED))]
        frame[frame.columns[rng.integers(len(frame.columns))]] = pd.Series([value] * len(frame), dtype=object)
    try:
        return bytes(frame.to_parquet())
    except Exception:  # what Arrow cannot hold
        return bytes(pd.DataFrame(padded[1:], dtype=str).set_axis(map(str, range(width)), axis=1).to_parquet())


def _csv_text(rows: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _change(rows: list[list[str]], rng: np.random.Generator) -> None:
    """One change of cells, rows or columns; a row is rarely cut or lengthened."""
    if not rows:
        return
    row, other = (int(rng.integers(len(rows))) for _ in range(2))
    column = int(rng.integers(max(len(rows[row]), 1)))
    cell = CELLS[rng.integers(len(CELLS))]
    wide = [cells for cells in rows if column < len(cells)]
    match rng.choice(10, p=[0.35, 0.03, 0.03, 0.09, 0.1, 0.08, 0.08, 0.08, 0.08, 0.08]):
        case 0:
            rows[row][column : column + 1] = [cell]
        case 1:
            rows[row].insert(column, cell)
        case 2:
            del rows[row][column:]
        case 3:
            rows[row], rows[other] = rows[other], rows[row]
        case 4:
            rows.insert(row, list(rows[other]))
        case 5:
            del rows[row]
        case 6:  # a whole column
            for cells in wide[1:]:
                cells[column] = cell
        case 7:  # two columns swapped
            for cells in wide:
                cells[0], cells[column] = cells[column], cells[0]
        case 8:  # a column added
            for cells in rows:
                cells.append(cell)
            rows[0][-1] = f"new{len(rows[0])}"
        case _:  # a column removed
            for cells in wide:
                del cells[column]


def _encoded(text: str, rng: np.random.Generator) -> bytes:
    if rng.random() < 0.2:
        text = text.replace(",", ["\t", ";", "|", " "][rng.integers(4)])
    if rng.random() < 0.2:
        text = text.replace("\n", ["\r", "\r\n", "\n\n"][rng.integers(3)])
    encoding = ENCODINGS[rng.integers(len(ENCODINGS))] if rng.random() < 0.15 else "utf-8"
    return text.encode(encoding, errors="replace")


def _bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """One change of bytes."""
    if not content:
        return content
    data = bytearray(content)
    at = int(rng.integers(len(data)))
    match rng.integers(5):
        case 0:
            data[at] ^= 1 << int(rng.integers(8))
        case 1:
            data[at] = int(rng.integers(256))
        case 2:
            del data[at:]
        case 3:
            del data[at : at + int(rng.integers(1, 20))]
        case _:
            data[at:at] = rng.bytes(int(rng.integers(1, 8)))
    return bytes(data)


def _options(rng: np.random.Generator) -> dict:
    choices = {
        "label": ["topic", "topic", "age", "nothing", ""],
        "id": ["id", "title", "w0"],
        "features": [["w*"], ["age", "w0"], ["*"], ["["]],
        "text": [["title"], ["age"], ["w*"]],
        "categorical": [["country"], ["title"], ["id"]],
        "ignore": [["w*"], ["*"]],
        "source": ["source", "weight"],
        "weight": ["weight", "source"],
        "unlabelled": [["graphs"], ["-1"]],
        "unknown_ids": ["drop"],
        "impute": ["zero", "mean"],
        "scale": [False],
        "encoding": ["latin-1", "utf-16", "no-such"],
    }
    return {name: values[rng.integers(len(values))] for name, values in choices.items() if rng.random() < 0.12}


def run(number: int, folder: Path) -> str:
    """The outcome of a case: "graph", or the class of the DccgcnError. Anything else is raised."""
    nodes, edges, options = case(number)
    ending = [".csv", ".tsv", ""][number % 3] if number % 5 == 0 else ".csv"
    (folder / f"nodes{ending}").write_bytes(nodes)
    (folder / f"edges{ending}").write_bytes(edges)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # warnings of other libraries count as failures
        try:
            graph = read_tables(folder / f"nodes{ending}", folder / f"edges{ending}", **options).graph
        except DccgcnError as error:
            refused = error
        else:
            assert len(graph.ids) == graph.features.shape[0]
            if number % 20 == 0:
                _round_trip(graph, folder)
            return "graph"
    assert refused.remedy, f"an error without a remedy: {refused}"
    assert len(str(refused)) < 2000, f"an unreadable error: {str(refused)[:300]}"
    return type(refused).__name__


def _round_trip(graph: NodeGraph, folder: Path) -> None:
    """What is read can be fitted, or is refused; what is fitted can be written and comes back."""
    try:
        result = fit(graph, method="logreg")
    except DccgcnError:
        return
    with tempfile.TemporaryDirectory(dir=folder) as out:
        result.save(Path(out) / "run")
        assert load_model(Path(out) / "run").result.graph.ids.tolist() == graph.ids.tolist()
        for ending in ("csv", "parquet", "sqlite", "duckdb"):
            result.write(Path(out) / f"predictions.{ending}")


def main() -> None:
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    seen: Counter[str] = Counter()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            try:
                seen[run(number, Path(folder))] += 1
            except Exception:
                failures += 1
                print(f"case {number}:\n{traceback.format_exc()}", file=sys.stderr)
                if failures == 10:
                    break
            if (done := number - first + 1) % 1000 == 0:
                print(f"{done} of {count}", file=sys.stderr, flush=True)
    outcomes = ", ".join(f"{what} {n}" for what, n in seen.most_common())
    print(f"{seen.total()} tables: {outcomes}; {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
