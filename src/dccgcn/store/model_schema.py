"""ModelDescription: the schema of model.json. Every field is checked before any of them is used."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError

from dccgcn.errors import DataFileError
from dccgcn.tables import Role

FORMAT: Literal[5] = 5  # of the folder; raised when an older version could not read it

Name = StrictStr | StrictBool | StrictInt | StrictFloat
Positive = Annotated[float, Field(gt=0)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class SplitDescription(_Part):
    """A split without its nodes."""

    dataset: str
    kind: str
    seed: int | None = Field(ge=0, le=2**63 - 1)
    nodes: str


class FindingDescription(_Part):
    """A finding of the original tables, the split or the fit."""

    level: Literal["warning", "note"]
    code: str
    text: str


class Findings(_Part):
    """Findings by source."""

    graph: list[FindingDescription]
    split: list[FindingDescription]
    prediction: list[FindingDescription]


class EdgeColumnsDescription(_Part):
    """Columns of a table of edges by role."""

    source: str
    target: str
    weight: str | None
    relation: str | None


class ColumnsDescription(_Part):
    """Columns of the tables by role."""

    id: str
    label: str | None
    edges: dict[str, EdgeColumnsDescription] = Field(min_length=1)
    name: str | None = None
    features: dict[str, Role]


class NumbersDescription(_Part):
    """Scaling of the numeric columns; all lists but the last have the same length."""

    columns: list[str]
    centre: list[float]
    scale: list[Positive]
    fill: list[float] | None
    gaps: list[str]


class CategoriesDescription(_Part):
    """Values of a categorical column."""

    column: str
    values: list[str] = Field(min_length=1)


class WordsDescription(_Part):
    """Words of a text column and their weights."""

    column: str
    words: list[str] = Field(min_length=1)
    idf: list[Positive]


class MeaningDescription(_Part):
    """Text columns that are read by their meaning, and the table of token vectors."""

    columns: list[str] = Field(min_length=1)
    id: str | None
    table: str
    digest: str


class EncoderDescription(_Part):
    """The fitted FeatureEncoder."""

    form: Literal[1]
    numbers: NumbersDescription
    categories: list[CategoriesDescription]
    texts: list[WordsDescription]
    weights: list[Positive]
    meaning: MeaningDescription | None

    def check(self, d: int, id: str) -> None:
        """Raise a DataFileError unless lengths agree and the encoder makes d features. id: the column of ids."""
        if self.meaning and not (
            {*self.meaning.columns} <= {t.column for t in self.texts} and self.meaning.id in (None, id)
        ):
            raise DataFileError("model.json, tables, encoder, meaning names columns that are not read as text.")
        numbers, n_blocks = self.numbers, bool(self.numbers.columns) + len(self.categories) + len(self.texts)
        lengths = {len(numbers.columns), len(numbers.centre), len(numbers.scale)}
        lengths |= set() if numbers.fill is None else {len(numbers.fill)}
        values = [c.values for c in self.categories] + [t.words for t in self.texts]
        columns = [*numbers.columns, *(c.column for c in self.categories), *(t.column for t in self.texts)]
        n_features = len(numbers.columns) + len(numbers.gaps) + sum(map(len, values))
        if (
            len(lengths) > 1
            or len(self.weights) != n_blocks
            or not set(numbers.gaps) <= set(numbers.columns)
            or any(len(t.words) != len(t.idf) for t in self.texts)
            or any(len(set(listed)) != len(listed) for listed in (*values, columns, numbers.gaps))
            or (n_features or 1) != d
        ):
            raise DataFileError(f"model.json, tables, encoder does not make the {d} features of the graph.")


class TablesDescription(_Part):
    """How the nodes were read from tables."""

    columns: ColumnsDescription
    encoder: EncoderDescription


class ModelDescription(_Part):
    """The content of model.json but for its own hash."""

    format: Literal[5] = FORMAT
    dccgcn: str  # version that saved it
    method: str
    settings: dict[str, Any]  # checked by the method's own settings
    seed: int = Field(ge=0, le=2**63 - 1)
    classes: list[Name] = Field(min_length=1)
    ids: list[Name] | None  # None: whole numbers, kept with the arrays
    names: list[str] | None = None  # shown beside the ids
    graph: str
    relations: list[str] = []  # kinds of edges, if there are several
    directed: bool = False
    split: SplitDescription
    findings: Findings
    seconds: float = Field(ge=0)
    threads: int = Field(ge=1, le=100_000)
    device: str
    tables: TablesDescription | None
    files: dict[str, str]  # SHA-256 by name

    @classmethod
    def of(cls, values: Any) -> "ModelDescription":
        """Check plain values; the first mistake is a DataFileError that names the field."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise DataFileError(f"model.json, {where[:80]}: {first['msg']}.") from None
