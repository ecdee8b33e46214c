"""The traces and log records of the database as items: what is in memory of them are their ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, assert_never

import msgspec
import sqlalchemy as sa

from scorewright.domain.convention import Level
from scorewright.domain.errors import DatasetError, UsageError
from scorewright.sources.conversations import ConversationItems
from scorewright.sources.listed import Entry
from scorewright.sources.log_items import LogItems
from scorewright.sources.source import Notice, Source, SourceKind
from scorewright.sources.stored_filter import COLUMNS, TraceFilter
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


def open_stored(  # noqa: PLR0913 - as `open_source`, with the database
    database: Database,
    kind: SourceKind,
    selected: Selected,
    *,
    levels: Collection[Level] = (Level.RECORD,),
    record_level: Level = Level.TRACE,
    with_previous_turns: bool = False,
) -> Source:
    """Open stored traces or log records as a source of items; as `opening.open_source` does files.

    Args:
        database: Where they are.
        kind: What one item is.
        selected: Which are meant.
        levels: Of the evaluators that will see the items.
        record_level: What of a trace evaluators see that are written for no level.
        with_previous_turns: Whether a conversation shows what was said in its earlier turns.

    Raises:
        UsageError: The caller's: the filter is none, or the kind has no such items.
    """
    match kind:
        case "traces":
            return StoredTraces(database, selected, levels=levels, record_level=record_level)
        case "trajectories":
            return StoredTrajectories(database, selected, levels=[Level.AGENT])
        case "conversations":
            return StoredConversations(database, selected, with_previous=with_previous_turns)
        case "logs":
            return StoredLogs(database, selected)
        case "dataset":
            raise UsageError(
                "a data set is no trace; name traces, trajectories, conversations or logs"
            )
        case _:
            assert_never(kind)


class StoredTraces(TraceItems):
    """The stored traces that are selected, by start; those of unknown start come last."""

    def __init__(
        self,
        database: Database,
        selected: Selected,
        *,
        levels: Collection[Level],
        record_level: Level = Level.TRACE,
    ) -> None:
        self._stored = _Stored(database, selected.project_id)
        rows, notices = _judged_rows(database, selected)
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
        self, database: Database, selected: Selected, *, levels: Collection[Level]
    ) -> None:
        super().__init__(database, selected, levels=levels)
        self.noun = "trajectory"


class StoredConversations(ConversationItems[str]):
    """The sessions of the stored traces that are selected."""

    def __init__(self, database: Database, selected: Selected, *, with_previous: bool) -> None:
        self._stored = _Stored(database, selected.project_id)
        rows, notices = _judged_rows(database, selected)
        turns = [(row.trace_id, row.session_id, row.trace_id) for row in rows]
        super().__init__(turns, path=None, notices=notices, with_previous=with_previous)

    def _traces_of(self, turns: Sequence[str]) -> Sequence[Trace]:
        return self._stored.traces(turns)

    def _attribute_names(self) -> Iterable[str]:
        return self._stored.names("trace")


class StoredLogs(LogItems):
    """The stored log records that are selected, by time."""

    def __init__(self, database: Database, selected: Selected) -> None:
        if selected.filter is not None:
            raise UsageError("log records are not selected by a filter over traces").at("/filter")
        self._database = database
        self._project_id = selected.project_id
        condition = _window(selected, log_records.c, log_records.c.time_us)
        with database.read() as connection:
            rows = all_records(connection, condition)
            entries = [Entry(row.id, row.trace_id or row.id, Level.RECORD) for row in rows]
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


def _judged_rows(database: Database, selected: Selected) -> tuple[list[sa.Row[Any]], list[Notice]]:
    """Read the rows of all selected traces but those that only set an agent up."""
    condition = _window(selected, traces.c, traces.c.start_us)
    if selected.filter is None:
        columns = [
            traces.c[name]
            for name in (
                "trace_id",
                "span_count",
                "agent_spans",
                "llm_spans",
                "session_id",
                "is_setup",
            )
        ]
        with database.read() as connection:
            rows = list(all_traces(connection, condition, columns))
    else:
        rows = _filtered_rows(
            database, condition, TraceFilter(database, selected.project_id, selected.filter)
        )
    judged = [row for row in rows if not row.is_setup]
    left_out = len(rows) - len(judged)
    text = f"traces left out since they only set an agent up: {left_out:,}"
    return judged, [Notice(None, text)] if left_out else []


def _filtered_rows(
    database: Database, condition: sa.ColumnElement[bool], wanted: TraceFilter
) -> list[sa.Row[Any]]:
    columns = [*COLUMNS, traces.c.agent_spans, traces.c.llm_spans, wanted.is_sure]
    with database.read() as connection, database.read() as second:
        # A statement that is being read from holds the first.
        return [
            row
            for row in all_traces(connection, sa.and_(condition, wanted.possible), columns)
            if row.is_sure or wanted.matches(second, row)
        ]


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
    return sa.and_(*conditions)
