"""Runs and results on the wire."""

from __future__ import annotations

from typing import Any, Literal, Self

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from scorewright.api.moments import Moment, moment, moment_or_none
from scorewright.api.schemas.results import Result
from scorewright.api.schemas.tasks import Settings
from scorewright.services.run_model import Run
from scorewright.services.run_results import Distribution, ItemResults
from scorewright.storage.repositories.results import NumberedRecord

Status = Literal["queued", "running", "paused", "cancelling", "cancelled", "completed", "failed"]


class Repeat(BaseModel):
    """What of a run is to be done again."""

    model_config = ConfigDict(extra="forbid")

    mode: Literal["all", "failed"] = Field(
        "all",
        description="all: everything, by the task as it is now; failed: what has no result, by the same versions",
    )


class Counts(BaseModel):
    """How far one evaluator is."""

    name: str
    scored: int
    skipped: int
    failed: int


class RunView(BaseModel):
    """A run."""

    id: str
    task_id: str
    number: int = Field(description="in its task, from 1")
    status: Status
    mode: Literal["all", "failed"]
    parent_run_id: str | None
    source: dict[str, Any]
    settings: Settings
    clock_s: float = Field(description="the time that evaluators see: seconds since 1970, UTC")
    total: int | None = Field(description="items to judge; null before a worker has looked")
    done: int
    evaluators: list[Counts]
    queue_position: int | None = Field(description="runs that come first; null unless queued")
    eta_s: float | None = Field(description="seconds that it may still take")
    error: str | None
    change: int = Field(description="grows with every change")
    created_at: Moment
    started_at: Moment | None
    ended_at: Moment | None

    @classmethod
    def of(cls, run: Run) -> Self:
        """Write a run."""
        fields: dict[str, Any] = msgspec.to_builtins(run)
        return cls.model_validate(
            {
                **fields,
                "id": run.run_id,
                "evaluators": fields["counts"],
                "created_at": moment(run.created_us),
                "started_at": moment_or_none(run.started_us),
                "ended_at": moment_or_none(run.ended_us),
            }
        )


class ResultView(Result):
    """What one evaluator made of one item."""

    item_no: int = Field(description="of the item in its data, from 1")
    created_at: Moment

    @classmethod
    def of(cls, found: NumberedRecord) -> Self:
        """Write a result."""
        return cls.model_validate(
            {
                **msgspec.to_builtins(found.record),
                "item_no": found.item_no,
                "created_at": moment(found.created_us),
            }
        )


class ItemView(BaseModel):
    """What every evaluator made of one item."""

    item_no: int
    item_id: str
    results: list[ResultView]

    @classmethod
    def of(cls, found: ItemResults) -> Self:
        """Write an item's results."""
        return cls(
            item_no=found.place.item_no,
            item_id=found.item_id,
            results=[ResultView.of(one) for one in found.results],
        )


class DistributionView(BaseModel):
    """How scores lie."""

    evaluator: str
    n: int
    histogram: dict[str, list[float]] | None
    percentiles: dict[str, float] = Field(description="percent to score")
    bits: int = Field(description="bits that the percentiles hold to; 53 is exact")

    @classmethod
    def of(cls, found: Distribution) -> Self:
        """Write a distribution."""
        return cls.model_validate(msgspec.to_builtins(found))
