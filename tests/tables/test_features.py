"""Feature columns as numbers, categories and words."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dccgcn.errors import GraphError
from dccgcn.tables.encode import FeatureEncoder
from dccgcn.tables.files import read_table
from dccgcn.tables.read import read_tables
from dccgcn.tables.table import Table
from dccgcn.tables.values import to_numbers
from dccgcn.tables.write import write_tables
from helpers.tables import NODES, codes, refused


def test_row_01_missing_numbers_are_named_or_imputed(tables):
    nodes = NODES.replace("44", "").replace("33", "inf")
    words = "2 numbers in columns 'age' were missing", "lines 4, 5 of nodes.csv", "--impute mean"
    refused(tables, *words, nodes=nodes, impute="error")
    filled = tables(nodes, features=["age"])
    assert filled.graph.features.toarray()[2:, 0] == pytest.approx([0, 0])  # the mean, standardised
    assert filled.graph.features.toarray()[:, 1].tolist() == [0, 0, 1, 1]  # 1 where it is missing
    assert filled.encoder.names == ["age", "age is missing"]
    assert "imputed-features" in [finding.code for finding in filled.graph.findings]
    zero = tables(nodes, impute="zero", features=["age"], scale=False)
    assert zero.graph.features.toarray()[:, 0].tolist() == [12, 15, 0, 0]


def test_many_word_columns_stay_sparse_and_as_they_are(small_cora, tmp_path):
    cora = small_cora
    write_tables(cora.graph, tmp_path)
    graph = read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv").graph
    assert graph.ids.tolist() == [str(i) for i in cora.graph.ids]
    assert sp.issparse(graph.features)
    assert (graph.features != cora.graph.features).nnz == 0
    assert np.array_equal(graph.edges, cora.graph.edges)
    assert [graph.classes[c] for c in graph.labels] == [cora.graph.classes[c] for c in cora.graph.labels]


def test_numbers_are_scaled_by_what_they_hold():
    n = 40
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(n), "flag": np.arange(n) % 2, "size": rng.normal(1000, 50, n)})
    frame["posts"] = np.where(np.arange(n) % 3, 0, 500)
    edges = pd.DataFrame({"u": [0, 1], "v": [1, 2]})
    read = read_tables(frame, edges)
    assert dict(read.columns.features) == {"flag": "as-is", "size": "standard", "posts": "max-abs"}
    x = read.graph.features.toarray()
    assert set(x[:, 0]) == {0, 1}
    assert x[:, 1].mean() == pytest.approx(0, abs=1e-5)
    assert x[:, 1].std() == pytest.approx(1, abs=1e-5)
    assert set(x[:, 2]) == {0, 1}
    counts = pd.DataFrame({f"w{j}": rng.poisson(0.2, n) for j in range(20)}).assign(id=range(n))
    assert set(read_tables(counts, edges).columns.features.values()) == {"as-is"}
    assert set(read_tables(frame, edges, scale=False).columns.features.values()) == {"as-is"}


def test_decimal_commas_are_read_if_said_so_and_refused_if_not(tables):
    nodes = "id;y;f;g\na;x;1,5;2\nb;y;1.002,25;3\nc;;-3;4\n"
    refused(tables, "'f' of nodes.csv hold numbers with a comma", "--decimal ','", nodes=nodes, edges="u;v\na;b\n")
    read = tables(nodes, "u;v;w\na;b;0,5\n", decimal=",", scale=False)
    assert read.graph.features.toarray()[:, 0].tolist() == [1.5, 1002.25, -3]
    assert read.graph.weights.tolist() == [0.5]
    assert dict(tables(nodes, "u;v\na;b\n", categorical=["f"]).columns.features)["f"] == "categorical"


def test_blocks_of_several_kinds_have_equal_weight():
    n = 30
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(9)})
    frame["id"] = [f"n{i}" for i in range(n)]
    frame["text"] = [f"some words about subject {'abcde'[i % 5] * 3}" for i in range(n)]
    read = read_tables(frame, pd.DataFrame({"u": ["n0"], "v": ["n1"]}))
    x = read.graph.features.toarray()
    for block in (x[:, :9], x[:, 9:]):
        assert (block**2).sum() / n == pytest.approx(1, rel=1e-5)


def test_the_encoder_is_restored_from_json_and_encodes_new_nodes(tables, tmp_path):
    read = tables(impute="error")
    encoder = FeatureEncoder.model_validate(json.loads(json.dumps(read.encoder.model_dump())))
    assert encoder == read.encoder
    frame = read_table(tmp_path / "nodes.csv", "nodes").frame
    assert (encoder.transform(frame) != read.graph.features).nnz == 0
    assert len(encoder.names) == read.graph.d
    new = pd.DataFrame(
        {"title": ["spices", "unheard of"], "age": ["25", 25.0], "country": ["XX", None], "more": [1, 2]}
    )
    x = encoder.transform(new).toarray()
    assert (x[:, encoder.names.index("country=DE")] == 0).all()
    assert x[0, encoder.names.index("title=spices")] > 0
    assert not x[1, [i for i, name in enumerate(encoder.names) if name.startswith("title=")]].any()
    with pytest.raises(GraphError, match="lacks columns that were there at training: 'country'"):
        encoder.transform(new.drop(columns="country"))
    with pytest.raises(GraphError, match="1 numbers in columns 'age' were missing"):
        encoder.imputation_findings(Table(new.assign(age=["old", 1]), "new.csv"))
    for broken in ({"form": 2}, {"numbers": {}}):
        with pytest.raises(ValueError, match="FeatureEncoder"):
            FeatureEncoder.model_validate(broken)


def test_numbers_are_parsed_strictly():
    cells = pd.DataFrame({"x": ["1", " 2 ", "", "nan", None, "1e3", "x", "1,5", "1_0", True, 7, pd.NA]}, dtype=object)
    values, wrong = to_numbers(cells)
    assert wrong[:, 0].tolist() == [False] * 6 + [True] * 3 + [False] * 3
    np.testing.assert_array_equal(
        values[:, 0], [1, 2, np.nan, np.nan, np.nan, 1000, np.nan, np.nan, np.nan, 1, 7, np.nan]
    )


def test_fitting_and_transforming_at_once_gives_the_same_bits():
    rng = np.random.default_rng(2)
    words = np.array([f"word{'abcdefghij'[i % 10] * (1 + i // 10)}" for i in range(60)])
    n = 200
    frame = pd.DataFrame({"text": [" ".join(rng.choice(words, rng.integers(1, 30))) for _ in range(n)]})
    frame["country"], frame["age"] = rng.choice(["DE", "FR"], n), rng.normal(40, 10, n)
    for roles in ({"text": "text"}, {"text": "text", "country": "categorical", "age": "standard"}):
        encoder, fitted = FeatureEncoder.fit_transform(frame, roles)
        again = FeatureEncoder.model_validate(json.loads(json.dumps(encoder.model_dump()))).transform(frame)
        for part in ("data", "indices", "indptr"):
            assert getattr(fitted, part).tobytes() == getattr(again, part).tobytes()


def test_links_and_names_are_no_text():
    nodes = pd.DataFrame(
        {
            "id": range(30),
            "link": [f"https://example.com/papers/{i}" for i in range(30)],
            "title": [f"a study of {['graphs', 'trees'][i % 2]} and of the number {i}" for i in range(30)],
            "heading": [f"the item {i} of all" for i in range(30)],
            "words": [f"graphs;nodes;edges;w{i}" for i in range(30)],
        }
    )
    made = read_tables(nodes, pd.DataFrame({"source": [0], "target": [1]}))
    assert dict(made.columns.features) == {"title": "text", "words": "text"}
    assert "'link', 'heading'" in next(f.text for f in made.graph.findings if f.code == "ignored-columns")
    named = read_tables(nodes, pd.DataFrame({"source": [0], "target": [1]}), name="heading")
    assert "heading" not in next(f.text for f in named.graph.findings if f.code == "ignored-columns")


@pytest.mark.parametrize("form", ["w{}", "{}"])
@pytest.mark.parametrize("joined", [" ".join, ", ".join, list])
def test_codes_that_repeat_are_words(form, joined):
    rng = np.random.default_rng(0)
    codes = [[form.format(code) for code in rng.choice(90, rng.integers(3, 12), replace=False) + 10] for _ in range(60)]
    nodes = pd.DataFrame({"id": range(60), "codes": [joined(codes_of_node) for codes_of_node in codes]})
    made = read_tables(nodes, pd.DataFrame({"source": [0], "target": [1]}))
    assert dict(made.columns.features) == {"codes": "text"}
    n_nodes = Counter(code for codes_of_node in codes for code in codes_of_node)
    assert made.graph.features.shape[1] == sum(1 < n <= 30 for n in n_nodes.values())


def test_lists_of_whole_numbers_of_any_length_are_codes():
    cells = [[1, 17], [17, 256, 3], [256], [3, 17, 99, 1]] * 8
    nodes = pd.DataFrame({"id": range(32), "codes": cells})
    for table in (nodes, nodes.assign(codes=nodes["codes"].astype(str))):
        made = read_tables(table, pd.DataFrame({"source": [0], "target": [1]}))
        assert dict(made.columns.features)["codes"] != "as-is"


@pytest.mark.parametrize("bad", [["n.d."], ["unknown", "-", "Unknown", "?"] * 4])
def test_a_few_bad_cells_are_named_or_imputed(bad):
    year = [*map(str, range(40 - len(bad))), *bad]
    nodes = pd.DataFrame({"id": range(40), "x": [1.5, None, *range(38)], "year": year})
    edges = pd.DataFrame({"source": [0], "target": [1]})
    with pytest.raises(GraphError, match=f"'year' holds numbers except '{bad[0]}'.*--impute mean.*--categorical year"):
        read_tables(nodes, edges, impute="error")
    made = read_tables(nodes, edges)
    assert made.columns.features["year"] == "standard"
    texts = {finding.code: finding.text for finding in made.graph.findings}
    assert f"{1 + len(bad)} numbers in columns 'x', 'year'" in texts["imputed-features"]
    assert "count as missing" in texts["nearly-numbers"]
    new = made.encoder.transform(pd.DataFrame({"x": ["?"], "year": ["unknown"]}))
    assert new.toarray()[:, :2] == pytest.approx(0, abs=1e-6)  # the mean, standardised
    assert new.toarray()[:, 2:].tolist() == [[1, 1]]
    assert read_tables(nodes, edges, impute="mean", categorical="year").columns.features["year"] == "categorical"
    with pytest.raises(GraphError, match=r"the table of nodes: .*'x'"):
        read_tables(nodes, edges, ignore="year", impute="error")


def test_integers_of_sixteen_digits_are_numbers():
    n = 30
    count = np.random.default_rng(0).integers(10**16, 10**17, n)
    nodes = pd.DataFrame({"id": [f"n{i}" for i in range(n)], "count": count})
    edges = pd.DataFrame({"source": ["n0"], "target": ["n1"]})
    graph = read_tables(nodes, edges).graph
    x = graph.features.toarray()[:, 0]
    assert x.std() == pytest.approx(1, abs=1e-5)
    assert np.corrcoef(x, count.astype(float))[0, 1] == pytest.approx(1, abs=1e-6)
    assert "if they are ids" in next(f.text for f in graph.findings if f.code == "huge-numbers")


@pytest.mark.parametrize("form", [list, tuple, np.array, lambda v: str(list(v)), lambda v: str(np.array(v))])
def test_embeddings_become_a_feature_for_each_number(form):
    vectors = np.round(np.random.default_rng(1).normal(size=(8, 3)), 2)
    nodes = pd.DataFrame({"id": [f"n{i}" for i in range(8)], "vec": [form(v) for v in vectors.tolist()]})
    read = read_tables(nodes, pd.DataFrame({"source": ["n0"], "target": ["n1"]}))
    np.testing.assert_allclose(read.graph.features.toarray(), vectors, rtol=1e-6)
    assert read.encoder.names == ["vec[0]", "vec[1]", "vec[2]"]
    assert (read.encoder.transform(nodes[:2]) != read.graph.features[:2]).nnz == 0
    odd = nodes.copy()
    odd.at[3, "vec"] = form(vectors[3, :2].tolist())
    with pytest.raises(GraphError, match="vectors of 3 numbers, but not at row 3"):
        read_tables(odd, pd.DataFrame({"source": ["n0"], "target": ["n1"]}))


def test_embeddings_survive_parquet(tmp_path):
    nodes = pd.DataFrame({"id": ["a", "b", "c"], "vec": [[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]]})
    nodes.to_parquet(tmp_path / "n.parquet")
    read = read_tables(tmp_path / "n.parquet", pd.DataFrame({"source": ["a"], "target": ["b"]}))
    assert read.graph.features.toarray().tolist() == [[1, 2], [3, 4], [0, 1]]


@pytest.mark.parametrize("form", [list, "|".join])
def test_tags_and_token_lists_are_words(form):
    tags = [["drama", "comedy"], ["drama", "war"], ["comedy", "war"], ["war", "drama"], ["comedy", "drama"]]
    nodes = pd.DataFrame({"id": list("abcde"), "tags": [form(t) for t in tags]})
    read = read_tables(nodes, pd.DataFrame({"source": ["a"], "target": ["b"]}))
    assert dict(read.columns.features) == {"tags": "text"}
    assert set(read.encoder.names) == {"tags=comedy", "tags=drama", "tags=war"}
    spaced = nodes.assign(tags=[["science fiction", "x"]] * 2 + [["war"]] * 3)
    assert "tags=science_fiction" in read_tables(spaced, pd.DataFrame({"u": ["a"], "v": ["b"]})).encoder.names


def test_short_names_whose_words_repeat_are_text():
    people = [f"{first} {last}" for first in ("Ann", "Bob", "Cem") for last in ("Smith", "Kaya", "Braun", "Rossi")]
    nodes = pd.DataFrame({"id": range(12), "name": people})
    assert dict(read_tables(nodes, pd.DataFrame({"u": [0], "v": [1]})).columns.features) == {"name": "text"}
    with pytest.raises(GraphError, match=r"--text name.*--featureless"):
        read_tables(nodes.assign(name=[f"p{i}" for i in range(12)]), pd.DataFrame({"u": [0], "v": [1]}))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("$24,310", 24310),
        ("-$1,000.50", -1000.5),
        ("34.5%", 34.5),
        ("€ 7", 7),
        ("1,234,567 £", 1234567),
        ("5 %", 5),
        ("1,234", 1234),
    ],
)
def test_amounts_and_percentages_are_numbers(cell, value):
    values, wrong = to_numbers(pd.DataFrame({"x": [cell, "3"]}))
    assert (values[:, 0].tolist(), wrong.any()) == ([value, 3], False)


@pytest.mark.parametrize("cell", ["$", "%", "$1,00", "$1.2.3", "12 EUR", "$-", "1,5"])
def test_what_is_no_clear_amount_is_no_number(cell):
    assert to_numbers(pd.DataFrame({"x": [cell, "3"]}))[1][:, 0].tolist() == [True, False]


def test_whole_numbers_with_leading_zeros_are_codes():
    codes = ["09508", "10001", "02139"] * 10
    nodes = pd.DataFrame({"id": range(30), "zip": codes, "size": [str(i) for i in range(30)]})
    tables = read_tables(nodes, pd.DataFrame({"source": [0], "target": [1]}))
    assert dict(tables.columns.features) == {"zip": "categorical", "size": "standard"}
    assert {"zip=09508", "zip=02139"} <= set(tables.encoder.names)


DATES = pd.date_range("2019-12-30 07:00", periods=60, freq="17D7h")


@pytest.mark.parametrize(
    "form",
    [None, "%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%b %d, %Y", object],
)
def test_dates_are_their_time_and_the_parts_that_repeat(form):
    days = list(DATES.to_pydatetime()) if form is object else DATES if form is None else DATES.strftime(form)
    nodes = pd.DataFrame({"id": range(60), "born": days, "topic": ["a", None] * 30})
    edges = pd.DataFrame({"source": [0], "target": [1]})
    nodes.loc[3, "born"] = None
    read = read_tables(nodes, edges, label="topic", scale=False)
    roles = dict(read.columns.features)
    assert roles.pop("born[days]") == "standard"
    assert {"born[month]": "categorical", "born[weekday]": "categorical"}.items() <= roles.items()
    assert ("born[hour]" in roles) == (form in (None, object, "%Y-%m-%dT%H:%M:%SZ"))
    names = read.encoder.names
    assert {"born[month]=01", "born[weekday]=Mon", "born[days] is missing"} <= set(names)
    x = read.encoder.transform(nodes.iloc[[40]]).toarray()[0]  # as new nodes, alone
    assert x == pytest.approx(read.graph.features.toarray()[40])
    assert x[names.index(f"born[month]={DATES[40]:%m}")] > 0
    assert "dates" in codes(read.graph)


@pytest.mark.parametrize(
    "written",
    [
        lambda v: str([np.float64(x) for x in v.tolist()]),
        lambda v: repr(np.asarray(v, np.float32)),
        lambda v: str(np.asarray(v)),
        lambda v: " ".join(map(str, v.tolist())),
        lambda v: f"tensor({v.tolist()})",
    ],
)
def test_vectors_are_read_as_numpy_and_people_write_them(written):
    vectors = np.random.default_rng(0).normal(size=(30, 4)).round(3)
    nodes = pd.DataFrame(
        {"id": range(30), "v": [written(v) for v in vectors], "ip": [f"10.0.{i}.1" for i in range(30)]}
    )
    read = read_tables(nodes, pd.DataFrame({"source": [0], "target": [1]}))
    assert list(read.columns.features) == [f"v[{i}]" for i in range(4)]
    np.testing.assert_allclose(read.graph.features.toarray(), vectors, atol=1e-5)


def test_booleans_and_columns_with_one_infinite_number_are_features():
    nodes = pd.DataFrame({"id": range(30), "ok": ["true", "false", ""] * 10, "flag": [True, False, None] * 10})
    nodes["size"], nodes["topic"] = [float("inf"), *range(29)], ["a", "b"] * 15
    read = read_tables(nodes, pd.DataFrame({"source": [0], "target": [1]}), label="topic")
    assert dict(read.columns.features) == {"ok": "categorical", "flag": "as-is", "size": "standard"}
    assert "huge-numbers" not in codes(read.graph)


def test_what_was_chosen_comes_first_and_then_what_is_not_used(tables):
    read = tables(
        nodes="id,topic,age,blog\n" + "".join(f"n{i},{'ab'[i % 2]},{i},http://{i}\n" for i in range(30)),
        edges="u,v,when\nn1,n2,3\n",
    )
    assert codes(read.graph)[:3] == ["guessed-columns", "ignored-columns", "unused-columns"]
    assert "2 of 2 ends" in read.graph.findings[0].text
    assert "--text or --categorical uses them" in read.graph.findings[1].text
