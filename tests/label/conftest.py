import pytest

from helpers.browser import chromium


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started
