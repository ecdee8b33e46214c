"""An OTLP/JSON export request, in camelCase or snake_case, as spans."""

from __future__ import annotations

from typing import Final

from scorewright.domain.json_value import JsonObject
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_attributes import attributes_of
from scorewright.telemetry.json_blocks import (
    TRACES,
    Object,
    member,
    object_of,
    objects,
    records_of,
    request_of,
    text_of,
    time_of,
)
from scorewright.telemetry.raw_span import RawSpan, SpanEvent, Status
from scorewright.telemetry.span_id import SPAN_BYTES, TRACE_BYTES, id_of_text, reason_against

_STATUSES: Final[dict[object, Status]] = {
    1: "ok",
    2: "error",
    "1": "ok",
    "2": "error",
    "STATUS_CODE_OK": "ok",
    "STATUS_CODE_ERROR": "error",
}


def decode_json(data: bytes, findings: Findings) -> list[RawSpan]:
    """Read the spans of one request.

    Args:
        data: One JSON object.
        findings: Where to count spans that cannot be used, and what was odd.

    Raises:
        TraceError: It is no such request; the text says why, without a place.
    """
    return [
        span
        for raw, resource, scope in records_of(request_of(data, findings), TRACES, findings)
        if (span := _span(raw, resource, scope, findings)) is not None
    ]


def _span(raw: Object, resource: JsonObject, scope: str, findings: Findings) -> RawSpan | None:
    trace_id = id_of_text(member(raw, ("traceId", "trace_id")), TRACE_BYTES)
    span_id = id_of_text(member(raw, ("spanId", "span_id")), SPAN_BYTES)
    if not trace_id or not span_id:
        findings.reject(reason_against(trace_id, span_id) or "")
        return None
    parent_id = id_of_text(member(raw, ("parentSpanId", "parent_span_id")), SPAN_BYTES)
    if parent_id is None:
        findings.note("a parent id that is no span id was ignored")
    status = object_of(raw.get("status"))
    return RawSpan(
        trace_id,
        span_id,
        parent_id or None,
        text_of(raw.get("name")),
        time_of(member(raw, ("startTimeUnixNano", "start_time_unix_nano"))),
        time_of(member(raw, ("endTimeUnixNano", "end_time_unix_nano"))),
        _status(status.get("code")),
        text_of(status.get("message")),
        attributes_of(raw.get("attributes"), findings),
        _events(raw.get("events"), findings),
        resource,
        scope,
    )


def _events(raw: object, findings: Findings) -> tuple[SpanEvent, ...]:
    return tuple(
        SpanEvent(text_of(event.get("name")), attributes_of(event.get("attributes"), findings))
        for event in objects(raw, findings)
    )


def _status(code: object) -> Status:
    return _STATUSES.get(code, "unset") if isinstance(code, (int, str)) else "unset"
