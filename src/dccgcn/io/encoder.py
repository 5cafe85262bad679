"""Feature columns as one sparse matrix; what was learnt of them is plain data and travels with a model.

scikit-learn's transformers do the work. They are rebuilt from plain values (means and scales, categories, words and
their weights) rather than unpickled, so an encoder from a stranger can do nothing but encode.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from dccgcn.errors import DataFileError, Finding, GraphError
from dccgcn.io.columns import MISSING, NUMERIC, Role, numbers
from dccgcn.io.frames import Table
from dccgcn.text import first_few

Impute = Literal["error", "zero", "mean"]

_FORM = 1  # of the dictionary
_LARGEST = 1e15  # a number beyond counts as infinite: its square would be, in single precision
_MOST_WORDS = 20_000  # of one text column


@dataclass(frozen=True)
class Numbers:
    """Columns of numbers: (x - centre) / scale."""

    columns: list[str]
    centre: list[float]  # 0 where a column must stay sparse
    scale: list[float]
    fill: list[float] | None  # what stands in for a missing number; None: it is an error


@dataclass(frozen=True)
class Categories:
    """A column of classes: one feature for each value."""

    column: str
    values: list[str]


@dataclass(frozen=True)
class Words:
    """A column of text: one tf-idf feature for each word."""

    column: str
    words: list[str]
    idf: list[float]


@dataclass(frozen=True)
class FeatureEncoder:
    """Turns the feature columns of a table into a sparse matrix, in the same way for every table."""

    numbers: Numbers
    categories: tuple[Categories, ...]
    texts: tuple[Words, ...]
    weights: tuple[float, ...]  # of the blocks (numbers, each column of classes, each of text): see fit

    @classmethod
    def fit(cls, frame: pd.DataFrame, roles: Mapping[str, Role], impute: Impute = "error") -> Self:
        """Learn from a table what each column needs.

        Where columns of several kinds meet, the blocks are weighted so that each has a mean squared row norm of one;
        else a few standardised numbers would drown a text. A table of one kind is left as it is.
        """
        if not roles:
            raise GraphError(
                "There are no feature columns.", "Both channels need features: name columns that hold them."
            )
        named = {role: [column for column in roles if roles[column] == role] for role in set(roles.values())}
        encoder = cls(
            _fit_numbers(frame, {column: role for column, role in roles.items() if role in NUMERIC}, impute),
            tuple(_fit_categories(frame, column) for column in named.get("categorical", ())),
            tuple(_fit_words(frame, column) for column in named.get("text", ())),
            (),
        )
        blocks = encoder._blocks(frame)
        norms = [float(np.sqrt((block.multiply(block)).sum() / max(len(frame), 1))) for block in blocks]
        weights = [1 / norm if norm > 0 and len(blocks) > 1 else 1.0 for norm in norms]
        return cls(encoder.numbers, encoder.categories, encoder.texts, tuple(weights))

    @classmethod
    def of_nothing(cls) -> Self:
        """For nodes of which only the edges are known: one feature, which is the same for all."""
        return cls(Numbers([], [], [], None), (), (), ())

    @property
    def columns(self) -> list[str]:
        """The columns that a table needs."""
        return [*self.numbers.columns, *(c.column for c in self.categories), *(t.column for t in self.texts)]

    @property
    def names(self) -> list[str]:
        """A name for each feature: the column, and after an equals sign the class or word."""
        classes = [f"{c.column}={value}" for c in self.categories for value in c.values]
        return [*self.numbers.columns, *classes, *(f"{t.column}={word}" for t in self.texts for word in t.words)]

    def transform(self, frame: pd.DataFrame) -> sp.csr_array:
        """(rows, features) float32. Classes and words that fit did not see count for nothing."""
        missing = [column for column in self.columns if column not in frame.columns]
        if missing:
            raise GraphError(
                f"The table lacks columns that were there at training: {first_few(missing)}.",
                f"Its columns are: {first_few(frame.columns, 12)}.",
            )
        if not self.columns:
            return sp.csr_array(np.ones((len(frame), 1), np.float32))
        weighted = [block * weight for block, weight in zip(self._blocks(frame), self.weights, strict=True)]
        return sp.csr_array(sp.hstack(weighted, format="csr"), dtype=np.float32)

    def filled(self, table: Table) -> list[Finding]:
        """Numbers that are missing, or too large, and were replaced."""
        if self.numbers.fill is None:
            return []
        bad = _bad(_parsed(table.frame, self.numbers.columns))
        if not bad.any():
            return []
        names = [self.numbers.columns[i] for i in np.flatnonzero(bad.any(axis=0))]
        text = f"{int(bad.sum())} numbers in columns {first_few(names)} were missing or not finite and were replaced"
        return [Finding("warning", "imputed-features", f"{text}, on {table.where(bad.any(axis=1))}.")]

    def _blocks(self, frame: pd.DataFrame) -> list[sp.csr_array]:
        blocks = [_numbers(self.numbers, frame)] if self.numbers.columns else []
        blocks += [_one_hot(c).transform(_cells(frame, c.column)[:, None]) for c in self.categories]
        blocks += [_tfidf(t).transform(_cells(frame, t.column)) for t in self.texts]
        return blocks

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"form": _FORM, **asdict(self)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The encoder that to_dict wrote."""
        try:
            if given["form"] != _FORM:
                raise DataFileError(f"The encoder is of form {given['form']!r}, not {_FORM}.", "Train the model again.")
            return cls(
                Numbers(**given["numbers"]),
                tuple(Categories(**c) for c in given["categories"]),
                tuple(Words(**t) for t in given["texts"]),
                tuple(given["weights"]),
            )
        except (KeyError, TypeError) as error:
            raise DataFileError(f"This is not an encoder ({error!r}).", "Train the model again.") from None


