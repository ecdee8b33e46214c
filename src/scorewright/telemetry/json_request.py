"""An OTLP/JSON export request, in camelCase or snake_case, as spans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias, cast

from scorewright.domain.errors import TraceError
from scorewright.domain.json_text import BadJsonError, parse_object
from scorewright.domain.json_value import JsonObject
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_attributes import attributes_of, integer_of
from scorewright.telemetry.raw_span import RawSpan, SpanEvent, Status
from scorewright.telemetry.span_id import SPAN_BYTES, TRACE_BYTES, id_of_text, reason_against

_Object: TypeAlias = dict[str, object]

_STATUSES: Final[dict[object, Status]] = {
    1: "ok",
    2: "error",
    "1": "ok",
    "2": "error",
    "STATUS_CODE_OK": "ok",
    "STATUS_CODE_ERROR": "error",
}
_MAX_NS: Final = 2**64 - 1
#: Other signals by the member that holds them.
_OTHERS: Final = {
    "resourceLogs": "logs",
    "resource_logs": "logs",
    "resourceMetrics": "metrics",
    "resource_metrics": "metrics",
}


def decode_json(data: bytes, findings: Findings) -> list[RawSpan]:
    """Read the spans of one request.

    Args:
        data: One JSON object.
        findings: Where to count spans that cannot be used, and what was odd.

    Raises:
        TraceError: It is no such request; the text says why, without a place.
    """
    try:
        request, mended = parse_object(data)
    except BadJsonError as error:
        raise TraceError(str(error)) from None
    if mended:
        findings.note("half of a surrogate pair is no text: it became U+FFFD")
    blocks = _member(request, "resourceSpans", "resource_spans")
    if blocks is None and request:
        raise TraceError(_no_spans(request))
    return [
        span for block in _objects(blocks, findings) for span in _spans_of_resource(block, findings)
    ]


def _no_spans(request: JsonObject) -> str:
    for name, signal in _OTHERS.items():
        if name in request:
            return f"holds {signal}, no traces; only traces are read"
    names = ", ".join(sorted(request)[:3])
    return f"not an OTLP trace export: an object with resourceSpans is needed, this one has {names}"


def _spans_of_resource(block: _Object, findings: Findings) -> Iterator[RawSpan]:
    resource = attributes_of(_object(block.get("resource")).get("attributes"), findings)
    for scope_block in _objects(_member(block, "scopeSpans", "scope_spans"), findings):
        scope = _text(_object(scope_block.get("scope")).get("name"))
        spans = scope_block.get("spans")
        if spans is not None and type(spans) is not list:
            findings.note("spans that are no list were ignored")
            continue
        for raw in cast("list[object]", spans or []):
            if type(raw) is not dict:
                findings.reject("it is not an object")
            elif span := _span(cast("_Object", raw), resource, scope, findings):
                yield span


def _span(raw: _Object, resource: JsonObject, scope: str, findings: Findings) -> RawSpan | None:
    trace_id = id_of_text(_member(raw, "traceId", "trace_id"), TRACE_BYTES)
    span_id = id_of_text(_member(raw, "spanId", "span_id"), SPAN_BYTES)
    if not trace_id or not span_id:
        findings.reject(reason_against(trace_id, span_id) or "")
        return None
    parent_id = id_of_text(_member(raw, "parentSpanId", "parent_span_id"), SPAN_BYTES)
    if parent_id is None:
        findings.note("a parent id that is no span id was ignored")
    status = _object(raw.get("status"))
    return RawSpan(
        trace_id,
        span_id,
        parent_id or None,
        _text(raw.get("name")),
        _time(_member(raw, "startTimeUnixNano", "start_time_unix_nano")),
        _time(_member(raw, "endTimeUnixNano", "end_time_unix_nano")),
        _status(status.get("code")),
        _text(status.get("message")),
        attributes_of(raw.get("attributes"), findings),
        _events(raw.get("events"), findings),
        resource,
        scope,
    )


def _events(raw: object, findings: Findings) -> tuple[SpanEvent, ...]:
    return tuple(
        SpanEvent(_text(event.get("name")), attributes_of(event.get("attributes"), findings))
        for event in _objects(raw, findings)
    )


def _status(code: object) -> Status:
    return _STATUSES.get(code, "unset") if isinstance(code, (int, str)) else "unset"


def _time(value: object) -> int | None:
    number = integer_of(value) if type(value) is not str else _long(value)
    return number if number is not None and 0 < number <= _MAX_NS else None


def _long(text: str) -> int | None:
    # Nanoseconds are unsigned: up to 20 digits.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 20 else None


def _member(raw: _Object | JsonObject, camel: str, snake: str) -> object:
    value = raw.get(camel)
    return raw.get(snake) if value is None else value


def _text(value: object) -> str:
    return value if type(value) is str else ""


def _object(value: object) -> _Object:
    return cast("_Object", value) if type(value) is dict else {}


def _objects(value: object, findings: Findings) -> Iterator[_Object]:
    if value is None:
        return
    if type(value) is not list:
        findings.note("something stands where a list should: it was ignored")
        return
    for item in cast("list[object]", value):
        if type(item) is dict:
            yield cast("_Object", item)
        else:
            findings.note("something stands where an object should: it was ignored")
