"""Stored traces: found, read and deleted."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.errors import NotFoundError, StaleError, UsageError
from scorewright.domain.suggestion import quote
from scorewright.services.audit import note
from scorewright.services.ingest import settle_trace
from scorewright.sources.stored_filter import COLUMNS, TraceFilter
from scorewright.sources.stored_spans import trace_by_id
from scorewright.storage.database import Database
from scorewright.storage.repositories.spans import delete_spans
from scorewright.storage.repositories.traces import delete_trace, find_trace, page_of_traces
from scorewright.storage.tables.traces import traces
from scorewright.telemetry.assembly import Trace, notices_of
from scorewright.telemetry.span_id import TRACE_BYTES, id_of_text

#: Traces that one page looks at in memory, and spans that it reads for that; then it ends early.
MAX_LOOKED_AT: Final = 5_000
MAX_SPANS_READ: Final = 20_000
MAX_SEARCH_CHARS: Final = 200
_SEARCHED: Final = ("trace_id", "name", "session_id", "input", "output")
#: Of the columns, those that are told in a list.
SHOWN: Final = (
    *(column for column in COLUMNS if column.name not in {"attributes", "long_attributes"}),
    traces.c.created_us,
    traces.c.changed_us,
    traces.c.version,
)

Key = tuple[int, str]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which traces are looked for."""

    #: Microseconds since 1970; the first moment, and the first one no more.
    from_us: int | None = None
    to_us: int | None = None
    filter: str | None = None
    #: Part of an id, a name, a session, or the beginning of a question or an answer.
    search: str | None = None


class FoundTraces(msgspec.Struct, frozen=True):
    """A page of a list of traces, the latest first."""

    rows: list[sa.Row[Any]]
    #: What the next page comes after; None on the last one.
    next_key: Key | None
    #: Whether the page ended since too many traces had to be looked at.
    ended_early: bool


def find_traces(
    database: Database, project_id: str, wanted: Wanted, *, after: Key | None, limit: int
) -> FoundTraces:
    """Read a page of the traces that are looked for.

    Raises:
        UsageError: The caller's: the filter is none, or the words are too many.
    """
    condition = _condition(database, project_id, wanted)
    if wanted.filter is None:
        with database.read() as connection:
            rows = page_of_traces(connection, condition, SHOWN, after=after, limit=limit + 1)
        return _page(list(rows), limit)
    try:
        asked = TraceFilter(database, project_id, wanted.filter)
    except UsageError as error:
        raise error.at("filter") from None
    with database.read() as connection:
        return _Search(connection, condition, asked, limit).page(after)


def _page(rows: list[sa.Row[Any]], limit: int) -> FoundTraces:
    more = len(rows) > limit
    kept = rows[:limit]
    return FoundTraces(kept, _key(kept[-1]) if more else None, ended_early=False)


def _key(row: sa.Row[Any]) -> Key:
    return row.order_us, row.trace_id


class _Search:
    """Looks through rows that may match, until a page is full or too much was looked at."""

    def __init__(
        self,
        connection: sa.Connection,
        condition: sa.ColumnElement[bool],
        asked: TraceFilter,
        limit: int,
    ) -> None:
        self._connection = connection
        self._condition = sa.and_(condition, asked.possible)
        self._asked = asked
        self._limit = limit
        self._looked_at = self._spans_read = 0

    def page(self, after: Key | None) -> FoundTraces:
        columns = [*SHOWN, traces.c.attributes, traces.c.long_attributes, self._asked.is_sure]
        found: list[sa.Row[Any]] = []
        while True:
            rows = page_of_traces(
                self._connection, self._condition, columns, after=after, limit=self._limit + 1
            )
            for row in rows:
                if self._is_enough(row):
                    return FoundTraces(found[: self._limit], after, ended_early=True)
                if self._is_found(row):
                    found.append(row)
                    if len(found) > self._limit:
                        return _page(found, self._limit)
                after = _key(row)
            if len(rows) <= self._limit:
                return FoundTraces(found, None, ended_early=False)

    def _is_enough(self, row: sa.Row[Any]) -> bool:
        if row.is_sure:
            return False
        self._looked_at += 1
        if self._asked.needs_spans(row):
            self._spans_read += row.span_count
            # One trace is looked at, however large, or there would be no way past it.
            if self._spans_read > MAX_SPANS_READ and self._looked_at > 1:
                return True
        return self._looked_at > MAX_LOOKED_AT

    def _is_found(self, row: sa.Row[Any]) -> bool:
        return bool(row.is_sure) or self._asked.matches(self._connection, row)


