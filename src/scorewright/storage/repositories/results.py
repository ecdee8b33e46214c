"""Results of runs: written a chunk at a time, read in pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from scorewright.domain.json_value import JsonValue
from scorewright.domain.result import FailureCode
from scorewright.domain.result_record import FailureRecord, ResultRecord
from scorewright.storage.statements import insert_new
from scorewright.storage.tables.metadata import now_us
from scorewright.storage.tables.results import results
from scorewright.storage.tables.runs import run_evaluators

_encode = msgspec.json.Encoder().encode
_decode_metrics = msgspec.json.Decoder(dict[str, JsonValue]).decode
_NO_METRICS: dict[str, JsonValue] = {}


class ResultFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which results of a run are wanted; None leaves a question open."""

    statuses: tuple[str, ...] = ()
    #: Numbers of evaluators in the run.
    evaluators: tuple[int, ...] = ()
    min_score: float | None = None
    max_score: float | None = None
    #: Whether the bounds are of the normalised score.
    is_normalised: bool = False
    passed: bool | None = None
    out_of_range: bool | None = None
    failure_code: str | None = None
    #: A part of the explanation, the reason or the failure, in whatever case.
    search: str | None = None
    item_id: str | None = None
    #: When the result was made: from, and until but without.
    from_us: int | None = None
    to_us: int | None = None


class NumberedRecord(msgspec.Struct, frozen=True):
    """A result with its place in the run."""

    evaluator_no: int
    item_no: int
    created_us: int
    record: ResultRecord


def insert(
    connection: sa.Connection, run_id: str, found: Sequence[tuple[int, int, ResultRecord]]
) -> None:
    """Write results, each with its evaluator's place and its item's number; what is there already stays."""
    created_us = now_us()
    rows = [_to_row(run_id, created_us, *one) for one in found]
    insert_new(connection, results, rows)


def _to_row(
    run_id: str, created_us: int, evaluator_no: int, item_no: int, record: ResultRecord
) -> dict[str, Any]:
    failure = record.failure
    return {
        "run_id": run_id,
        "evaluator_no": evaluator_no,
        "item_no": item_no,
        "item_id": record.item_id,
        "status": record.status,
        "score": record.score,
        "normalised_score": record.normalised_score,
        "passed": record.passed,
        "metrics": _encode(record.metrics) if record.metrics else None,
        "explanation": record.explanation,
        "reason": record.reason,
        "failure_code": None if failure is None else failure.code.value,
        "failure_type": None if failure is None else failure.type,
        "failure_message": None if failure is None else failure.message,
        "failure_line": None if failure is None else failure.line,
        "failure_traceback": None if failure is None else failure.traceback,
        "output": record.output,
        "duration_us": round(record.duration_ms * 1000),
        "out_of_range": record.out_of_range,
        "basis": record.basis,
        "environment": record.environment,
        "runner": record.runner,
        "reused": record.reused,
        "created_us": created_us,
    }


class RecordReader:
    """Makes records of rows.

    Args:
        evaluators: Name, version and digest of each, in the run's order.
        source: What kind of data was judged.
    """

    def __init__(self, evaluators: Sequence[tuple[str, int, str]], source: str = "dataset") -> None:
        self._evaluators = evaluators
        self._source = source

    def read(self, row: sa.Row[Any]) -> NumberedRecord:
        """Return the record that a row was made of."""
        place: int = row.evaluator_no
        name, version, digest = self._evaluators[place]
        failure = None
        if row.failure_code is not None:
            failure = FailureRecord(
                FailureCode(row.failure_code),
                row.failure_type,
                row.failure_message,
                row.failure_line,
                row.failure_traceback,
            )
        record = ResultRecord(
            item_id=row.item_id,
            evaluator=name,
            version=version,
            status=row.status,
            score=row.score,
            normalised_score=row.normalised_score,
            passed=row.passed,
            metrics=_NO_METRICS if row.metrics is None else _decode_metrics(row.metrics),
            explanation=row.explanation,
            reason=row.reason,
            failure=failure,
            output=row.output,
            duration_ms=row.duration_us / 1000,
            out_of_range=row.out_of_range,
            digest=digest,
            basis=row.basis,
            environment=row.environment,
            runner=row.runner,
            reused=row.reused,
            source=self._source,
        )
        return NumberedRecord(row.evaluator_no, row.item_no, row.created_us, record)


