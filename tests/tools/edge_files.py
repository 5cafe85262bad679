"""One file of edges read in two ways: in pieces, and whole by the csv module or pandas.

    cd tests && python -m tools.edge_files 10000

The number of a case determines it, so a failure is repeated with: python -m tools.edge_files 1 NUMBER
"""

import csv
import gzip
import io
import re
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import DccgcnError
from dccgcn.graph.cells import is_missing, spell_id
from dccgcn.tables.edges import IdIndex
from dccgcn.tables.files import open_table, read_table
from dccgcn.tables.table import ESCAPED

CELLS = ["a", "b", "007", "7", "7.0", "1_0", "'=x", "'", "ü", "u\u0308", "", " ", "\u00a0", "nan", "1e3", "9" * 25, '"']
CELLS += ['""', "a,b", "x\ny", "x\r\ny", "x\ry", ";", "\t", "=1", "True", "\ufeff", "-1", "a b", "\x1c", "🙂"]
VALUES: list[Any] = [1, 0, -1, 2**53, 2**63 - 1, None, True, 1.0, 0.5, float("nan"), float("inf"), "a", "7", "", b"a"]
VALUES += [["a"], {"x": 1}, pd.Timestamp("2020-01-01"), np.float32(1.5), 2**63, "é"]
NAMES = ["edges.csv", "edges[1].csv", "e*.tsv", "source=d.csv", "edges", "a b.csv.gz", "x.tab", "weight=5.txt"]


def case(number: int, folder: Path) -> tuple[Path, str]:
    """The file of a numbered case, and the encoding to name."""
    rng = np.random.default_rng(number)
    path = folder / f"{number % 7}" / str(rng.choice(NAMES))
    path.parent.mkdir(exist_ok=True)
    kind = rng.choice(["text", "rows", "parquet"], p=[0.4, 0.4, 0.2])
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1"], p=[0.7, 0.1, 0.1, 0.1]))
    if kind == "parquet":
        kinds = [[VALUES[rng.integers(len(VALUES))] for _ in range(2)] for _ in range(2)]
        rows = {
            name: [kinds[i][rng.integers(2)] for _ in range(rng.integers(1, 2) * 20)] for i, name in enumerate("st")
        }
        try:
            pd.DataFrame(rows).to_parquet(path)
        except Exception:  # values that Arrow cannot mix
            pd.DataFrame({name: list(map(str, cells)) for name, cells in rows.items()}).to_parquet(path)
        return path, "utf-8"
    if kind == "text":
        alphabet = list("ab,\"\r\n;\t ü'=")
        text = "".join(rng.choice(alphabet, rng.integers(1, 40)))
    else:
        ends = rng.choice(["\n", "\r\n", "\r", "\n\n"], p=[0.4, 0.3, 0.1, 0.2])
        quoted = [cell if rng.random() < 0.3 else '"' + cell.replace('"', '""') + '"' for cell in CELLS]
        width = int(rng.integers(2, 4))
        lines = [",".join(rng.choice(quoted, width + (rng.random() < 0.02))) for _ in range(rng.integers(0, 30))]
        text = str(ends).join(["source,target,weight"[: 13 + 7 * (width == 3)], *lines]) + str(ends) * int(
            rng.integers(2)
        )
    content = text.encode(encoding, "replace")
    if rng.random() < 0.1:
        at = int(rng.integers(len(content) + 1))
        content = content[:at] + bytes([rng.integers(256)]) + content[at:]
    path.write_bytes(gzip.compress(content) if rng.random() < 0.2 else content)
    return path, "latin-1" if encoding == "latin-1" else "utf-8"


