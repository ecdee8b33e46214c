"""Results of runs."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime

from scorewright.api.context import InContext, ProjectId
from scorewright.api.document import file_types
from scorewright.api.moments import moment_us_or_none
from scorewright.api.paging import Cursor, Limit, Page, read_cursor, write_cursor
from scorewright.api.schemas.runs import DistributionView, ItemView, ResultView
from scorewright.domain.result import FailureCode
from scorewright.services import run_results
from scorewright.services.result_search import Order, Place, ResultFilter
from scorewright.services.run_results import ExportForm, Question

router = APIRouter(prefix="/runs/{run}", tags=["results"])
_MEDIA_TYPES: Final = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
_Number = Annotated[float | None, Query(allow_inf_nan=False)]


def wanted_results(
    status: Annotated[list[Literal["scored", "skipped", "failed"]], Query(max_length=3)] = [],
    min_score: _Number = None,
    max_score: _Number = None,
    normalised: Annotated[
        bool, Query(description="bounds and order are of the normalised score")
    ] = False,
    passed: bool | None = None,
    out_of_range: bool | None = None,
    failure_code: FailureCode | None = None,
    search: Annotated[
        str | None,
        Query(
            max_length=200,
            description="beginnings of words in explanation, reason and failure message; all must be there",
        ),
    ] = None,
    item_id: Annotated[str | None, Query(max_length=200)] = None,
    made_from: Annotated[
        AwareDatetime | None, Query(alias="from", description="made at or after")
    ] = None,
    made_to: Annotated[AwareDatetime | None, Query(alias="to", description="made before")] = None,
) -> ResultFilter:
    """Return which results are asked for."""
    return ResultFilter(
        statuses=tuple(status),
        min_score=min_score,
        max_score=max_score,
        is_normalised=normalised,
        passed=passed,
        out_of_range=out_of_range,
        failure_code=None if failure_code is None else failure_code.value,
        search=search or None,
        item_id=item_id,
        from_us=moment_us_or_none(made_from),
        to_us=moment_us_or_none(made_to),
    )


Wanted = Annotated[ResultFilter, Depends(wanted_results)]
Evaluators = Annotated[
    list[str], Query(alias="evaluator", max_length=50, description="names in the run; none for all")
]


Ordered = Annotated[
    Order,
    Query(
        description="item: by number, results by evaluator before that; newest: made last; lowest, highest: by score, "
        "only what has one"
    ),
]


def asked_results(wanted: Wanted, evaluator: Evaluators = []) -> Question:
    """Return what is asked for."""
    return Question(wanted=wanted, names=tuple(evaluator))


def ordered_results(
    wanted: Wanted, evaluator: Evaluators = [], order: Ordered = "item"
) -> Question:
    """Return what is asked for in an order."""
    return Question(wanted=wanted, names=tuple(evaluator), order=order)


Asked = Annotated[Question, Depends(asked_results)]
AskedInOrder = Annotated[Question, Depends(ordered_results)]


@router.get("/results")
def list_run_results(
    run: str,
    project: ProjectId,
    context: InContext,
    asked: AskedInOrder,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ResultView]:
    """List results by evaluator and by item within it, or in another order."""
    found = run_results.page(
        context.database, project, run, asked, after=_read_place(cursor), limit=limit + 1
    )
    last = found[limit - 1] if len(found) > limit else None
    return Page(
        items=[ResultView.of(one) for one in found[:limit]],
        next_cursor=last and write_cursor(*run_results.place_of(last, asked)),
    )


@router.get("/items")
def list_run_items(
    run: str,
    project: ProjectId,
    context: InContext,
    asked: AskedInOrder,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ItemView]:
    """List items that have a result which is asked for, each with the results of every evaluator."""
    found = run_results.items(
        context.database, project, run, asked, after=_read_place(cursor), limit=limit + 1
    )
    last = found[limit - 1] if len(found) > limit else None
    return Page(
        items=[ItemView.of(one) for one in found[:limit]],
        next_cursor=last and write_cursor(*last.place),
    )


def _read_place(cursor: str | None) -> Place | None:
    key = read_cursor(cursor, (float, int, int))
    return None if key is None else Place(float(key[0]), int(key[1]), int(key[2]))


@router.get("/distributions")
def list_run_distributions(
    run: str, project: ProjectId, context: InContext, asked: Asked
) -> list[DistributionView]:
    """Return histogram and percentiles of scores by evaluator."""
    found = run_results.distributions(context.database, project, run, asked)
    return [DistributionView.of(one) for one in found]


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses=file_types(_MEDIA_TYPES.values()),
)
def export_run_results(
    run: str,
    project: ProjectId,
    context: InContext,
    asked: Asked,
    form: Annotated[ExportForm, Query(alias="format")] = "jsonl",
) -> StreamingResponse:
    """Download results: the fields of a result as columns, those of its failure apart, metrics as JSON text."""
    body = run_results.export(context.database, project, run, asked, form=form)
    return StreamingResponse(
        body,
        media_type=_MEDIA_TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="results.{form}"'},
    )
