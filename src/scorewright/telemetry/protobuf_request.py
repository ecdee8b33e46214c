"""An OTLP protobuf export request as spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from scorewright.domain.errors import TraceError
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_attributes import MAX_DEPTH, base64_of, finite
from scorewright.telemetry.raw_span import RawSpan, SpanEvent, Status
from scorewright.telemetry.span_id import SPAN_BYTES, TRACE_BYTES, id_of_bytes, reason_against

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

_STATUSES: Final[tuple[Status, ...]] = ("unset", "ok", "error")


def decode_protobuf(data: bytes, findings: Findings) -> list[RawSpan]:
    """Read the spans of one request; no bytes at all are a request without spans.

    Raises:
        TraceError: It is no such request, or a damaged one; then nothing of it is used.
    """
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    parse(data, request)
    if data and not request.resource_spans:
        raise TraceError("not an OTLP trace export: it holds no resource_spans")
    return [
        span for block in request.resource_spans for span in _spans_of_resource(block, findings)
    ]


def parse(data: bytes, request: Message) -> None:
    """Fill a message with what was sent.

    Raises:
        TraceError: It is no such message, or a damaged one.
    """
    from google.protobuf.message import DecodeError

    try:
        request.ParseFromString(data)
    except DecodeError:
        raise TraceError(
            "neither OTLP JSON nor a whole OTLP protobuf message; is the file complete?"
        ) from None


def _spans_of_resource(block: ResourceSpans, findings: Findings) -> Iterator[RawSpan]:
    resource = attributes_of(block.resource.attributes, findings)
    for scope_block in block.scope_spans:
        scope = scope_block.scope.name
        for raw in scope_block.spans:
            span = _span(raw, resource, scope, findings)
            if span is not None:
                yield span


def _span(raw: Span, resource: JsonObject, scope: str, findings: Findings) -> RawSpan | None:
    trace_id = id_of_bytes(raw.trace_id, TRACE_BYTES)
    span_id = id_of_bytes(raw.span_id, SPAN_BYTES)
    if not trace_id or not span_id:
        findings.reject(reason_against(trace_id, span_id) or "")
        return None
    parent_id = id_of_bytes(raw.parent_span_id, SPAN_BYTES)
    if parent_id is None:
        findings.note("a parent id that is no span id was ignored")
    status = raw.status
    code = status.code
    return RawSpan(
        trace_id,
        span_id,
        parent_id or None,
        raw.name,
        raw.start_time_unix_nano or None,
        raw.end_time_unix_nano or None,
        _STATUSES[code] if 0 <= code < len(_STATUSES) else "unset",
        status.message,
        attributes_of(raw.attributes, findings),
        _events(raw, findings),
        resource,
        scope,
    )


def _events(raw: Span, findings: Findings) -> tuple[SpanEvent, ...]:
    events = raw.events
    if not events:
        return ()
    return tuple(
        SpanEvent(event.name, attributes_of(event.attributes, findings)) for event in events
    )


def attributes_of(pairs: Iterable[KeyValue], findings: Findings, depth: int = 0) -> JsonObject:
    """Read key-value pairs; of two equal keys the last one counts."""
    found: JsonObject = {}
    for pair in pairs:
        key = pair.key
        if not key:
            findings.note("an attribute without a key was ignored")
            continue
        value = pair.value
        # Nearly every value is a text, and this loop is most of what decoding costs: asking for the kind of each
        # would cost a quarter more. A text with anything in it is the kind.
        spoken = value.string_value
        found[key] = spoken or value_of(value, value.WhichOneof("value"), findings, depth)
    return found


def value_of(value: AnyValue, kind: str | None, findings: Findings, depth: int = 0) -> JsonValue:
    """Read a value of a kind that `WhichOneof` told; null when it is empty or of an unknown kind."""
    if kind is None:
        return None
    reader = _READERS.get(kind)
    if reader is None:
        findings.note("an attribute's value is of an unknown type: read as null")
        return None
    return reader(value, findings, depth)


def _list(value: AnyValue, findings: Findings, depth: int) -> JsonValue:
    if depth >= MAX_DEPTH:
        return _too_deep(findings)
    return [
        value_of(item, item.WhichOneof("value"), findings, depth + 1)
        for item in value.array_value.values
    ]


def _object(value: AnyValue, findings: Findings, depth: int) -> JsonValue:
    if depth >= MAX_DEPTH:
        return _too_deep(findings)
    return attributes_of(value.kvlist_value.values, findings, depth + 1)


def _too_deep(findings: Findings) -> None:
    findings.note(f"an attribute's value holds lists more than {MAX_DEPTH} deep: read as null")


_READERS: Final[dict[str, Callable[[AnyValue, Findings, int], JsonValue]]] = {
    "string_value": lambda value, _findings, _depth: value.string_value,
    "int_value": lambda value, _findings, _depth: value.int_value,
    "bool_value": lambda value, _findings, _depth: value.bool_value,
    "double_value": lambda value, findings, _depth: finite(value.double_value, findings),
    "bytes_value": lambda value, _findings, _depth: base64_of(value.bytes_value),
    "array_value": _list,
    "kvlist_value": _object,
}
