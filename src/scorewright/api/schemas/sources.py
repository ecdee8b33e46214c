"""Descriptions of sources on the wire, and a few of their items."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from scorewright.domain.convention import Level
from scorewright.services import source_opening as described
from scorewright.services.source_opening import MAX_GIVEN_ITEMS


class _Described(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DatasetSource(_Described):
    """The rows of a dataset version."""

    kind: Literal["dataset"]
    dataset: Annotated[str, Field(min_length=1, max_length=128, description="name or id")]
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | Literal["latest"] = "latest"
    filter: Annotated[
        str | None,
        Field(min_length=1, max_length=10_000, description="which items, as a filter expression"),
    ] = None


class ItemsSource(_Described):
    """Rows that the description itself holds."""

    kind: Literal["items"]
    items: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MAX_GIVEN_ITEMS)]


class _StoredSource(_Described):
    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)

    from_: Annotated[
        AwareDatetime | None,
        Field(alias="from", description="the first moment, of the data's own times"),
    ] = None
    to: Annotated[AwareDatetime | None, Field(description="the first moment no more")] = None
    arrived_by: Annotated[
        AwareDatetime | None,
        Field(description="what had arrived by then; a run has the moment when it was made"),
    ] = None


class LogsSource(_StoredSource):
    """Stored log records."""

    kind: Literal["logs"]


class _TracesSource(_StoredSource):
    filter: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=10_000,
            description="which traces, as a filter expression over whole traces",
        ),
    ] = None


class TracesSource(_TracesSource):
    """Stored traces, or those parts of them that evaluators are written for."""

    kind: Literal["traces"]
    record_level: Annotated[
        Literal["trace", "agent", "llm"],
        Field(description="what of a trace evaluators see that are written for no level"),
    ] = "trace"


class TrajectoriesSource(_TracesSource):
    """The agents of stored traces."""

    kind: Literal["trajectories"]


class ConversationsSource(_TracesSource):
    """The sessions of stored traces."""

    kind: Literal["conversations"]
    previous_turns: Annotated[
        bool, Field(description="whether an item shows what was said in its earlier turns")
    ] = False


#: A kind more is a model more here, told apart by `kind`.
SourceDescription = Annotated[
    DatasetSource
    | ItemsSource
    | TracesSource
    | TrajectoriesSource
    | ConversationsSource
    | LogsSource,
    Field(discriminator="kind", description="what the items are read from"),
]

Description = SourceDescription


def to_description(source: BaseModel) -> described.SourceDescription:
    """Return what the services know a source by."""
    return msgspec.convert(source.model_dump(by_alias=True), described.SourceDescription)


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
