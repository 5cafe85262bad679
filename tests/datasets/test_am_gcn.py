"""The AM-GCN reader on a small archive of the same form, and on malformed ones."""

import zipfile
from pathlib import Path

import pytest

from dccgcn.datasets.am_gcn import read_am_gcn
from dccgcn.errors import DataFileError

TOY = {
    "toy/toy.edge": "0 1\n1\t2\n2 3\n3 3\n",
    "toy/toy.feature": "1 0 1\n0\t1\t0\n0 0 0\n0 0 1\n",
    "toy/toy.label": "0\n2\n0\n2\n",
    **{f"toy/train{k}.txt": "0\n3\n" for k in (20, 40, 60)},
    **{f"toy/test{k}.txt": "2\n" for k in (20, 40, 60)},
}


def archive(folder: Path, **changes: str | None) -> Path:
    """The toy archive; changes are by file ending, None leaves the file out."""
    path = folder / "toy.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for member, text in TOY.items():
            ending = member.rsplit("/")[-1].removeprefix("toy.").removesuffix(".txt")
            changed = changes.get(ending, text)
            if changed is not None:
                file.writestr(member, changed)
    return path


@pytest.mark.parametrize("last_line", ["0 0 1\n", "0 0 1", "0 0 1 \r\n"])
def test_reads_the_three_tables_and_the_splits(tmp_path: Path, last_line: str) -> None:
    graph, splits = read_am_gcn(archive(tmp_path, feature=f"1 0 1\n0\t1\t0\n0 0 0\n{last_line}"))
    assert graph.features.toarray().tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert graph.classes == (0, 1, 2)
    assert graph.labels.tolist() == [0, 2, 0, 2]
    assert graph.name == "toy"
    assert [split.kind for split in splits] == ["am-gcn-20", "am-gcn-40", "am-gcn-60"]
    assert splits[0].train.tolist() == [0, 3]
    assert splits[0].test.tolist() == [2]
    assert splits[0].seed is None


@pytest.mark.parametrize("line", ["0 2 1", "0 1", "0 1 0 1", "0  1 0", "0,1,0", "0 1 0.0", "", "0 1 x"])
def test_a_malformed_feature_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(
        DataFileError, match=r"Line 2 of toy/toy\.feature in .*toy\.zip is malformed: expected 3 digits"
    ):
        read_am_gcn(archive(tmp_path, feature=f"1 0 1\n{line}\n0 0 0\n0 0 1\n"))


@pytest.mark.parametrize("line", ["1", "1 2 3", "1 -2", "1 2.0", "one two", "", "1 99999999999999999999"])
def test_a_malformed_edge_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataFileError, match=r"Line 3 of toy/toy\.edge in .*toy\.zip is malformed: expected 2 whole"):
        read_am_gcn(archive(tmp_path, edge=f"0 1\n1 2\n{line}\n"))


def test_a_missing_or_doubled_member_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"holds 0 files that end in \.edge"):
        read_am_gcn(archive(tmp_path, edge=None))
    path = archive(tmp_path)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("toy/other.edge", "0 1\n")
    with pytest.raises(DataFileError, match=r"holds 2 files that end in \.edge"):
        read_am_gcn(path)


def test_empty_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"toy/toy\.label in .* is empty"):
        read_am_gcn(archive(tmp_path, label=""))


def test_tables_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="do not fit together: 1 edges point"):
        read_am_gcn(archive(tmp_path, edge="0 1\n3 4\n"))
    with pytest.raises(DataFileError, match="do not fit together: There are 2 labels for 4 rows"):
        read_am_gcn(archive(tmp_path, label="0\n1\n"))
    with pytest.raises(DataFileError, match="do not fit together: 1 nodes are in both"):
        read_am_gcn(archive(tmp_path, test40="3\n"))


def test_row_38_a_truncated_or_altered_archive_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataFileError, match="not a whole zip archive"):
        read_am_gcn(path)
    altered = bytearray(whole)
    altered[whole.index(b"toy/toy.label") + len("toy/toy.label") + 3] ^= 0xFF
    path.write_bytes(bytes(altered))
    with pytest.raises(DataFileError, match="not a whole zip archive"):
        read_am_gcn(path)
