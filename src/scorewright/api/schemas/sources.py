"""Descriptions of sources on the wire, and a few of their items."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from scorewright.domain.convention import Level
from scorewright.services import source_opening as described


class DatasetSource(BaseModel):
    """The rows of a dataset version."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["dataset"]
    dataset: Annotated[str, Field(min_length=1, max_length=128, description="name or id")]
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | Literal["latest"] = "latest"
    filter: Annotated[
        str | None, Field(max_length=10_000, description="which items, as a filter expression")
    ] = None


#: A kind more is a model more here, told apart by `kind`.
SourceDescription = DatasetSource

Description = Annotated[SourceDescription, Field(description="what the items are read from")]


def to_description(source: SourceDescription) -> described.SourceDescription:
    """Return what the services know a source by."""
    return msgspec.convert(source.model_dump(), described.SourceDescription)


class SourceField(BaseModel):
    """Something in the items that a variable can be mapped to."""

    name: str = Field(description="as it is written in a mapping or a filter")
    description: str


class SourceFields(BaseModel):
    """What the items of a source hold."""

    noun: str = Field(description="what one item is called")
    size: int = Field(description="how many items there are, at all levels together")
    level: Level = Field(description="of the items that such an evaluator sees")
    fields: list[SourceField]


class SampleRequest(BaseModel):
    """Which items to show."""

    model_config = ConfigDict(extra="forbid")

    source: Description
    n: Annotated[int, Field(ge=1, le=100)] = 5
    level: Level = Level.RECORD


class SampleItem(BaseModel):
    """One item."""

    number: int
    item_id: str
    data: dict[str, Any]


class Sample(BaseModel):
    """The first items that match."""

    items: list[SampleItem]
    size: int = Field(description="how many items the source has, whether they match or not")
    scanned: int = Field(description="how many of them were looked at")
    stopped_early: bool = Field(
        description="whether time or size ran out before there were as many as wanted"
    )