def check(number: int, folder: Path, set_attribute: Callable[[str, Any], object]) -> None:
    """Raise an AssertionError unless both ways give the same rows or the same refusal."""
    path, encoding = case(number, folder)
    set_attribute("dccgcn.tables.files._PIECE", int(np.random.default_rng(number).integers(16, 60)))
    set_attribute("dccgcn.tables.typed_files._ROWS", 3)
    for module in ("typed_files", "delimited"):
        set_attribute(f"dccgcn.tables.{module}._SAMPLE", 2)
    expected, *outcomes = (_outcome(read, path, encoding) for read in (_literal, _whole, _pieces))
    for outcome in outcomes:
        if isinstance(expected, str) and isinstance(outcome, str):
            continue  # of several faults each way names the one that it meets first
        assert outcome == expected, f"case {number}, {path}:\n{expected}\n{outcome}"


def _outcome(read: Callable[[Path, str], Any], path: Path, encoding: str) -> Any:
    try:
        return read(path, encoding)
    except DccgcnError as error:
        return str(error)


def _whole(path: Path, encoding: str) -> Any:
    """Columns, numbers of the rows, and the ids of every column, None where missing."""
    table = read_table(path, "edges", encoding)
    cells = {name: [_spelled(cell) for cell in table.frame[name]] for name in table.frame}
    return list(table.frame.columns), table.frame.index.tolist(), cells


def _literal(path: Path, encoding: str) -> Any:
    """What ``_whole`` gives of a text file, by the csv module; Parquet is read by the package."""
    content = path.read_bytes()
    if content.startswith(b"PAR1"):
        return _whole(path, encoding)
    try:
        content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        is_utf_16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = content.decode("utf-16" if is_utf_16 else "utf-8-sig" if encoding == "utf-8" else encoding)
        header = text.lstrip("\r\n").partition("\n")[0].partition("\r")[0]
        delimiter = "\t" if {".tsv", ".tab"} & set(path.suffixes) else max(",\t;|", key=header.count)
        if delimiter not in header and re.search(r"\S[ \t]+\S", header):
            return _whole(path, encoding)  # cells may be separated by blanks
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows, line = [], 1
        for row in reader:
            rows += [(line, row)] if row else []
            line = reader.line_num + 1
    except (OSError, EOFError, zlib.error, ValueError, csv.Error) as error:
        return str(error)
    if not rows or not content.strip() or "\0" in text or re.match(r"\s*(\{|\[\s*[\]{]|<)", text):
        return "empty, or of another form"
    names = [name.strip() or f"column_{number}" for number, name in enumerate(rows[0][1], 1)]
    if len(set(names)) < len(names) or {len(row) for _, row in rows} != {len(names)}:
        return "names or widths differ"
    lines = [line for line, _ in rows[1:]]
    cells = [[c[1:] if c[:1] == "'" and c[1:2] and c[1] in ESCAPED else c for c in row] for _, row in rows[1:]]
    return names, lines, {name: [_spelled(row[i]) for row in cells] for i, name in enumerate(names)}


def _spelled(cell: Any) -> str | None:
    """A cell as ids are compared; what can be no id by its type."""
    if is_missing(cell):
        return None
    return spell_id(cell) if isinstance(cell, str | float | int | np.generic) else type(cell).__name__


def _pieces(path: Path, encoding: str) -> Any:
    table = open_table(path, "edges", encoding)
    names = list(table.frame.columns)
    numbers: list[int] = []
    cells: dict[str, list[Any]] = {name: [] for name in names}
    for rows in table.batches(names):
        numbers += rows.numbers.tolist()
        for name in names:
            spelled = [_spelled(cell) for cell in rows.columns[name].tolist()]
            ids = sorted(filter(None, set(spelled)))
            try:
                positions = IdIndex(ids).positions(rows.columns[name], table, name)
                cells[name] += [ids[p] if p >= 0 else None for p in positions]
            except DccgcnError:  # no ids: compared as cells
                cells[name] += spelled
    return names, numbers, cells


def main() -> None:
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    from unittest.mock import patch

    def set_attribute(name: str, value: Any) -> None:
        patch(name, value).start()

    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            check(number, Path(folder), set_attribute)
            if (done := number - first + 1) % 1000 == 0:
                print(f"{done} of {count} files of edges", file=sys.stderr, flush=True)
    print(f"{count} files of edges are the same in pieces and whole")


if __name__ == "__main__":
    main()
