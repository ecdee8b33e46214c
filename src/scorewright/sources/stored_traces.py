"""The traces and log records of the database as items: what is in memory of them are their ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, assert_never

import msgspec
import sqlalchemy as sa

from scorewright.domain.convention import Level
from scorewright.domain.errors import DatasetError, UsageError
from scorewright.sources.conversations import ConversationItems
from scorewright.sources.listed import Entry
from scorewright.sources.log_items import LogItems
from scorewright.sources.source import Notice, Source, SourceKind
from scorewright.sources.stored_filter import COLUMNS, TraceFilter
from scorewright.sources.stored_listing import (
    ListedRecord,
    ListedTrace,
    read_listing,
    write_listing,
)
from scorewright.sources.stored_spans import groups, record_of, spans_by_trace
from scorewright.sources.trace_items import SUBJECTS, Outline, TraceItems
from scorewright.sources.trajectories import OfAgents
from scorewright.storage.database import Database
from scorewright.storage.repositories.attribute_names import names_of_subject
from scorewright.storage.repositories.log_records import all_records, bodies_of_records
from scorewright.storage.repositories.traces import all_traces
from scorewright.storage.tables.log_records import log_records
from scorewright.storage.tables.traces import traces
from scorewright.telemetry.assembly import Trace, assemble
from scorewright.telemetry.logs import LogRecord

#: Log records that are in memory at once.
_GROUP_RECORDS: Final = 500


#: Traces in order, and what is to be known about how they were found.
_Found: TypeAlias = tuple[Sequence[ListedTrace], Sequence[Notice]]


class Selected(msgspec.Struct, frozen=True, kw_only=True):
    """Which of a project's traces or log records are meant.

    A window is of the data's own times: what does not say when it started is in none.
    """

    project_id: str
    #: Microseconds since 1970; the first moment, and the first one no more.
    from_us: int | None = None
    to_us: int | None = None
    #: What had arrived by then: the same ones however often this is asked, though more arrive.
    arrived_us: int | None = None
    #: An expression over the fields of whole traces; None for log records.
    filter: str | None = None
    #: The only traces that are meant; None for whichever they are.
    trace_ids: Collection[str] | None = None


def open_stored(  # noqa: PLR0913 - as `open_source`, with the database
    database: Database,
    kind: SourceKind,
    selected: Selected,
    *,
    levels: Collection[Level] = (Level.RECORD,),
    record_level: Level = Level.TRACE,
    with_previous_turns: bool = False,
    listing: Sequence[bytes] | None = None,
) -> Source:
    """Open stored traces or log records as a source of items; as `opening.open_source` does files.

    Args:
        database: Where they are.
        kind: What one item is.
        selected: Which are meant.
        levels: Of the evaluators that will see the items.
        record_level: What of a trace evaluators see that are written for no level.
        with_previous_turns: Whether a conversation shows what was said in its earlier turns.
        listing: What `list_stored` once found, to be opened now; None for what is there now.

    Raises:
        UsageError: The caller's: the filter is none, or the kind has no such items.
    """
    project_id = selected.project_id
    if kind == "logs":
        records = (
            _records(database, selected) if listing is None else read_listing(listing, ListedRecord)
        )
        return StoredLogs(database, project_id, records)
    if kind == "dataset":
        raise UsageError("a data set is no trace; name traces, trajectories, conversations or logs")
    found: _Found = (
        _traces(database, selected) if listing is None else (read_listing(listing, ListedTrace), ())
    )
    match kind:
        case "traces":
            return StoredTraces(
                database, project_id, found, levels=levels, record_level=record_level
            )
        case "trajectories":
            return StoredTrajectories(database, project_id, found, levels=[Level.AGENT])
        case "conversations":
            return StoredConversations(
                database, project_id, found, with_previous=with_previous_turns
            )
        case _:
            assert_never(kind)


def list_stored(database: Database, kind: SourceKind, selected: Selected) -> Iterator[bytes]:
    """List what is selected now, to be opened by `open_stored` at any time, in bounded blocks.

    Raises:
        UsageError: The caller's: the filter is none.
    """
    if kind == "logs":
        return write_listing(_records(database, selected))
    return write_listing(_traces(database, selected)[0])


class StoredTraces(TraceItems):
    """The stored traces that are selected, by start; those of unknown start come last."""

    def __init__(
        self,
        database: Database,
        project_id: str,
        found: _Found,
        *,
        levels: Collection[Level],
        record_level: Level = Level.TRACE,
    ) -> None:
        rows, notices = found
        self._stored = _Stored(database, project_id)
        self._sizes = [(row.trace_id, row.span_count) for row in rows]
        super().__init__(
            [Outline(row.trace_id, row.agent_spans, row.llm_spans) for row in rows],
            path=None,
            notices=notices,
            levels=levels,
            record_level=record_level,
        )

    def _traces_in_order(self) -> Iterator[Trace]:
        for group in groups(self._sizes):
            yield from self._stored.traces(group)

    def _attribute_names(self, level: Level) -> Iterable[str]:
        return self._stored.names(SUBJECTS[level])


class StoredTrajectories(OfAgents, StoredTraces):
    """The agents of the stored traces that are selected."""

    def __init__(
        self,
        database: Database,
        project_id: str,
        found: _Found,
        *,
        levels: Collection[Level],
    ) -> None:
        super().__init__(database, project_id, found, levels=levels)
        self.noun = "trajectory"


class StoredConversations(ConversationItems[str]):
    """The sessions of the stored traces that are selected."""

    def __init__(
        self,
        database: Database,
        project_id: str,
        found: _Found,
        *,
        with_previous: bool,
    ) -> None:
        rows, notices = found
        self._stored = _Stored(database, project_id)
        turns = [(row.trace_id, row.session_id, row.trace_id) for row in rows]
        super().__init__(turns, path=None, notices=notices, with_previous=with_previous)

    def _traces_of(self, turns: Sequence[str]) -> Sequence[Trace]:
        return self._stored.traces(turns)

    def _attribute_names(self) -> Iterable[str]:
        return self._stored.names("trace")


class StoredLogs(LogItems):
    """The stored log records that are selected, by time."""

    def __init__(
        self, database: Database, project_id: str, records: Sequence[ListedRecord]
    ) -> None:
        self._database = database
        self._project_id = project_id
        entries = [Entry(one.id, one.trace_id or one.id, Level.RECORD) for one in records]
        super().__init__(entries, path=None, notices=[])

    def _records(self) -> Iterator[LogRecord]:
        for first in range(0, self.size, _GROUP_RECORDS):
            ids = [one.item_id for one in self._entries[first : first + _GROUP_RECORDS]]
            with self._database.read() as connection:
                bodies = bodies_of_records(connection, self._project_id, ids)
            for record_id in ids:
                if record_id not in bodies:
                    raise DatasetError(f"log record {record_id} was deleted; run again")
                yield record_of(bodies[record_id])

    def _attribute_names(self) -> Iterable[str]:
        with self._database.read() as connection:
            return names_of_subject(connection, self._project_id, "log")


class _Stored:
    """The traces of a project."""

    def __init__(self, database: Database, project_id: str) -> None:
        self._database = database
        self._project_id = project_id

    def traces(self, trace_ids: Sequence[str]) -> list[Trace]:
        """Put some traces together, in the order in which they are asked for.

        Raises:
            DatasetError: One of them is there no more.
        """
        with self._database.read() as connection:
            spans = spans_by_trace(connection, self._project_id, trace_ids)
        found: list[Trace] = []
        for trace_id in trace_ids:
            if trace_id not in spans:
                raise DatasetError(f"trace {trace_id} was deleted while it was read; run again")
            found += assemble(spans[trace_id])
        return found

    def names(self, subject: str) -> Iterable[str]:
        """Name the attributes that items about a subject may have."""
        with self._database.read() as connection:
            return names_of_subject(connection, self._project_id, subject)


def _records(database: Database, selected: Selected) -> list[ListedRecord]:
    """Read which log records are selected."""
    if selected.filter is not None:
        raise UsageError("log records are not selected by a filter over traces").at("/filter")
    condition = _window(selected, log_records.c, log_records.c.time_us)
    with database.read() as connection:
        rows = all_records(connection, condition)
        return [ListedRecord(row.id, row.trace_id) for row in rows]


def _traces(database: Database, selected: Selected) -> _Found:
    """Read which traces are selected, but for those that only set an agent up."""
    listed: list[ListedTrace] = []
    left_out = 0
    for row in _rows(database, selected):  # no row is kept: it may hold excerpts
        if row.is_setup:
            left_out += 1
            continue
        values = (row.trace_id, row.span_count, row.session_id, row.agent_spans, row.llm_spans)
        listed.append(ListedTrace(*values))
    text = f"traces left out since they only set an agent up: {left_out:,}"
    return listed, [Notice(None, text)] if left_out else []


def _rows(database: Database, selected: Selected) -> Iterator[sa.Row[Any]]:
    condition = _window(selected, traces.c, traces.c.start_us)
    if selected.filter is None:
        names = ("trace_id", "span_count", "agent_spans", "llm_spans", "session_id", "is_setup")
        with database.read() as connection:
            yield from all_traces(connection, condition, [traces.c[name] for name in names])
        return
    wanted = TraceFilter(database, selected.project_id, selected.filter)
    columns = [*COLUMNS, traces.c.agent_spans, traces.c.llm_spans, wanted.is_sure]
    with database.read() as connection, database.read() as second:
        # A statement that is being read from holds the first.
        for row in all_traces(connection, sa.and_(condition, wanted.possible), columns):
            if row.is_sure or wanted.matches(second, row):
                yield row


def _window(
    selected: Selected, columns: Any, time: sa.ColumnElement[int]
) -> sa.ColumnElement[bool]:
    conditions: list[sa.ColumnElement[bool]] = [columns.project_id == selected.project_id]
    if selected.from_us is not None:
        conditions.append(time >= selected.from_us)
    if selected.to_us is not None:
        conditions.append(time < selected.to_us)
    if selected.arrived_us is not None:
        conditions.append(columns.created_us <= selected.arrived_us)
    if selected.trace_ids is not None:
        conditions.append(columns.trace_id.in_(selected.trace_ids))
    return sa.and_(*conditions)
