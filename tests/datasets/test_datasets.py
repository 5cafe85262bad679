"""The catalogue, the data folder, and the exact content of every benchmark graph."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from dccgcn import datasets
from dccgcn.datasets import DATASETS, DataFile, Dataset, data_folder, fetch
from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.graph.splits import check_training

CONTENT = b"a small public file"
SHA256 = hashlib.sha256(CONTENT).hexdigest()

# name: labelled nodes, homophily
LABELLED = {
    "cora": (2708, 0.810),
    "cora-planetoid": (2708, 0.810),
    "citeseer": (3312, 0.738),
    "pubmed": (19717, 0.802),
    "acm": (3025, 0.821),
    "flickr": (7575, 0.239),
    "uai2010": (3067, 0.364),
    "corafull": (19793, 0.567),
    "corafull-partial": (19793, 0.567),
    "amazon-photo": (7650, 0.827),
    "dblp": (17716, 0.828),
    "facebook-pages": (22470, 0.885),
    "fb100-amherst41-year": (1934, 0.577),
    "minesweeper": (10000, 0.683),
    "polblogs": (1490, 0.906),
    "squirrel-filtered-directed": (2223, 0.207),
    "twitch-de": (9498, 0.632),
    "twitch-engb": (7126, 0.556),
    "wisconsin": (251, 0.178),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.benchmark_files(name)) for name in LABELLED])
def test_every_dataset_has_the_counts_of_the_catalogue(name: str) -> None:
    graph, info = datasets.load(name).graph, DATASETS[name]
    assert graph.name == name
    assert (graph.c, graph.d, graph.n, len(graph.edges)) == (info.classes, info.features, info.nodes, info.pairs)
    assert int((graph.degree == 0).sum()) == info.isolated
    assert info.zero_rows in (None, int((np.asarray(abs(graph.features).sum(axis=1)) == 0).sum()))
    assert (len(graph.labelled), round(graph.homophily, 3)) == LABELLED[name]
    assert np.bincount(graph.labels[graph.labelled], minlength=graph.c).min() > 0


def test_the_catalogue_lists_what_is_tested_here() -> None:
    assert list(DATASETS) == list(LABELLED)
    for info in DATASETS.values():
        assert all(len(file.sha256) == 64 for file in info.files)
        assert all(file.url is None or file.url.startswith("https://") for file in info.files)
        if info.format == "graph-npz":
            assert [file.path for file in info.files] == [f"graphs/{info.name}.npz"]
        assert (info.paper_edges is None) == (info.format == "graph-npz")  # counts of the paper's own graphs only


# name: pairs with their direction, without self-loops
DIRECTED = {"amazon-photo": 143662, "polblogs": 19022, "squirrel-filtered-directed": 65578}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.benchmark_files(name)) for name in DIRECTED])
def test_directed_edges_are_kept_beside_the_graph(name: str) -> None:
    loaded = datasets.load(name)
    pairs = loaded.directed_edges
    assert pairs is not None
    assert pairs.shape == (DIRECTED[name], 2)
    assert np.array_equal(np.unique(np.sort(pairs, axis=1), axis=0), loaded.graph.edges)


def test_only_these_have_directed_edges(cora: Dataset) -> None:
    assert {name for name, info in DATASETS.items() if info.directed} == set(DIRECTED)
    assert cora.directed_edges is None


@pytest.mark.benchmark_files("polblogs", "fb100-amherst41-year", "facebook-pages")
def test_classes_and_findings_of_graphs_of_other_kinds() -> None:
    blogs = datasets.load("polblogs").graph
    assert not blogs.has_features.any()
    assert "no-features" in {finding.code for finding in blogs.findings}
    assert datasets.load("fb100-amherst41-year").graph.classes == (2004, 2005, 2006, 2007, 2008, 2009)
    assert datasets.load("facebook-pages").graph.classes == ("company", "government", "politician", "tvshow")


def test_the_embedded_cora_needs_no_folder(cora: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCCGCN_DATA", "/does/not/exist")
    assert datasets.load("cora").graph.n == 2708
    assert cora.graph.classes[3] == "Neural_Networks"
    assert np.bincount(cora.graph.labels).tolist() == [351, 217, 418, 818, 426, 298, 180]
    assert cora.graph.findings == ()
    assert set(np.unique(cora.graph.features.data)) == {1.0}
    public = cora.splits["public"]
    assert (len(public.train), len(public.validation), len(public.test)) == (140, 500, 1000)
    assert np.bincount(cora.graph.labels[public.train]).tolist() == [20] * 7


@pytest.mark.benchmark_files("cora-planetoid")
def test_the_embedded_cora_is_planetoids(cora: Dataset) -> None:
    other = datasets.load("cora-planetoid")
    assert np.array_equal(cora.graph.edges, other.graph.edges)
    assert np.array_equal(cora.graph.labels, other.graph.labels)
    assert cora.graph.classes == other.graph.classes
    assert (cora.graph.features != other.graph.features).nnz == 0
    for part in ("train", "validation", "test"):
        assert np.array_equal(getattr(cora.splits["public"], part), getattr(other.splits["public"], part))


@pytest.mark.benchmark_files("citeseer")
def test_citeseers_undescribed_nodes_are_in_no_part_of_the_split() -> None:
    citeseer = datasets.load("citeseer")
    undescribed = np.flatnonzero(citeseer.graph.labels < 0)
    public = citeseer.splits["public"]
    assert len(undescribed) == 15
    assert np.diff(citeseer.graph.features.indptr)[undescribed].tolist() == [0] * 15
    assert not np.isin(undescribed, np.concatenate([public.train, public.validation, public.test])).any()
    assert (len(public.train), len(public.validation), len(public.test)) == (120, 500, 1000)


@pytest.mark.benchmark_files("uai2010", "acm")
def test_am_gcns_splits_are_as_published() -> None:
    acm, uai = datasets.load("acm"), datasets.load("uai2010")
    assert list(acm.splits) == list(uai.splits) == ["am-gcn-20", "am-gcn-40", "am-gcn-60"]
    assert np.bincount(acm.graph.labels[acm.splits["am-gcn-40"].train]).tolist() == [40, 40, 40]
    assert len(acm.splits["am-gcn-40"].test) == 1000
    codes = [finding.code for finding in check_training(uai.graph, uai.splits["am-gcn-20"].train)]
    assert "unseen-classes" in codes  # class 4 has no training node in AM-GCN's own file


@pytest.mark.parametrize(("name", "meant"), [("Cora", "cora"), ("cite-seer", "citeseer"), ("pubmd", "pubmed")])
def test_an_unknown_name_gets_a_suggestion_and_the_list(name: str, meant: str) -> None:
    with pytest.raises(DccgcnError, match=f"Did you mean '{meant}'.*corafull-partial"):
        datasets.load(name)
    with pytest.raises(DccgcnError, match=r"no dataset 'xyz'\. Choose one of: cora, "):
        datasets.load("xyz")


def test_the_data_folder_is_the_argument_else_the_variable_else_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCCGCN_DATA", "/somewhere")
    assert data_folder("/given") == Path("/given")
    assert data_folder() == Path("/somewhere")
    monkeypatch.delenv("DCCGCN_DATA")
    assert "dccgcn" in data_folder().parts


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A public address on this machine: /right gives the expected file, /wrong another, all else nothing."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response({"/right": 200, "/wrong": 200}.get(self.path, 404))
            self.end_headers()
            self.wfile.write(CONTENT if self.path == "/right" else b"something else")

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_a_missing_file_is_downloaded_once(tmp_path: Path, server: str) -> None:
    path = fetch(DataFile("sub/file.bin", f"{server}/right", SHA256), tmp_path)
    assert path == tmp_path / "sub" / "file.bin"
    assert path.read_bytes() == CONTENT
    assert fetch(DataFile("sub/file.bin", f"{server}/gone", SHA256), tmp_path) == path


@pytest.mark.parametrize("address", ["wrong", "gone"])
def test_row_38_a_wrong_download_is_not_kept(tmp_path: Path, server: str, address: str) -> None:
    with pytest.raises(DataFileError, match=rf"could not be downloaded from {server}/{address}") as caught:
        fetch(DataFile("sub/file.bin", f"{server}/{address}", SHA256), tmp_path)
    assert str(tmp_path / "sub" / "file.bin") in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_without_network_the_message_names_the_path(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"sub/file\.bin is missing .* http://127\.0\.0\.1:9/file\.bin") as caught:
        fetch(DataFile("sub/file.bin", "http://127.0.0.1:9/file.bin", SHA256), tmp_path)
    assert str(tmp_path / "sub" / "file.bin") in caught.value.remedy
    assert "DCCGCN_DATA" in caught.value.remedy


def test_a_file_without_address_can_only_be_put_there(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no public address"):
        datasets.load("corafull-partial", tmp_path)
    with pytest.raises(DataFileError, match=r"graphs/wisconsin\.npz is missing and has no public address") as caught:
        datasets.load("wisconsin", tmp_path)
    assert str(tmp_path / "graphs" / "wisconsin.npz") in caught.value.remedy
    assert "DCCGCN_DATA" in caught.value.remedy


@pytest.mark.parametrize("address", ["https://example.org/file.bin", None])
def test_row_38_a_wrong_file_is_refused_and_left_as_it_is(tmp_path: Path, address: str | None) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(DataFileError, match="is not the expected file"):
        fetch(DataFile("file.bin", address, SHA256), tmp_path)
    assert path.read_bytes() == CONTENT[:-1]
