"""Small files that stand for much memory are refused before it is taken, with the cell or column."""

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dccgcn import NodeGraph, read_tables
from dccgcn.concord.cost import concord_cost
from dccgcn.concord.settings import ConcordSettings
from dccgcn.errors import DataFileError, GraphError


def test_a_parquet_file_of_long_texts_names_the_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("DCCGCN_TABLE_GB", "0.1")
    bomb = tmp_path / "nodes.parquet"
    long = pd.Series(["x" * 10**6], dtype=object).repeat(1000)  # a gigabyte of one text
    pd.DataFrame({"id": range(1000), "essay": long.to_numpy()}).to_parquet(bomb)
    assert bomb.stat().st_size < 1e6
    with pytest.raises(DataFileError, match=r"unpacks to more than 0\.1 GB, most of it for column 'essay'"):
        read_tables(bomb, bomb)


FAR = b"<row r='1048576'><c r='XFD1048576' t='n'><v>1</v></c></row>"
WORKBOOKS = {  # a change of the sheet, and the cell that the error names
    "far": (FAR, "XFD1048576"),
    "quotes": (FAR.replace(b"'", b'"'), "XFD1048576"),
    "reference": (FAR.replace(b"XFD", b"&#88;FD"), "XFD1048576"),
    "no places": (b"<row>" + b"<c/>" * 16384 + b"</row>" + b"<row><c/></row>" * 20_000, "XFD"),
}


@pytest.mark.parametrize("kind", WORKBOOKS)
def test_a_workbook_with_one_far_cell_names_it(kind: str, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    rows, cell = WORKBOOKS[kind]
    book = openpyxl.Workbook()
    book.active["A1"] = "id"
    book.save(tmp_path / "plain.xlsx")
    bomb = tmp_path / "nodes.xlsx"
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as plain, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in plain.namelist():
            content = plain.read(name).replace(b"</sheetData>", rows + b"</sheetData>")
            packed.writestr(name.replace("worksheets", "else"), content.replace(b"worksheets/sheet", b"else/sheet"))
    with pytest.raises(DataFileError, match=f"most of it for cell {cell}"):
        read_tables(bomb, bomb)


@pytest.mark.parametrize("content", [b"id\n" + b"a\n" * 10**6, b"10,20\n" * 10**6, b"{}\n" * 10**6])
def test_many_small_cells_are_counted(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them takes a hundred bytes of memory, whatever its length in the file."""
    monkeypatch.setattr("dccgcn.runtime.memory.available_memory", lambda: (1e8, 1e8))
    monkeypatch.setenv("DCCGCN_TABLE_GB", "1")
    (tmp_path / "nodes").write_bytes(gzip.compress(content))
    with pytest.raises(GraphError, match=r"needs about .* of memory"):
        read_tables(tmp_path / "nodes", tmp_path / "nodes")


def test_json_with_another_name_in_every_row_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCCGCN_TABLE_GB", "0.1")
    (tmp_path / "n.json").write_text("\n".join(f'{{"id": {i}, "k{i}": 1}}' for i in range(5000)))
    with pytest.raises(DataFileError, match="its 5,001 columns"):
        read_tables(tmp_path / "n.json", pd.DataFrame({"source": [0], "target": [1]}))


def test_millions_of_sparse_columns_are_counted() -> None:
    """300 nodes with two million columns took 4.5 GB where .65 were estimated."""
    features = sp.csr_array((np.ones(300), (np.arange(300), np.arange(300) % 7)), shape=(300, 2 * 10**6))
    graph = NodeGraph(features, [(0, 1)], ["a", "b"] * 150)
    assert 3e9 < concord_cost(graph, ConcordSettings()).bytes < 9e9