def _condition(database: Database, project_id: str, wanted: Wanted) -> sa.ColumnElement[bool]:
    conditions: list[sa.ColumnElement[bool]] = [traces.c.project_id == project_id]
    # What has no start stands at 0, and is in no window.
    if wanted.from_us is not None:
        conditions.append(traces.c.order_us >= max(wanted.from_us, 1))
    if wanted.to_us is not None:
        conditions.append(traces.c.order_us < wanted.to_us)
        conditions.append(traces.c.start_us.is_not(None))
    if wanted.search:
        conditions.append(_says(database, wanted.search))
    return sa.and_(*conditions)


def _says(database: Database, text: str) -> sa.ColumnElement[bool]:
    """Look for a part of what a row says; letters of ASCII in either case, on both databases."""
    if len(text) > MAX_SEARCH_CHARS:
        raise UsageError(f"search: at most {MAX_SEARCH_CHARS} characters").at("search")
    wanted = "".join(c.lower() if c.isascii() else c for c in text.replace("\0", "\ufffd"))

    def holds(column: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
        if database.is_sqlite:
            return sa.func.instr(sa.func.lower(column), wanted) > 0
        return sa.func.strpos(sa.func.lower(sa.collate(column, "C")), wanted) > 0

    return sa.or_(*(holds(traces.c[name]) for name in _SEARCHED))


# ── One trace ────────────────────────────────────────────────────────────────────────────────────


class StoredTrace(msgspec.Struct, frozen=True):
    """One trace with all its spans."""

    row: sa.Row[Any]
    trace: Trace
    notices: list[str]


def read_trace(
    database: Database, project_id: str, trace_id: str, since: tuple[int, int] | None = None
) -> StoredTrace:
    """Read a trace whole.

    Args:
        database: Where it is.
        project_id: Whose it is.
        trace_id: Its id.
        since: The version whose spans were shown before, with how many; None at the beginning.

    Raises:
        NotFoundError: The caller's: there is none of that id.
        StaleError: The caller's: it is of another version by now, and its spans stand elsewhere.
    """
    wanted = _id(trace_id)
    with database.read() as connection:
        row = find_trace(connection, project_id, wanted)
    if row is not None and row.pending_spans:
        settle_trace(database, project_id, wanted)
    with database.read() as connection:
        row = find_trace(connection, project_id, wanted)
        trace = None if row is None else trace_by_id(connection, project_id, wanted)
    if row is None or trace is None:
        raise _not_found(trace_id)
    if since is not None and since[0] != row.version:
        raise StaleError("the trace changed meanwhile; read it again from its beginning").at(
            "cursor"
        )
    return StoredTrace(row, trace, [*notices_of(trace)])


def remove_trace(database: Database, project_id: str, trace_id: str) -> None:
    """Delete a trace with its spans; spans of it that arrive later make it anew.

    Raises:
        NotFoundError: The caller's: there is none of that id.
    """
    wanted = _id(trace_id)
    with database.write() as connection:
        # The row first: whoever adds spans holds it.
        if not delete_trace(connection, project_id, wanted):
            raise _not_found(trace_id)
        delete_spans(connection, project_id, wanted)
        note(connection, project_id, "delete", kind="trace", target_id=wanted)


def _id(text: str) -> str:
    found = id_of_text(text, TRACE_BYTES)
    if not found:
        raise _not_found(text)
    return found


def _not_found(trace_id: str) -> NotFoundError:
    return NotFoundError(f"there is no trace {quote(trace_id)}")