def page(
    connection: sa.Connection,
    run_id: str,
    wanted: ResultFilter,
    *,
    after: tuple[int, int] | None,
    limit: int,
) -> list[sa.Row[Any]]:
    """Return results by evaluator, and by item within it."""
    statement = sa.select(results).where(results.c.run_id == run_id, *_conditions(wanted))
    if after is not None:
        statement = statement.where(
            sa.tuple_(results.c.evaluator_no, results.c.item_no) > sa.tuple_(*after)
        )
    ordered = statement.order_by(results.c.evaluator_no, results.c.item_no)
    return list(connection.execute(ordered.limit(limit)))


def of_items(
    connection: sa.Connection, run_id: str, first: int, last: int, *, evaluators: int
) -> list[sa.Row[Any]]:
    """Return all results of items by number, both bounds included, by item and by evaluator within it."""
    statement = sa.select(results).where(
        results.c.run_id == run_id,
        # Named one by one: a range of the primary key for each.
        results.c.evaluator_no.in_(range(evaluators)),
        results.c.item_no.between(first, last),
    )
    return list(connection.execute(statement.order_by(results.c.item_no, results.c.evaluator_no)))


def item_numbers(
    connection: sa.Connection, run_id: str, *, evaluators: int, after: int, limit: int
) -> list[int]:
    """Return the numbers of the next items that have a result."""
    parts = [
        sa.select(results.c.item_no)
        .where(
            results.c.run_id == run_id,
            results.c.evaluator_no == number,
            results.c.item_no > after,
        )
        .order_by(results.c.item_no)
        .limit(limit)
        .subquery()
        for number in range(evaluators)
    ]
    union = sa.union(*[sa.select(part.c.item_no) for part in parts]).subquery()
    ordered = sa.select(union.c.item_no).order_by(union.c.item_no).limit(limit)
    return list(connection.scalars(ordered))


def item_names(
    connection: sa.Connection, run_id: str, evaluator_no: int, numbers: Sequence[int]
) -> dict[int, str]:
    """Return what items are called, by number."""
    found = connection.execute(
        sa.select(results.c.item_no, results.c.item_id).where(
            results.c.run_id == run_id,
            results.c.evaluator_no == evaluator_no,
            results.c.item_no.in_(numbers),
        )
    )
    return {row.item_no: row.item_id for row in found}


def scores(
    connection: sa.Connection, run_id: str, wanted: ResultFilter, *, at_most: int
) -> list[float]:
    """Return the scores inside their range of the results that are wanted."""
    statement = sa.select(results.c.score).where(
        results.c.run_id == run_id,
        results.c.score.is_not(None),
        results.c.out_of_range.is_(False),
        *_conditions(wanted),
    )
    return list(connection.scalars(statement.limit(at_most)))


def add_to_evaluator(
    connection: sa.Connection, run_id: str, evaluator_no: int, values: dict[str, Any]
) -> None:
    """Write what the results of one evaluator amount to."""
    connection.execute(
        run_evaluators.update()
        .where(run_evaluators.c.run_id == run_id, run_evaluators.c.evaluator_no == evaluator_no)
        .values(values)
    )


def _conditions(wanted: ResultFilter) -> list[sa.ColumnElement[bool]]:
    columns = results.c
    score = columns.normalised_score if wanted.is_normalised else columns.score
    asked: list[tuple[Any, Callable[[Any], sa.ColumnElement[bool]]]] = [
        (wanted.statuses or None, columns.status.in_),
        (wanted.evaluators or None, columns.evaluator_no.in_),
        (wanted.min_score, score.__ge__),
        (wanted.max_score, score.__le__),
        (wanted.passed, columns.passed.__eq__),
        (wanted.out_of_range, columns.out_of_range.__eq__),
        (wanted.failure_code, columns.failure_code.__eq__),
        (wanted.item_id, columns.item_id.__eq__),
        (wanted.from_us, columns.created_us.__ge__),
        (wanted.to_us, columns.created_us.__lt__),
    ]
    found = [is_so(value) for value, is_so in asked if value is not None]
    if wanted.search:
        texts = (columns.explanation, columns.reason, columns.failure_message)
        found.append(sa.or_(*[text.icontains(wanted.search, autoescape=True) for text in texts]))
    return found
