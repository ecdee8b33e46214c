"""Results of runs: written a chunk at a time, read in pages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.json_value import JsonValue
from scorewright.domain.result import FailureCode
from scorewright.domain.result_record import FailureRecord, ResultRecord
from scorewright.storage.statements import execute_plain, upsert
from scorewright.storage.tables.metadata import without_nul
from scorewright.storage.tables.results import results
from scorewright.storage.tables.runs import run_evaluators

_encode = msgspec.json.Encoder().encode
_decode_metrics = msgspec.json.Decoder(dict[str, JsonValue]).decode
_NO_METRICS: dict[str, JsonValue] = {}
#: What an author's code or data may have put U+0000 into.
_TEXTS: Final = (
    "item_id",
    "explanation",
    "reason",
    "failure_type",
    "failure_message",
    "failure_traceback",
    "output",
)


class NumberedRecord(msgspec.Struct, frozen=True):
    """A result with its place in the run."""

    evaluator_no: int
    item_no: int
    created_us: int
    record: ResultRecord


def insert(
    connection: sa.Connection,
    run_id: str,
    created_us: int,
    found: Sequence[tuple[int, int, ResultRecord]],
) -> None:
    """Write results, each with its evaluator's place and its item's number; what is there already stays."""
    rows = [_to_row(run_id, created_us, *one) for one in found]
    if rows:
        statement = upsert(connection, results).on_conflict_do_nothing()
        execute_plain(connection, statement, rows)


def _to_row(
    run_id: str, created_us: int, evaluator_no: int, item_no: int, record: ResultRecord
) -> dict[str, Any]:
    failure = record.failure
    row: dict[str, Any] = {
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
    for name in _TEXTS:
        text = row[name]
        if text and "\0" in text:
            row[name] = without_nul(text)
    return row


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


def at_places(
    connection: sa.Connection, run_id: str, places: Collection[tuple[int, int]]
) -> dict[tuple[int, int], sa.Row[Any]]:
    """Return results by evaluator and item."""
    items: dict[int, list[int]] = {}
    for evaluator_no, item_no in places:
        items.setdefault(evaluator_no, []).append(item_no)
    found: dict[tuple[int, int], sa.Row[Any]] = {}
    for evaluator_no, numbers in items.items():
        statement = sa.select(results).where(
            results.c.run_id == run_id,
            results.c.evaluator_no == evaluator_no,
            results.c.item_no.in_(numbers),
        )
        for row in connection.execute(statement):
            found[evaluator_no, row.item_no] = row
    return found


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


def add_to_evaluator(
    connection: sa.Connection, run_id: str, evaluator_no: int, values: dict[str, Any]
) -> None:
    """Write what the results of one evaluator amount to."""
    connection.execute(
        run_evaluators.update()
        .where(run_evaluators.c.run_id == run_id, run_evaluators.c.evaluator_no == evaluator_no)
        .values(values)
    )
