"""Small files that stand for much memory are refused before it is taken, with the cell or column."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dccgcn import NodeGraph, read_tables
from dccgcn.concord.cost import concord_cost
from dccgcn.concord.settings import ConcordSettings
from dccgcn.errors import DataFileError


def test_a_parquet_file_of_long_texts_names_the_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("DCCGCN_TABLE_GB", "0.1")
    bomb = tmp_path / "nodes.parquet"
    long = pd.Series(["x" * 10**6], dtype=object).repeat(1000)  # a gigabyte of one text
    pd.DataFrame({"id": range(1000), "essay": long.to_numpy()}).to_parquet(bomb)
    assert bomb.stat().st_size < 1e6
    with pytest.raises(DataFileError, match=r"unpacks to more than 0\.1 GB, most of it for column 'essay'"):
        read_tables(bomb, bomb)


def test_a_workbook_with_one_far_cell_names_it(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "id", "far"
    book.save(tmp_path / "nodes.xlsx")
    with pytest.raises(DataFileError, match="most of it for cell XFD1048576"):
        read_tables(tmp_path / "nodes.xlsx", tmp_path / "nodes.xlsx")


def test_millions_of_sparse_columns_are_counted() -> None:
    """300 nodes with two million columns took 4.5 GB where .65 were estimated."""
    features = sp.csr_array((np.ones(300), (np.arange(300), np.arange(300) % 7)), shape=(300, 2 * 10**6))
    graph = NodeGraph(features, [(0, 1)], ["a", "b"] * 150)
    assert 3e9 < concord_cost(graph, ConcordSettings()).bytes < 9e9
