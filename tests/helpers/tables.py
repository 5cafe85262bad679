"""A small pair of tables that several tests change."""

from pathlib import Path

import pandas as pd
import pytest

from dccgcn.errors import DccgcnError
from dccgcn.tables.write import csv_text

NODES = """\
id,topic,title,age,country
007,graphs,"deep networks, for graphs",12,DE
x,,learning on graphs with few labels,15,DE
=3,food,cooking with many spices,44,FR
08,,spices for cooking at home,33,FR
"""
EDGES = "source,target\n007,x\n=3,08\nx,08\n"


def refused(read, *words, **options):
    with pytest.raises(DccgcnError) as caught:
        read(**options)
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)


def codes(graph):
    return [finding.code for finding in graph.findings]


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a user's table, whatever is there."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        path.write_text(csv_text(frame, float_format="%.6f"), encoding="utf-8")
