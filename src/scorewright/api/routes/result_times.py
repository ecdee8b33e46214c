"""Results over time."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from scorewright.api.context import InContext, ProjectId
from scorewright.api.moments import moment_us_or_none
from scorewright.api.schemas.result_times import TimeSeriesView
from scorewright.services import result_times
from scorewright.services.result_times import Every, Window

router = APIRouter(prefix="/results", tags=["results"])


@router.get("/over-time")
def list_results_over_time(
    project: ProjectId,
    context: InContext,
    task: Annotated[
        str | None, Query(max_length=128, description="name or id; all without")
    ] = None,
    evaluator: Annotated[
        list[str], Query(max_length=50, description="names in results; all without")
    ] = [],
    every: Annotated[Every, Query(description="how long each time is")] = "hour",
    made_from: Annotated[
        AwareDatetime | None,
        Query(alias="from", description="a week of hours or 90 days before the end without"),
    ] = None,
    made_to: Annotated[
        AwareDatetime | None, Query(alias="to", description="until but without; now without")
    ] = None,
) -> list[TimeSeriesView]:
    """Return what results came to by hour or day (UTC) over all runs, by evaluator and version."""
    window = Window(
        every=every,
        from_us=moment_us_or_none(made_from),
        to_us=moment_us_or_none(made_to),
        evaluators=tuple(evaluator),
    )
    found = result_times.series(context.database, project, task, window)
    return [TimeSeriesView.of(one) for one in found]
