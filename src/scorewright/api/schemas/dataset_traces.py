"""Rows of datasets that are made of stored traces, on the wire."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from scorewright.api.moments import moment_us_or_none
from scorewright.api.schemas.datasets import Note, Version
from scorewright.domain.convention import Level
from scorewright.services.dataset_traces import MAX_ADDED, AddedRows, WantedTraces

ItemId = Annotated[str, Field(min_length=1, max_length=64)]


class NewRowsOfTraces(BaseModel):
    """Which stored traces become rows: those of some ids, or those that are searched for."""

    model_config = ConfigDict(extra="forbid")

    item_ids: Annotated[
        list[ItemId] | None,
        Field(
            min_length=1,
            max_length=MAX_ADDED,
            description="a trace's id, or TRACE/SPAN for agents and model calls; in place of a search",
        ),
    ] = None
    filter: Annotated[
        str | None,
        Field(min_length=1, max_length=10_000, description="an expression over whole traces"),
    ] = None
    from_: Annotated[AwareDatetime | None, Field(alias="from", description="the first moment")] = (
        None
    )
    to: Annotated[AwareDatetime | None, Field(description="the first moment no more")] = None
    level: Annotated[
        Literal["trace", "agent", "llm"], Field(description="what of a trace is a row")
    ] = "trace"
    columns: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=128)], str] | None,
        Field(
            min_length=1,
            max_length=100,
            description="column to field, as `list_source_fields` names them; input and output unless given",
        ),
    ] = None
    limit: Annotated[
        int, Field(ge=1, le=MAX_ADDED, description="rows at most, the earliest first")
    ] = 1_000
    note: Note = ""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.item_ids is not None and (self.filter or self.from_ or self.to):
            raise ValueError("give item_ids, or a search (filter, from, to), not both")
        return self

    def wanted(self) -> WantedTraces:
        """Return what is meant."""
        return WantedTraces(
            level=Level(self.level),
            item_ids=None if self.item_ids is None else tuple(dict.fromkeys(self.item_ids)),
            filter=self.filter,
            from_us=moment_us_or_none(self.from_),
            to_us=moment_us_or_none(self.to),
            columns=self.columns,
            limit=self.limit,
        )


class RowsOfTraces(BaseModel):
    """A version with rows of traces behind the others."""

    version: Version
    added: int = Field(description="rows that were added")
    found: int = Field(description="how many there were, whether they were added or not")

    @classmethod
    def of(cls, added: AddedRows) -> Self:
        """Write what became of it."""
        return cls(version=Version.of(added.version), added=added.added, found=added.found)
