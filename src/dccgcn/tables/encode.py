"""Feature columns as one sparse matrix. The fitted encoder is plain data and is stored with a model.

Only plain values are kept (means and scales, categories, words and their weights), and checked when they are read.
Nothing is unpickled, so an encoder from an untrusted source can only encode.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from pydantic import Field

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import LARGEST, is_missing, spell_id
from dccgcn.progress import Progress, tracked
from dccgcn.tables.columns import NUMERIC, Role, Stored
from dccgcn.tables.meaning import TokenVectors, has_words
from dccgcn.tables.options import Decimal, Impute
from dccgcn.tables.table import Table
from dccgcn.tables.values import expanded, is_empty, is_list, source_column, tags_as_text, to_numbers
from dccgcn.text import first_few

Positive = Annotated[float, Field(gt=0)]
_LARGEST_UNSCALED = 1e150  # the variance of larger numbers is infinite
_CONSTANT = 1e-13  # deviation of a constant column, relative to its mean: rounding
_MAX_WORDS = 20_000  # of one text column


class Numbers(Stored):
    """Columns of numbers: (x - centre) / scale, and for each with missing numbers 1 where they are, else 0."""

    columns: list[str]
    centre: list[float]  # 0 where a column must stay sparse
    scale: list[Positive]
    fill: list[float] | None  # replaces missing numbers; None: imputation_findings refuses them
    gaps: list[str]  # columns with missing numbers at training

    @classmethod
    def fit(cls, frame: pd.DataFrame, roles: Mapping[str, Role], impute: Impute) -> Self:
        """The scaling of the columns by their roles."""
        columns, kinds = list(roles), np.array(list(roles.values()), dtype=object)
        values, _ = to_numbers(frame[columns])
        values = np.where(np.abs(values) < np.where(kinds == "as-is", LARGEST, _LARGEST_UNSCALED), values, np.nan)
        count = np.maximum((~np.isnan(values)).sum(axis=0), 1)
        mean = np.nansum(values, axis=0) / count
        deviation = np.sqrt(np.nansum((values - mean) ** 2, axis=0) / count)
        largest = np.abs(np.nan_to_num(values)).max(axis=0, initial=0)
        scale = np.select([kinds == "standard", kinds == "max-abs"], [deviation, largest], 1.0)
        scale[scale <= _CONSTANT * np.abs(mean)] = 1
        fill = None if impute == "error" else (mean if impute == "mean" else np.zeros(len(mean))).tolist()
        centre = np.where(kinds == "standard", mean, 0.0)
        numbers = cls(columns=columns, centre=centre.tolist(), scale=scale.tolist(), fill=fill, gaps=[])
        at = np.flatnonzero(_bad(numbers.scaled(frame)).any(axis=0))
        return numbers.model_copy(update={"gaps": [columns[i] for i in at]})

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        return [*self.columns, *(f"{column} is missing" for column in self.gaps)]

    def matrix(self, frame: pd.DataFrame) -> sp.csr_array:
        """(rows, columns) scaled numbers, of which missing ones are replaced."""
        values = self.scaled(frame)
        bad = _bad(values)
        fill = (np.array(self.fill if self.fill is not None else self.centre) - self.centre) / self.scale
        values = np.where(bad, fill, values)
        return sp.csr_array(np.hstack([values, bad[:, [self.columns.index(column) for column in self.gaps]]]))

    def scaled(self, frame: pd.DataFrame) -> np.ndarray:
        """(rows, columns) scaled numbers; NaN where missing."""
        values, _ = to_numbers(frame[self.columns])
        with np.errstate(over="ignore"):  # what becomes infinite is too large
            return np.asarray((np.where(np.isinf(values), np.nan, values) - self.centre) / self.scale)


class Categories(Stored):
    """A categorical column: one feature for each value."""

    column: str
    values: Annotated[list[str], Field(min_length=1)]

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str) -> Self:
        """Values that occur once connect no two nodes, so they get no feature, unless all of them occur once."""
        known = [cell for cell in _texts(frame, column) if not is_empty(cell)]
        values, counts = np.unique(known, return_counts=True)
        values = values[counts > 1] if (counts > 1).any() else values
        if len(values) == 0:
            raise GraphError(f"Column {first_few([column])} is empty.", "Leave it out of the features.")
        return cls(column=column, values=[str(value) for value in values])

    @property
    def names(self) -> list[str]:
        """A name for each feature: the column and the category."""
        return [f"{self.column}={value}" for value in self.values]

    def matrix(self, frame: pd.DataFrame) -> sp.csr_array:
        """(rows, values) of zeros and ones; other values are ignored."""
        from sklearn.preprocessing import OneHotEncoder

        known = np.array(self.values, dtype=object)
        encoder = OneHotEncoder(categories=[known], handle_unknown="ignore").fit(known[:1, None])
        return encoder.transform(_texts(frame, self.column)[:, None])


class Words(Stored):
    """A column of text: one tf-idf feature for each word."""

    column: str
    words: Annotated[list[str], Field(min_length=1)]
    idf: list[Positive]

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str, progress: Progress | None) -> tuple[Self, sp.csr_array]:
        """The words of a text column, and its tf-idf matrix, (rows, words).

        A word of one node connects no two nodes, and a word of most nodes distinguishes none: both are left out, unless
        no word remains.
        """
        from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

        cells = _texts(frame, column)
        for min_df, max_df in ((2, 0.5), (1, 1.0)):
            vectoriser = CountVectorizer(min_df=min_df, max_df=max_df, max_features=_MAX_WORDS, dtype=np.float64)
            try:
                counts = vectoriser.fit_transform(tracked(cells, len(cells), f"words of {column}", progress))
            except ValueError:  # no word remains
                continue
            counts.sort_indices()  # the order of a restored vectoriser, on which the rounding of row norms depends
            tfidf = TfidfTransformer().fit(counts)
            words = cls(column=column, words=vectoriser.get_feature_names_out().tolist(), idf=tfidf.idf_.tolist())
            return words, tfidf.transform(counts, copy=False)
        raise GraphError(f"Column {first_few([column])} holds no words.", "Leave it out, or declare it categorical.")

    @property
    def names(self) -> list[str]:
        """A name for each feature: the column and the word."""
        return [f"{self.column}={word}" for word in self.words]

    def matrix(self, frame: pd.DataFrame) -> sp.csr_array:
        """(rows, words) tf-idf; other words are ignored."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectoriser = TfidfVectorizer(vocabulary=self.words)
        vectoriser.fit([self.words[0]])  # allocates the weights, which the stored ones replace
        vectoriser.idf_ = np.array(self.idf)
        return vectoriser.transform(_texts(frame, self.column))