def _fit_numbers(frame: pd.DataFrame, roles: Mapping[str, Role], impute: Impute) -> Numbers:
    names = list(roles)
    values = _parsed(frame, names)
    values = np.where(np.abs(values) < _LARGEST, values, np.nan)  # scikit-learn's scalers pass NaN over
    known = ~np.isnan(values).all(axis=0)
    is_standard = known & np.array([roles[name] == "standard" for name in names], dtype=bool)
    is_max_abs = known & np.array([roles[name] == "max-abs" for name in names], dtype=bool)
    centre, scale, fill = np.zeros(len(names)), np.ones(len(names)), np.zeros(len(names))
    if is_standard.any():
        standard = StandardScaler().fit(values[:, is_standard])
        centre[is_standard], scale[is_standard] = standard.mean_, standard.scale_
    if is_max_abs.any():
        scale[is_max_abs] = MaxAbsScaler().fit(values[:, is_max_abs]).scale_
    if impute == "mean":
        fill = np.nansum(values, axis=0) / np.maximum((~np.isnan(values)).sum(axis=0), 1)
    return Numbers(names, centre.tolist(), scale.tolist(), None if impute == "error" else fill.tolist())


def _numbers(fitted: Numbers, frame: pd.DataFrame) -> sp.csr_array:
    values = _parsed(frame, fitted.columns)
    bad = _bad(values)
    if bad.any() and fitted.fill is None:
        rows = np.asarray(bad.any(axis=1))
        names = [fitted.columns[i] for i in np.flatnonzero(bad.any(axis=0))]
        raise GraphError(
            f"{int(bad.sum())} features are missing or not finite, in columns {first_few(names)}, {_where(frame, rows)}.",
            "Mend them, or train with such cells replaced by zero or the mean of their column (--impute mean, "
            "impute='mean').",
        )
    if fitted.fill is not None:
        values = np.where(bad, fitted.fill, values)
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = np.array(fitted.centre), np.array(fitted.scale)
    scaler.n_features_in_ = len(fitted.columns)
    return sp.csr_array(scaler.transform(values))


def _bad(values: np.ndarray) -> np.ndarray:
    return np.asarray(~(np.abs(values) < _LARGEST))  # NaN too


def _parsed(frame: pd.DataFrame, names: Sequence[str]) -> np.ndarray:
    values, wrong = numbers(frame[list(names)])
    if wrong.any():
        column = int(np.flatnonzero(wrong.any(axis=0))[0])
        rows = wrong[:, column]
        seen = [str(cell) for cell in frame[names[column]][rows]]
        raise GraphError(
            f"Column {first_few([names[column]])} holds cells that are no numbers: {first_few(seen)}, {_where(frame, rows)}.",
            "Mend them, or declare the column with --categorical or --text.",
        )
    return values


def _where(frame: pd.DataFrame, rows: np.ndarray) -> str:
    return f"at {frame.index.name or 'row'} {first_few(frame.index[rows].tolist())}"


def _cells(frame: pd.DataFrame, column: str) -> np.ndarray:
    """Cells as text, "" where missing; 2.0 is "2", as columns with gaps store whole numbers as floats."""
    return np.array([_text(cell) for cell in frame[column]], dtype=object)


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if cell is None or cell is pd.NA or cell is pd.NaT or cell != cell:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _fit_categories(frame: pd.DataFrame, column: str) -> Categories:
    """Values that occur once join no two nodes, so they get no feature."""
    values, counts = np.unique(
        [cell for cell in _cells(frame, column) if cell.strip() not in MISSING], return_counts=True
    )
    kept = values[counts > 1] if (counts > 1).any() else values
    if len(kept) == 0:
        raise GraphError(f"Column {first_few([column])} is empty.", "Leave it out of the features.")
    return Categories(column, [str(value) for value in kept])


def _one_hot(fitted: Categories) -> OneHotEncoder:
    known = np.array(fitted.values, dtype=object)
    return OneHotEncoder(categories=[known], handle_unknown="ignore").fit(known[:1, None])


def _fit_words(frame: pd.DataFrame, column: str) -> Words:
    """A word that one node alone has joins no two nodes; one that most have tells none apart."""
    cells = _cells(frame, column)
    for rarest, commonest in ((2, 0.5), (1, 1.0)):
        try:
            fitted = TfidfVectorizer(min_df=rarest, max_df=commonest, max_features=_MOST_WORDS).fit(cells)
        except ValueError:  # scikit-learn's word for "no word is left"
            continue
        return Words(column, fitted.get_feature_names_out().tolist(), fitted.idf_.tolist())
    raise GraphError(
        f"Column {first_few([column])} holds no words.", "Leave it out of the features, or say categorical."
    )


def _tfidf(fitted: Words) -> TfidfVectorizer:
    vectorizer = TfidfVectorizer(vocabulary=fitted.words)
    vectorizer.fit([fitted.words[0]])  # sets up the weights, which are then replaced by the stored ones
    vectorizer.idf_ = np.array(fitted.idf)
    return vectorizer
