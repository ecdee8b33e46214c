"""A span as it was sent: ids, times and attributes, nothing interpreted."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from scorewright.domain.json_value import JsonObject

Status: TypeAlias = Literal["unset", "ok", "error"]

NO_ATTRIBUTES: JsonObject = {}


class SpanEvent(msgspec.Struct, frozen=True, gc=False):
    """Something that happened while a span was open."""

    name: str
    attributes: JsonObject


class RawSpan(msgspec.Struct, frozen=True, gc=False):
    """One span; its attributes are plain JSON values."""

    #: 32 and 16 lower-case hexadecimal digits, never all zero.
    trace_id: str
    span_id: str
    #: None where the span says that it has no parent; the parent may be missing all the same.
    parent_id: str | None
    name: str
    #: Nanoseconds since 1970; None when unknown, never 0.
    start_ns: int | None
    end_ns: int | None
    status: Status = "unset"
    status_message: str = ""
    attributes: JsonObject = NO_ATTRIBUTES
    events: tuple[SpanEvent, ...] = ()
    #: Attributes of what sent the span.
    resource: JsonObject = NO_ATTRIBUTES
    #: The instrumentation that made the span.
    scope: str = ""

    @property
    def duration_ms(self) -> float | None:
        """How long the span took; None when a time is missing or the end stands before the start."""
        if self.start_ns is None or self.end_ns is None or self.end_ns < self.start_ns:
            return None
        return (self.end_ns - self.start_ns) / 1e6
