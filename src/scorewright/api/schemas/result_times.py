"""Results over time on the wire."""

from __future__ import annotations

from typing import Any, Self

import msgspec
from pydantic import BaseModel, Field

from scorewright.api.moments import Moment, moment
from scorewright.services.result_times import Point, TimeSeries


class PointView(BaseModel):
    """What the results of one hour or day come to."""

    start: Moment
    scored: int
    skipped: int
    failed: int
    out_of_range: int
    reused: int = Field(description="of all, those that were taken over from an earlier run")
    mean_score: float | None
    mean_normalised: float | None
    mean_interval: list[float] | None = Field(description="of 95 %")
    mean_n: int = Field(description="results that the mean is over")
    min_score: float | None
    max_score: float | None
    pass_rate: float | None
    pass_rate_interval: list[float] | None
    pass_rate_n: int = Field(description="results that have a verdict")
    percentiles: dict[str, float] = Field(description="percent to score; empty of nothing")
    bits: int = Field(description="bits that the percentiles hold to; 53 is exact")

    @classmethod
    def of(cls, point: Point) -> Self:
        """Write a point."""
        fields: dict[str, Any] = {**point.values, "start": moment(point.start_us)}
        return cls.model_validate(fields)


class TimeSeriesView(BaseModel):
    """One version of an evaluator over time."""

    evaluator: str = Field(description="what results call it")
    evaluator_id: str
    version: int
    score_range: list[float] | None
    points: list[PointView] = Field(description="by time; none where there are no results")

    @classmethod
    def of(cls, found: TimeSeries) -> Self:
        """Write a series."""
        fields: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(found, points=[]))
        return cls.model_validate({**fields, "points": [PointView.of(one) for one in found.points]})
