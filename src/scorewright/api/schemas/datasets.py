"""Datasets on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from scorewright.api.moments import Moment, moment, moment_or_none
from scorewright.services.datasets import DatasetFields
from scorewright.storage.repositories.datasets import StoredDataset, StoredVersion

Name = Annotated[
    str, Field(max_length=128, description="never changes; unique, deleted ones included")
]
DisplayName = Annotated[str, Field(min_length=1, max_length=128)]
Description = Annotated[str, Field(max_length=512)]
Tag = Annotated[str, Field(min_length=1, max_length=64)]
Tags = Annotated[list[Tag], Field(max_length=50)]
Note = Annotated[str, Field(max_length=512, description="what is new about this version")]
Row = Annotated[dict[str, Any], Field(description="column to value")]
RowNumber = Annotated[int, Field(ge=1, le=2**31 - 1, description="of a row, from 1")]

MAX_ROWS = 10_000


class Column(BaseModel):
    """A column, over all rows."""

    name: str
    type: Literal["string", "integer", "number", "boolean", "json", "mixed", "null"]
    nulls: int = Field(description="rows in which it is absent or null")


class Notice(BaseModel):
    """Something to know about how the data were read."""

    line: int | None
    message: str


class Version(BaseModel):
    """An immutable version of a dataset."""

    id: str
    number: int
    rows: int
    columns: list[Column]
    notices: list[Notice]
    digest: str = Field(description="sha256, in hex, of the rows as JSON Lines")
    bytes: int = Field(description="of the rows as JSON Lines")
    note: str
    created_at: Moment

    @classmethod
    def of(cls, version: StoredVersion) -> Self:
        """Write a version."""
        return cls.model_validate(
            {
                **{name: getattr(version, name) for name in version.__struct_fields__},
                "created_at": moment(version.created_us),
            }
        )


class Dataset(BaseModel):
    """A dataset with its latest version."""

    id: str
    name: str
    display_name: str = Field(description="the name where it has none of its own")
    description: str
    tags: list[str]
    revision: int
    created_at: Moment
    changed_at: Moment
    deleted_at: Moment | None
    latest_version: Version

    @classmethod
    def of(cls, dataset: StoredDataset) -> Self:
        """Write a dataset."""
        return cls(
            id=dataset.id,
            name=dataset.name,
            display_name=dataset.display_name or dataset.name,
            description=dataset.description,
            tags=dataset.tags,
            revision=dataset.revision,
            created_at=moment(dataset.created_us),
            changed_at=moment(dataset.changed_us),
            deleted_at=moment_or_none(dataset.deleted_us),
            latest_version=Version.of(dataset.latest),
        )


class NewDataset(BaseModel):
    """A dataset to be made of rows."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"name": "capitals", "rows": [{"input": "France?", "expected": "Paris"}]}
        },
    )

    name: Name | None = Field(None, description="proposed from display_name when left out")
    display_name: DisplayName | None = None
    description: Description = ""
    tags: Tags = []
    note: Note = ""
    rows: list[Row] = Field(max_length=MAX_ROWS)

    def fields(self) -> DatasetFields:
        """Return what is said about the dataset."""
        return DatasetFields(
            name=self.name,
            display_name=self.display_name,
            description=self.description,
            tags=tuple(self.tags),
        )


class NewVersion(BaseModel):
    """A version to be made of rows."""

    model_config = ConfigDict(extra="forbid")

    note: Note = ""
    rows: list[Row] = Field(max_length=MAX_ROWS)


class DatasetChanges(BaseModel):
    """What is to be said about a dataset from now on; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    display_name: DisplayName | None = None
    description: Description = ""
    tags: Tags = []


class NumberedRow(BaseModel):
    """A row with its number."""

    number: int
    data: Row


class SetRow(BaseModel):
    """Put other data in a row's place."""

    model_config = ConfigDict(extra="forbid")

    op: Literal["set"]
    number: RowNumber
    data: Row


class AppendRow(BaseModel):
    """Put a row behind the last one."""

    model_config = ConfigDict(extra="forbid")

    op: Literal["append"]
    data: Row


class DeleteRow(BaseModel):
    """Leave a row out: those behind it move up."""

    model_config = ConfigDict(extra="forbid")

    op: Literal["delete"]
    number: RowNumber


RowChange = Annotated[SetRow | AppendRow | DeleteRow, Field(discriminator="op")]


class RowChanges(BaseModel):
    """What the next version has otherwise; numbers are those of the latest version."""

    model_config = ConfigDict(extra="forbid")

    changes: list[RowChange] = Field(min_length=1, max_length=MAX_ROWS)
    note: Note = ""
