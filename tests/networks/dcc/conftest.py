"""What the tests of DCC-GCN share."""

import pytest

from helpers.small_dcc import small_graph


@pytest.fixture(scope="module")
def graph():
    return small_graph()
