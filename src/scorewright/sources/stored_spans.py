"""Spans and log records as the database keeps them, and traces put together from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

import msgspec
import sqlalchemy as sa

from scorewright.storage.repositories.spans import bodies_of
from scorewright.storage.tables.metadata import without_nul
from scorewright.telemetry.assembly import Trace, assemble
from scorewright.telemetry.logs import LogRecord
from scorewright.telemetry.raw_span import RawSpan

Sent = TypeVar("Sent", RawSpan, LogRecord)

_encode: Final = msgspec.json.Encoder().encode
_decode_span: Final = msgspec.json.Decoder(RawSpan).decode
_decode_record: Final = msgspec.json.Decoder(LogRecord).decode
#: Spans that are in memory at once, where their traces are no larger.
_GROUP_SPANS: Final = 2_000


def with_body(sent: Sent) -> tuple[Sent, bytes]:
    """Return what is kept of a span or a record, and its bytes: all of it, with U+FFFD for each U+0000.

    No text in the database holds U+0000: rows and items say the same then.
    """
    body = _encode(sent)
    if b"\\u0000" not in body:
        return sent, body
    kept = msgspec.convert(without_nul(msgspec.json.decode(body)), type(sent))
    return kept, _encode(kept)


def span_of(body: bytes) -> RawSpan:
    """Read a span back."""
    return _decode_span(body)


def record_of(body: bytes) -> LogRecord:
    """Read a log record back."""
    return _decode_record(body)


def spans_by_trace(
    connection: sa.Connection, project_id: str, trace_ids: Iterable[str]
) -> dict[str, list[RawSpan]]:
    """Read all spans of some traces."""
    found: dict[str, list[RawSpan]] = {}
    for trace_id, body in bodies_of(connection, project_id, list(trace_ids)):
        found.setdefault(trace_id, []).append(_decode_span(body))
    return found


def trace_by_id(connection: sa.Connection, project_id: str, trace_id: str) -> Trace | None:
    """Put one trace together; None where there is none."""
    spans = spans_by_trace(connection, project_id, [trace_id]).get(trace_id)
    return None if spans is None else assemble(spans)[0]


def groups(sizes: Iterable[tuple[str, int]]) -> Iterator[Sequence[str]]:
    """Cut traces into groups that are read at once.

    Args:
        sizes: Each trace's id, with how many spans it has.
    """
    group: list[str] = []
    total = 0
    for trace_id, count in sizes:
        if group and total + count > _GROUP_SPANS:
            yield group
            group, total = [], 0
        group.append(trace_id)
        total += count
    if group:
        yield group
