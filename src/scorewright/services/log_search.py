"""Stored log records, found."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.errors import UsageError
from scorewright.storage.database import Database
from scorewright.storage.repositories.log_records import page_of_records
from scorewright.storage.tables.log_records import log_records
from scorewright.telemetry.span_id import TRACE_BYTES, id_of_text

#: What a severity's numbers begin with.
SEVERITIES: Final = {"TRACE": 1, "DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17, "FATAL": 21}


class WantedRecords(msgspec.Struct, frozen=True, kw_only=True):
    """Which records are looked for."""

    #: Microseconds since 1970; the first moment, and the first one no more.
    from_us: int | None = None
    to_us: int | None = None
    #: The least severity's number.
    severity_number: int | None = None
    trace_id: str | None = None


def find_records(
    database: Database,
    project_id: str,
    wanted: WantedRecords,
    *,
    after: tuple[int, str] | None,
    limit: int,
) -> tuple[list[sa.Row[Any]], tuple[int, str] | None]:
    """Read a page of records, the latest first.

    Returns:
        The records, and what the next page comes after; None on the last one.

    Raises:
        UsageError: The caller's: what should be a trace's id is none.
    """
    columns = log_records.c
    conditions: list[sa.ColumnElement[bool]] = [columns.project_id == project_id]
    if wanted.from_us is not None:
        conditions.append(columns.time_us >= wanted.from_us)
    if wanted.to_us is not None:
        conditions.append(columns.time_us < wanted.to_us)
    if wanted.severity_number is not None:
        conditions.append(columns.severity_number >= wanted.severity_number)
    if wanted.trace_id is not None:
        trace_id = id_of_text(wanted.trace_id, TRACE_BYTES)
        if not trace_id:
            raise UsageError("trace_id: 32 hexadecimal digits are needed").at("trace_id")
        conditions.append(columns.trace_id == trace_id)
    with database.read() as connection:
        rows = list(page_of_records(connection, sa.and_(*conditions), after=after, limit=limit + 1))
    last = rows[limit - 1] if len(rows) > limit else None
    return rows[:limit], None if last is None else (last.time_us, last.id)