class Meaning(Stored):
    """Columns whose texts are read by their meaning too, and the table of token vectors that was used."""

    columns: Annotated[list[str], Field(min_length=1)]
    id: str | None  # the column of ids, if they are words
    table: str
    digest: str

    @classmethod
    def fit(cls, frame: pd.DataFrame, columns: Sequence[str], id: str, table: TokenVectors) -> Self:
        """Ids, such as names of packages, are read with the texts if most of them are words."""
        used = id if has_words(_texts(frame, id).tolist()) else None
        return cls(columns=list(columns), id=used, table=table.name, digest=table.digest)

    def vectors(self, frame: pd.DataFrame, table: TokenVectors, progress: Progress | None = None) -> np.ndarray:
        """(rows, width) float32: the mean vector of the tokens of each row's texts."""
        columns = [*([self.id] if self.id else []), *self.columns]
        cells = [_texts(frame, column) for column in columns]
        return table.embed([": ".join(filter(None, row)) for row in zip(*cells, strict=True)], progress)


class FeatureEncoder(Stored):
    """Turns the feature columns of a table into a sparse matrix, in the same way for every table."""

    form: Literal[1] = 1
    dates: dict[str, str] = Field(default_factory=dict)  # form of each column of dates
    numbers: Numbers = Numbers(columns=[], centre=[], scale=[], fill=None, gaps=[])
    categories: list[Categories] = Field(default_factory=list)
    texts: list[Words] = Field(default_factory=list)
    weights: list[Positive] = Field(default_factory=list)  # of the blocks; see fit_transform
    meaning: Meaning | None = None

    @classmethod
    def fit_transform(
        cls,
        frame: pd.DataFrame,
        roles: Mapping[str, Role],
        impute: Impute = "mean",
        progress: Progress | None = None,
        dates: dict[str, str] | None = None,
    ) -> tuple[Self, sp.csr_array]:
        """Fit an encoder to the columns of a table; the encoder and its matrix of the table, (rows, features) float32.

        If there are columns of several kinds, the blocks are weighted to a mean squared row norm of one each.
        Otherwise a few standardised numbers would outweigh a text. A single block is left unweighted.
        """
        if not roles:
            raise GraphError("There are no feature columns.", "Both channels need features: name feature columns.")
        numbers = Numbers.fit(frame, {column: role for column, role in roles.items() if role in NUMERIC}, impute)
        categories = [Categories.fit(frame, column) for column in roles if roles[column] == "categorical"]
        texts = [Words.fit(frame, column, progress) for column in roles if roles[column] == "text"]
        encoder = cls(numbers=numbers, categories=categories, texts=[words for words, _ in texts], dates=dates or {})
        n_untexted = len(encoder.blocks) - len(texts)
        matrices = [*(block.matrix(frame) for block in encoder.blocks[:n_untexted]), *(tfidf for _, tfidf in texts)]
        norms = [float(np.sqrt(matrix.multiply(matrix).sum() / max(len(frame), 1))) for matrix in matrices]
        weights = [1 / norm if norm > 0 and len(matrices) > 1 else 1.0 for norm in norms]
        return encoder.model_copy(update={"weights": weights}), _weighted(matrices, weights)

    def __repr__(self) -> str:
        return f"FeatureEncoder({len(self.columns)} columns, {len(self.names)} features)"

    @property
    def blocks(self) -> "list[Numbers | Categories | Words]":
        """The parts of the matrix: numbers, if there are any, each categorical column, each text column."""
        return [*([self.numbers] if self.numbers.columns else []), *self.categories, *self.texts]

    @property
    def columns(self) -> list[str]:
        """The columns that a table needs."""
        return [*self.numbers.columns, *(c.column for c in self.categories), *(t.column for t in self.texts)]

    @property
    def names(self) -> list[str]:
        """A name for each feature: the column, followed by an equals sign and the category or word."""
        return [name for block in self.blocks for name in block.names]

    def transform(self, frame: pd.DataFrame, decimal: Decimal = ".") -> sp.csr_array:
        """(rows, features) float32. Categories and words that were not in the fitted table are ignored."""
        frame = self._expanded(frame, decimal)
        missing = [column for column in self.columns if column not in frame.columns]
        if missing:
            raise GraphError(
                f"The table lacks columns that were there at training: {first_few(missing)}.",
                f"Its columns are: {first_few(frame.columns, 12)}.",
            )
        if not self.columns:
            return sp.csr_array(np.ones((len(frame), 1), np.float32))
        return _weighted([block.matrix(frame) for block in self.blocks], self.weights)

    def _expanded(self, frame: pd.DataFrame, decimal: Decimal) -> pd.DataFrame:
        """The table with the parts of its vectors and dates, and numbers with a decimal point."""
        sources = {source_column(name) for name in self.columns if name not in frame}
        dates = {name: form for name, form in self.dates.items() if name in frame}
        frame = expanded(frame, [name for name in frame if name in sources - dates.keys()], dates)
        for name in [name for name in self.numbers.columns if decimal != "." and name in frame]:
            (values,), (wrong,) = (array.T for array in to_numbers(frame[[name]], decimal))
            frame = frame.assign(**{name: frame[name].where(wrong, pd.Series(values, frame.index))})
        return frame

    def imputation_findings(self, table: Table, decimal: Decimal = ".") -> list[Finding]:
        """A finding, or an error, if numbers of the table are missing or too large and so were replaced."""
        values = self.numbers.scaled(self._expanded(table.frame, decimal))
        replaced, is_missing = _bad(values), np.isnan(values)
        if not replaced.any():
            return []
        names = [self.numbers.columns[i] for i in np.flatnonzero(replaced.any(axis=0))]
        what = "missing" if is_missing[replaced].all() else "missing or too large"
        what = what if is_missing.any() else "too large"
        text = f"{int(replaced.sum())} numbers in columns {first_few(names)} were {what}"
        where = f"on {table.where(replaced.any(axis=1))}."
        if self.numbers.fill is None:
            remedy = "Fix them, or replace them by zero or by the mean of their column (--impute mean, impute='mean')."
            if not is_missing.any():
                remedy = f"Features must be below {LARGEST:g}: scale the column, or leave an id column out (--ignore)."
            raise GraphError(f"{text}, {where}", remedy)
        return [Finding("warning", "imputed-features", f"{text} and were replaced, {where}")]


def _weighted(blocks: Sequence[sp.csr_array], weights: Sequence[float]) -> sp.csr_array:
    weighted = [(block * weight).astype(np.float32) for block, weight in zip(blocks, weights, strict=True)]
    return sp.csr_array(sp.hstack(weighted, format="csr"))


def _bad(values: np.ndarray) -> np.ndarray:
    return np.asarray(~(np.abs(values) < LARGEST))  # NaN too


def _texts(frame: pd.DataFrame, column: str) -> np.ndarray:
    """The cells of a column as text, "" where missing."""
    return np.array([_text(cell) for cell in frame[column]], dtype=object)


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if is_list(cell):
        return tags_as_text(cell)
    return "" if is_missing(cell) else spell_id(cell)
