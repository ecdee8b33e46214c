"""Filter expressions over stored traces: by the database where a row can answer, in memory where it cannot."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.binding import Path
from scorewright.domain.filter import compile_filter, parse_filter, print_filter
from scorewright.domain.json_text import decode_object
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.sources.stored_spans import trace_by_id
from scorewright.sources.trace_items import trace_shape
from scorewright.storage.database import Database
from scorewright.storage.filter_sql import compile_to_sql, paths_in
from scorewright.storage.repositories.attribute_names import names_of_subject
from scorewright.storage.tables.traces import traces
from scorewright.telemetry.instants import iso_utc
from scorewright.telemetry.items import trace_item

#: What a row tells of an item. The spans tell the rest.
COLUMNS: Final = tuple(
    column
    for column in traces.c
    if column.name not in {"created_us", "changed_us", "version", "agent_spans", "llm_spans"}
)
_OF_ROW: Final = frozenset(
    "trace_id name start_time end_time input output status models agents service environment metrics".split()
)
_TOKENS: Final = ("input_tokens", "output_tokens", "total_tokens", "cache_read_tokens")
_ATTRIBUTES: Final[Path] = ("trace", "attributes")


class TraceFilter:
    """One expression over the stored traces of a project.

    Args:
        database: Where they are.
        project_id: Whose they are.
        text: As a person wrote it.

    Raises:
        UsageError: The caller's: it is no filter expression, or asks for a field that no trace has.
    """

    def __init__(self, database: Database, project_id: str, text: str) -> None:
        with database.read() as connection:
            names = names_of_subject(connection, project_id, "trace")
        tree = parse_filter(text, shape=trace_shape(names))
        condition = compile_to_sql(tree, is_sqlite=database.is_sqlite)
        #: In its canonical form.
        self.text: Final = print_filter(tree)
        #: What the rows of all matching traces fulfil.
        self.possible: Final = condition.possible
        #: A column that tells of a row whether it matches without doubt.
        self.is_sure: Final = sa.case((condition.sure, 1), else_=0).label("is_sure")
        self._project_id = project_id
        self._predicate = compile_filter(tree)
        paths = paths_in(tree)
        self._asks_spans = any(map(_is_of_spans, paths))
        self._asks_input = any(path[:2] == ("trace", "input") for path in paths)
        self._asks_output = any(path[:2] == ("trace", "output") for path in paths)
        self._attributes = {path[2] for path in paths if path[:2] == _ATTRIBUTES and path[2:]}

    def needs_spans(self, row: sa.Row[Any]) -> bool:
        """Tell whether a row that may match has to be looked at with its spans."""
        return (
            self._asks_spans
            or (self._asks_input and _is_cut(row.input_form))
            or (self._asks_output and _is_cut(row.output_form))
            or not self._attributes.isdisjoint(row.long_attributes)
        )

    def matches(self, connection: sa.Connection, row: sa.Row[Any]) -> bool:
        """Decide in memory whether a trace matches.

        Args:
            connection: Where its spans are.
            row: It has `COLUMNS`.
        """
        item = _item_of_row(row)
        if self.needs_spans(row):
            trace = trace_by_id(connection, self._project_id, row.trace_id)
            if trace is None:
                return False
            whole: dict[str, Any] = decode_object(trace_item(trace))
            # What the row says, other than the beginning of something, is what everybody is shown.
            for name in ("input", "output", "attributes"):
                del item["trace"][name]
            item = {**whole, **item, "trace": whole["trace"] | item["trace"]}
        return self._predicate(item)


def _is_of_spans(path: Path) -> bool:
    """Tell whether a path leads to what no row has."""
    if path[0] in ("traceId", "session"):
        return False
    return path[0] != "trace" or (
        len(path) > 1 and path[1] not in _OF_ROW and path[:2] != _ATTRIBUTES
    )


def _is_cut(form: str | None) -> bool:
    return form is not None and form.endswith("_cut")


def _item_of_row(row: sa.Row[Any]) -> dict[str, Any]:
    """Write the light members of a trace's item; what is cut in the row is null."""
    usage: JsonObject = {name: getattr(row, name) for name in _TOKENS}
    return {
        "traceId": row.trace_id,
        "session": {"id": row.session_id},
        "trace": {
            "trace_id": row.trace_id,
            "name": row.name,
            "start_time": _iso(row.start_us),
            "end_time": _iso(row.end_us),
            "input": _value(row.input, row.input_form),
            "output": _value(row.output, row.output_form),
            "status": row.status,
            "models": row.models,
            "agents": row.agents,
            "service": row.service,
            "environment": row.environment,
            "metrics": {
                "total_duration_ms": row.duration_ms,
                "token_usage": None if all(one is None for one in usage.values()) else usage,
                "cost_usd": row.cost_usd,
                "error_count": row.error_count,
                "has_errors": row.error_count > 0,
                "span_count": row.span_count,
                "llm_call_count": row.llm_call_count,
                "tool_call_count": row.tool_call_count,
            },
            "attributes": row.attributes,
        },
    }


def _value(excerpt: str | None, form: str | None) -> JsonValue:
    if excerpt is None or form is None or _is_cut(form):
        return None
    return excerpt if form == "text" else msgspec.json.decode(excerpt)


def _iso(us: int | None) -> str | None:
    return None if us is None else iso_utc(us * 1_000)
