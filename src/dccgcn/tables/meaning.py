"""Texts by their meaning: the mean of the vectors of their tokens, from a table of such vectors on this machine.

The table of the package wordllama has 32,000 tokens and 256 columns; nothing of that package runs, and nothing is
downloaded. Another table is a folder with ``tokenizer.json`` and ``model.safetensors``, as model2vec writes them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.progress import Progress
from dccgcn.runtime import missing_extra, sha256

WORDS = "words"  # in place of a folder: count words only
_PACKAGE, _PACKAGE_TABLE = "wordllama", "l2_supercat_256"
_PIECE = 2_000  # characters, cut at a blank: a tokenizer takes long for one text of a million
_MOST = 200_000  # characters of a text that are read
_SAMPLE = 5_000  # ids
_AT_ONCE = 1024  # pieces
_LETTERS = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, eq=False)
class TokenVectors:
    """A table of one vector for each token, and the tokenizer that it belongs to."""

    name: str
    digest: str  # SHA-256 of both files
    vectors: np.ndarray  # (tokens, width) float16 or float32
    tokenizer: Any

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """The mean vector of the tokens of each text, (texts, width) float32; zeros for a text without any."""
        vectors = self.vectors.astype(np.float32)
        total = np.zeros((len(texts), vectors.shape[1]), np.float32)
        count = np.zeros(len(texts), np.int64)
        pieces = [(i, piece) for i, text in enumerate(texts) for piece in _pieces(text)]
        for start in range(0, len(pieces), _AT_ONCE):
            some = pieces[start : start + _AT_ONCE]
            coded = self.tokenizer.encode_batch([piece for _, piece in some], add_special_tokens=False)
            ids = np.fromiter(chain.from_iterable(tokens.ids for tokens in coded), np.int64)
            first, last = some[0][0], some[-1][0] + 1  # the texts of these pieces
            lengths = np.bincount([i - first for i, _ in some], [len(tokens.ids) for tokens in coded]).astype(np.int64)
            starts = np.concatenate([[0], np.cumsum(lengths)])
            counts = sp.csr_array((np.ones(len(ids), np.float32), ids, starts), (last - first, len(vectors)))
            total[first:last] += counts @ vectors
            count[first:last] += lengths
            if progress:
                progress("meaning of texts", min(start + _AT_ONCE, len(pieces)), len(pieces))
        return total / np.maximum(count, 1)[:, None]


def installed_vectors() -> TokenVectors | None:
    """The table of the package wordllama; None if it or the package tokenizers is not installed."""
    package = find_spec(_PACKAGE)
    if package is None or not package.submodule_search_locations or find_spec("tokenizers") is None:
        return None
    root = Path(package.submodule_search_locations[0])
    table = root / "weights" / f"{_PACKAGE_TABLE}.safetensors"
    for tokenizer in sorted(root.glob("tokenizer*/l2_supercat_tokenizer_config.json")):
        if table.is_file():
            return _read(f"{_PACKAGE} {_PACKAGE_TABLE}", tokenizer, table)
    return None


def vectors_of(folder: str | None) -> TokenVectors | None:
    """The table of a folder, or the installed one (None); nothing if words are to be counted only."""
    if folder is None:
        return installed_vectors()
    if folder == WORDS:
        return None
    if find_spec("tokenizers") is None:
        raise missing_extra("tokenizers", "text", needed_by="A table of token vectors")
    path = Path(folder)
    return _read(path.name, path / "tokenizer.json", path / "model.safetensors")


def has_words(texts: Sequence[str]) -> bool:
    """Whether most texts, such as ids, hold a word, and the words differ."""
    found = [_LETTERS.findall(text) for text in texts[:: len(texts) // _SAMPLE + 1]]
    return sum(map(bool, found)) > len(found) / 2 and len({word for words in found for word in words}) > len(found) / 10


@cache
def _read(name: str, tokenizer_file: Path, table_file: Path) -> TokenVectors:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    remedy = "Name a folder with tokenizer.json and model.safetensors (--text-model FOLDER)."
    try:
        arrays = load_file(table_file)
        tokenizer = Tokenizer.from_file(str(tokenizer_file))
    except Exception as error:  # tokenizers raises plain Exception
        raise DataFileError(f"{table_file.parent} holds no table of token vectors ({error}).", remedy) from None
    if len(arrays) != 1 or (vectors := next(iter(arrays.values()))).ndim != 2 or vectors.dtype.kind != "f":
        raise DataFileError(f"{table_file} is not one matrix of token vectors.", remedy)
    if tokenizer.get_vocab_size() > len(vectors) or not np.isfinite(vectors).all():
        raise DataFileError(f"{table_file} does not fit its tokenizer, or has numbers that are not finite.", remedy)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return TokenVectors(name, f"{sha256(tokenizer_file)[:32]}{sha256(table_file)[:32]}", vectors, tokenizer)


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that end at a blank, if there is one."""
    text = text[:_MOST]
    while len(text) > _PIECE:
        cut = text.rfind(" ", 1, _PIECE)
        cut = _PIECE if cut < 0 else cut
        yield text[:cut]
        text = text[cut:]
    if text.strip():
        yield text


def check_same_table(stored: str, digest: str, folder: str | None) -> TokenVectors:
    """The table that a model was trained with; a DccgcnError if it is not the one that is found."""
    found = vectors_of(folder)
    if found is None:
        raise missing_extra(f"The table of token vectors {stored!r}", "text")
    if found.digest != digest:
        raise DccgcnError(
            f"The model reads texts by the table of token vectors {stored!r}, but {found.name!r} is another one.",
            "Name the folder of its table (--text-model FOLDER), or train the model again.",
        )
    return found
