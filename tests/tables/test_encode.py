"""How columns become features."""

import pandas as pd

from dccgcn import read_tables


def test_values_and_words_of_one_node_or_of_most_get_no_feature():
    n = 8
    frame = pd.DataFrame({"id": [f"n{i}" for i in range(n)], "topic": ["a", "b"] * 4})
    frame["country"] = ["DE", "DE", "FR", "FR", "FR", "XX", "DE", "FR"]
    frame["title"] = [f"always {'sometimes' if i % 3 == 0 else 'often'} {'once' if i == 5 else ''}" for i in range(n)]
    edges = pd.DataFrame({"source": ["n0"], "target": ["n1"]})
    read = read_tables(frame, edges, label="topic", categorical=["country"], text=["title"])
    assert read.encoder.categories[0].values == ["DE", "FR"]
    assert read.encoder.texts[0].words == ["sometimes"]
