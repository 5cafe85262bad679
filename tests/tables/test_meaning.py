"""Texts by their meaning: vectors of texts from a table of token vectors, in graphs, models and for new nodes."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from dccgcn import load_model, read_tables, run
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.stages import staged
from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.tables import meaning
from dccgcn.tables.meaning import installed_vectors, vectors_of
from dccgcn.workflow.compare import content_hash
from helpers.command import success

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed; pip install 'dccgcn[text]'")

WORDS = ["cat", "kitten", "dog", "puppy", "bread", "cheese", "soup", "pasta", "of", "the"]


@pytest.fixture
def folder(tmp_path):
    """A table of ten words: animals lie close together, and so do foods."""
    return write_table(tmp_path / "vectors", 0)


def write_table(folder, seed):
    folder.mkdir()
    rng = np.random.default_rng(seed)
    topics = np.repeat(np.eye(3), [4, 4, 2], axis=0)
    vectors = np.hstack([topics, 0.1 * rng.normal(size=(10, 5))]).astype(np.float32)
    save_file({"embeddings": np.vstack([np.zeros((1, 8), np.float32), vectors])}, folder / "model.safetensors")
    vocabulary = {"[UNK]": 0, **{word: i + 1 for i, word in enumerate(WORDS)}}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    return str(folder)


@pytest.fixture
def frames():
    """Texts whose words differ within a class but for their meaning; edges lead anywhere."""
    texts = ["the cat", "the kitten", "a dog of", "a puppy", "the bread", "of cheese", "a soup", "the pasta"] * 3
    kinds = ["animal"] * 4 + ["food"] * 4
    labels = [kind if i in (0, 4, 9, 13) else None for i, kind in enumerate(kinds * 3)]
    nodes = pd.DataFrame({"id": range(24), "text": texts, "kind": labels})
    edges = pd.DataFrame({"source": range(24), "target": [(5 * i + 1) % 24 for i in range(24)]})
    return nodes, edges, np.array(kinds * 3)


def test_a_text_is_the_mean_of_its_tokens_vectors(folder):
    table = vectors_of(folder)
    texts = ["cat dog", "", "soup", "   ", "unknown"]
    one = {word: table.vectors[i + 1] for i, word in enumerate(WORDS)}
    expected = [(one["cat"] + one["dog"]) / 2, np.zeros(8), one["soup"], np.zeros(8), np.zeros(8)]
    np.testing.assert_allclose(table.embed(texts), expected, rtol=1e-6)


def test_long_texts_are_read_in_pieces(folder, monkeypatch):
    table, texts = vectors_of(folder), [" ".join(WORDS * 30), "cat"]
    whole = table.embed(texts)
    monkeypatch.setattr(meaning, "_PIECE", 13)
    monkeypatch.setattr(meaning, "_AT_ONCE", 4)
    np.testing.assert_allclose(table.embed(texts), whole, rtol=1e-5)


def test_the_table_of_the_extra_tells_animals_from_food():
    if (table := installed_vectors()) is None:
        pytest.skip("wordllama is not installed; pip install 'dccgcn[text]'")
    rows = table.embed(["a small cat", "two kittens", "fresh bread", "cheese and pasta"])
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    near = unit @ unit.T
    assert min(near[0, 1], near[2, 3]) > near[:2, 2:].max()


def test_meaning_stands_beside_words_and_finds_what_they_do_not(frames, folder):
    nodes, edges, kinds = frames
    by_words = read_tables(nodes, edges, label="kind", text="text", text_model="words")
    assert by_words.graph.vectors is None
    tables = read_tables(nodes, edges, label="kind", text="text", text_model=folder)
    assert "meaning" in [finding.code for finding in tables.graph.findings]
    np.testing.assert_array_equal(tables.graph.features.toarray(), by_words.graph.features.toarray())
    result = run(tables)
    assert {"own", "meaning.own", "meaning.similar"} <= result.prediction.channel_weights.keys()
    right = (result.to_frame()["prediction"] == kinds).mean()
    assert right == 1 > (run(by_words).to_frame()["prediction"] == kinds).mean()


def test_without_a_table_the_words_are_counted_and_a_note_says_what_is_missing(frames, monkeypatch):
    nodes, edges, _ = frames
    monkeypatch.setattr(meaning, "find_spec", lambda name: None)
    graph = read_tables(nodes, edges, label="kind", text="text").graph
    assert graph.vectors is None
    (note,) = (finding.text for finding in graph.findings if finding.code == "words-only")
    assert "pip install 'dccgcn[text]'" in note
    with pytest.raises(DccgcnError, match=r"needs tokenizers.*dccgcn\[text\]"):
        read_tables(nodes, edges, label="kind", text="text", text_model="anywhere")


def test_ids_that_are_words_are_read_too(frames, folder):
    nodes, edges, _ = frames
    names = [f"{word}-{i}" for i, word in enumerate(nodes["text"].str.split().str[1])]
    nodes, edges = nodes.assign(id=names), edges.replace(dict(enumerate(names)))
    assert read_tables(nodes, edges, label="kind", text="text", text_model=folder).encoder.meaning.id == "id"


def test_a_model_reads_new_texts_by_the_same_table_only(frames, folder, tmp_path):
    nodes, edges, _ = frames
    result = run(read_tables(nodes, edges, label="kind", text="text", text_model=folder))
    result.save(tmp_path / "run")
    model = load_model(tmp_path / "run")
    np.testing.assert_array_equal(model.result.graph.vectors, result.graph.vectors)
    new = pd.DataFrame({"id": [100, 101], "text": ["puppy", "soup of pasta"]})
    graph = model.read(new, text_model=folder)
    np.testing.assert_allclose(graph.vectors[-2:], vectors_of(folder).embed(new["text"].tolist()))
    assert model.predict(graph)["prediction"].tolist() == ["animal", "food"]
    with pytest.raises(DccgcnError, match=r"'vectors', but 'other' is another one.*--text-model"):
        model.read(new, text_model=write_table(tmp_path / "other", 1))
    description = json.loads((tmp_path / "run" / "model.json").read_text())
    assert description["tables"]["encoder"]["meaning"]["digest"] == vectors_of(folder).digest


def test_folders_without_a_table_are_refused(tmp_path, folder, frames):
    nodes, edges, _ = frames
    with pytest.raises(DataFileError, match=r"holds no table of token vectors.*tokenizer\.json"):
        read_tables(nodes, edges, label="kind", text="text", text_model=str(tmp_path))
    save_file({"a": np.zeros((2, 2), np.float32)}, tmp_path / "vectors" / "model.safetensors")
    meaning._read.cache_clear()
    with pytest.raises(DataFileError, match="does not fit its tokenizer"):
        vectors_of(folder)


def test_the_command_line_reads_saves_and_predicts(frames, folder, tmp_path):
    nodes, edges, _ = frames
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    pd.DataFrame({"id": [100], "text": ["kitten"]}).to_csv(tmp_path / "new.csv", index=False)
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--label", "kind", "--text", "text"]
    done = success("fit", *tables, "--text-model", folder, "--out", "run", cwd=tmp_path)
    assert "read by their meaning (vectors)" in " ".join(done.stderr.split())
    success("predict", "run", "--nodes", "new.csv", "--text-model", folder, "--out", "p.csv", cwd=tmp_path)
    assert pd.read_csv(tmp_path / "p.csv")["prediction"].tolist() == ["animal"]


def test_vectors_are_part_of_what_a_run_depends_on(frames, folder, tmp_path):
    nodes, edges, _ = frames
    by_words, by_meaning = (
        read_tables(nodes, edges, label="kind", text="text", text_model=how).graph for how in ("words", folder)
    )
    assert content_hash(by_words) != content_hash(by_meaning)
    here = run(by_meaning.with_cache({})).prediction
    with staged(by_words, ConcordSettings(), tmp_path) as other:  # stages of the same features, without vectors
        run(other)
        there = run(by_meaning.with_cache({}), scratch=tmp_path).prediction
    np.testing.assert_array_equal(there.probabilities, here.probabilities)
    np.testing.assert_array_equal(there.trust, here.trust)
