"""ModelDescription: the schema of model.json. Every field is checked before any of them is used."""

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError

from dccgcn.errors import DataFileError
from dccgcn.tables import Columns, FeatureEncoder, Stored

FORMAT: Literal[5] = 5  # of the folder; raised when an older version could not read it

Name = StrictStr | StrictBool | StrictInt | StrictFloat
Positive = Annotated[float, Field(gt=0)]


class SplitDescription(Stored):
    """A split without its nodes."""

    dataset: str
    kind: str
    seed: int | None = Field(ge=0, le=2**63 - 1)
    nodes: str


class FindingDescription(Stored):
    """A finding of the original tables, the split or the fit."""

    level: Literal["warning", "note"]
    code: str
    text: str


class Findings(Stored):
    """Findings by source."""

    graph: list[FindingDescription]
    split: list[FindingDescription]
    prediction: list[FindingDescription]


class TablesDescription(Stored):
    """How the nodes were read from tables."""

    columns: Columns
    encoder: FeatureEncoder

    def check(self, d: int) -> None:
        """Raise a DataFileError unless lengths agree and the encoder makes d features."""
        encoder, numbers, meaning = self.encoder, self.encoder.numbers, self.encoder.meaning
        if meaning and not (
            {*meaning.columns} <= {t.column for t in encoder.texts} and meaning.id in (None, self.columns.id)
        ):
            raise DataFileError("model.json, tables, encoder, meaning names columns that are not read as text.")
        lengths = {
            len(listed)
            for listed in (numbers.columns, numbers.centre, numbers.scale, numbers.fill)
            if listed is not None
        }
        if (
            not self.columns.edges
            or len(lengths) > 1
            or len(encoder.weights) != len(encoder.blocks)
            or not set(numbers.gaps) <= set(numbers.columns)
            or any(len(t.words) != len(t.idf) for t in encoder.texts)
            or any(
                len({*listed}) != len(listed)
                for listed in (encoder.columns, *(block.names for block in encoder.blocks))
            )
            or (len(encoder.names) or 1) != d
        ):
            raise DataFileError(f"model.json, tables, encoder does not make the {d} features of the graph.")


class ModelDescription(Stored):
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
    relations: list[str] = Field(default_factory=list)  # kinds of edges, if there are several
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
