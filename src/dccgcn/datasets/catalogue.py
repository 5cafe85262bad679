"""The benchmark graphs: addresses and hashes of their files, and the counts that each graph must have."""

from dccgcn.datasets.info import DataFile, DatasetInfo
from dccgcn.datasets.other_kinds import OTHER_KINDS

CORA_CLASSES = (  # in the order of Planetoid's label columns
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)


_PLANETOID = "Yang, Cohen and Salakhutdinov 2016, github.com/kimiyoung/planetoid"
_AM_GCN = "Wang et al. 2020, github.com/zhumeiqiBUPT/AM-GCN"
_GRAPH2GAUSS = "Bojchevski and Günnemann 2018, github.com/abojchevski/graph2gauss"


def _planetoid(name: str, *hashes: str) -> tuple[DataFile, ...]:
    parts = ("allx", "ally", "graph", "test.index", "tx", "ty", "x", "y")
    address = "https://github.com/kimiyoung/planetoid/raw/master/data"
    names = [f"ind.{name}.{part}" for part in parts]
    return tuple(DataFile(f"planetoid/{f}", f"{address}/{f}", h) for f, h in zip(names, hashes, strict=True))


def _am_gcn(name: str, sha256: str) -> tuple[DataFile, ...]:
    url = f"https://github.com/zhumeiqiBUPT/AM-GCN/raw/master/data/{name}.zip"
    return (DataFile(f"am-gcn/{name}.zip", url, sha256),)


_DATASETS = (
    DatasetInfo(
        name="cora",
        title="Cora",
        kind="citation",
        description="Machine-learning papers, their words and citations; part of the package, nothing to download.",
        source="McCallum et al. 2000, Sen et al. 2008; from the wheel graphdatascience 2.2 (see ORIGIN.md)",
        format="embedded",
        files=(),
        classes=7,
        features=1433,
        nodes=2708,
        pairs=5278,
        isolated=0,
        zero_rows=0,
        paper_edges=5429,
    ),
    DatasetInfo(
        name="cora-planetoid",
        title="Cora (Planetoid's files)",
        kind="citation",
        description="The same graph as cora, read from the public files.",
        source=_PLANETOID,
        format="planetoid",
        files=_planetoid(
            "cora",
            "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
            "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
            "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
            "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
            "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
            "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
            "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
            "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        ),
        classes=7,
        features=1433,
        nodes=2708,
        pairs=5278,
        isolated=0,
        zero_rows=0,
        paper_edges=5429,
    ),
    DatasetInfo(
        name="citeseer",
        title="Citeseer",
        kind="citation",
        description="Computer-science papers; 15 of them have neither words nor a class and are left unlabelled.",
        source=_PLANETOID,
        format="planetoid",
        files=_planetoid(
            "citeseer",
            "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
            "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
            "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
            "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
            "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
            "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
            "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
            "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
        ),
        classes=6,
        features=3703,
        nodes=3327,
        pairs=4552,
        isolated=48,
        zero_rows=15,
        paper_edges=4732,
    ),
    DatasetInfo(
        name="pubmed",
        title="Pubmed",
        kind="citation",
        description="Papers on diabetes with tf-idf word weights.",
        source=_PLANETOID,
        format="planetoid",
        files=_planetoid(
            "pubmed",
            "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
            "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
            "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
            "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
            "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
            "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
            "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
            "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
        ),
        classes=3,
        features=500,
        nodes=19717,
        pairs=44324,
        isolated=0,
        zero_rows=0,
        paper_edges=44338,
    ),
    DatasetInfo(
        name="acm",
        title="ACM",
        kind="co-author",
        description="Papers of three fields, linked if they share an author.",
        source=_AM_GCN,
        format="am-gcn",
        files=_am_gcn("acm", "99166d12818748c33ebfe752e6f03ada78b3be3465e419141ea78d65bdccc3f4"),
        classes=3,
        features=1870,
        nodes=3025,
        pairs=13128,
        isolated=561,
        zero_rows=0,
        paper_edges=13128,
    ),
    DatasetInfo(
        name="flickr",
        title="Flickr",
        kind="social",
        description="Users of a picture site and their friendships; most edges connect two classes.",
        source=_AM_GCN,
        format="am-gcn",
        files=_am_gcn("flickr", "3d5bf9dc20144ec079daac0c402ffcbb853c3f56f0cd70f429c628eb9c0ff18d"),
        classes=9,
        features=12047,
        nodes=7575,
        pairs=239738,
        isolated=0,
        zero_rows=11,
        paper_edges=239738,
    ),
    DatasetInfo(
        name="uai2010",
        title="UAI2010",
        kind="web",
        description="Wikipedia pages of 19 classes, the smallest of 9 pages.",
        source=_AM_GCN,
        format="am-gcn",
        files=_am_gcn("uai", "319255286c2081689a76719ffbdd9bfb273369718ac060d1604d0edc6f882c7f"),
        classes=19,
        features=4973,
        nodes=3067,
        pairs=28308,
        isolated=6,
        zero_rows=0,
        paper_edges=28311,
    ),
    DatasetInfo(
        name="corafull",
        title="CoraFull",
        kind="citation",
        description="The whole of Cora: papers of 70 fields of computer science.",
        source=_GRAPH2GAUSS,
        format="citation-full",
        files=(
            DataFile(
                "graph2gauss/cora.npz",
                "https://github.com/abojchevski/graph2gauss/raw/master/data/cora.npz",
                # as published for this address, for example in the registry of GraphMLDatasets.jl;
                # not verified against the file itself
                "62e054f93be00a3dedb15b7ac15a2a07168ceab68b40bf95f54d2289d024c6bc",
            ),
        ),
        classes=70,
        features=8710,
        nodes=19793,
        pairs=63421,
        isolated=0,
        zero_rows=None,
        paper_edges=65331,
    ),
    DatasetInfo(
        name="corafull-partial",
        title="CoraFull without features",
        kind="citation",
        description="CoraFull's edges and classes without features, for methods that need none.",
        source=_GRAPH2GAUSS,
        format="citation-partial",
        files=(
            DataFile(
                "partial/corafull_without_features.npz",
                None,
                "424a2849716152456edff19b10d37899f3bab701b186a01bbf89c8aa8079111d",
            ),
        ),
        classes=70,
        features=1,  # a constant column in their place
        nodes=19793,
        pairs=63421,
        isolated=0,
        zero_rows=0,
        paper_edges=65331,
    ),
)

DATASETS = {info.name: info for info in (*_DATASETS, *OTHER_KINDS)}
