"""Tables that atheris makes, guided by the lines of the readers that they reach. Needs: pip install atheris

    cd tests && ../.venv/bin/python -m tools.fuzz_guided -runs=10000    # as `make fuzz-guided` does

As in ``tools.fuzz``, every input gives a graph or a DccgcnError with a remedy. libFuzzer writes an input that fails to
a file crash-… in this folder; give that file as an argument to repeat it.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["dccgcn.tables", "dccgcn.graph"]):
    from dccgcn.errors import DccgcnError
    from dccgcn.tables.read import read_tables

from tools.fuzz import EDGES, NODES, ENCODINGS  # isort: skip

FOLDER = Path(tempfile.mkdtemp(prefix="dccgcn-fuzz-"))
SEPARATOR = b"\xff\x00\xff"  # between the two tables of an input


def one_input(data: bytes) -> None:
    """Read the two tables of an input."""
    first, _, second = data.partition(SEPARATOR)
    (FOLDER / "nodes.csv").write_bytes(first)
    (FOLDER / "edges.csv").write_bytes(second or EDGES.encode())
    try:
        graph = read_tables(FOLDER / "nodes.csv", FOLDER / "edges.csv").graph
    except DccgcnError as error:
        if not error.remedy:
            raise
        return
    assert len(graph.ids) == graph.features.shape[0]


def main() -> None:
    seeds = FOLDER / "seeds"
    seeds.mkdir()
    for number, encoding in enumerate(("utf-8", *ENCODINGS)):
        content = NODES.encode(encoding, "replace") + SEPARATOR + EDGES.encode(encoding, "replace")
        (seeds / str(number)).write_bytes(content)
    atheris.Setup([*sys.argv, str(seeds)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
