"""What the tests of tables share."""

import pytest

from dccgcn.tables.read import read_tables
from helpers.tables import EDGES, NODES


@pytest.fixture
def tables(tmp_path):
    """Writes two tables and reads them."""

    def read(nodes=NODES, edges=EDGES, suffix=".csv", **options):
        paths = []
        for name, content in (("nodes", nodes), ("edges", edges)):
            paths.append(tmp_path / f"{name}{suffix}")
            paths[-1].write_bytes(content.encode() if isinstance(content, str) else content)
        return read_tables(*paths, **options)

    return read
