"""Log records written as JSON: OTLP requests, and plain objects as loggers write them, one a line."""

from __future__ import annotations

from typing import Final

from scorewright.domain.errors import TraceError
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.container import MAX_LEVELS, is_flat_enough
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.instants import instant_of
from scorewright.telemetry.json_attributes import attributes_of, integer_of, value_of
from scorewright.telemetry.json_blocks import (
    LOGS,
    Object,
    member,
    records_of,
    request_of,
    signal_in,
    text_of,
    time_of,
)
from scorewright.telemetry.logs import LogRecord, known_severity, severity_name
from scorewright.telemetry.span_id import SPAN_BYTES, TRACE_BYTES, id_of_bytes, id_of_text

_SEVERITY_NUMBERS: Final = {
    f"SEVERITY_NUMBER_{severity_name(number)}": number for number in range(1, 25)
}
#: Members of a plain object by what they say; the first one that says it counts.
_BODY: Final = ("body", "message", "msg", "text", "event")
_SEVERITY: Final = ("severity", "severity_text", "severityText", "level", "levelname")
_SEVERITY_NUMBER: Final = ("severity_number", "severityNumber")
_TIME: Final = ("timestamp", "time", "ts", "@timestamp", "asctime")
_TRACE_ID: Final = ("trace_id", "traceId", "trace.id", "otelTraceID", "traceID", "traceid")
_SPAN_ID: Final = ("span_id", "spanId", "span.id", "otelSpanID", "spanID", "spanid")
#: Written as a decimal number of 64 bits.
_DATADOG_TRACE_ID: Final = "dd.trace_id"
_MAX_DECIMAL_DIGITS: Final = 20


def decode_logs(data: bytes, findings: Findings) -> list[LogRecord]:
    """Read the records of one OTLP request.

    Raises:
        TraceError: It is no such request; the text says why, without a place.
    """
    return _of_request(request_of(data, findings), findings)


def decode_log_line(data: bytes, findings: Findings) -> list[LogRecord]:
    """Read a line: an OTLP request, or else an object that is one record.

    Raises:
        TraceError: It is no JSON object, or a request of another signal; the text says why, without a place.
    """
    line = request_of(data, findings)
    if not line or signal_in(line) is not None:
        return _of_request(line, findings)
    if not is_flat_enough(line):
        raise TraceError(f"nested more than {MAX_LEVELS} levels deep")
    return [_of_line(line)]


# ── OTLP ─────────────────────────────────────────────────────────────────────────────────────────


def _of_request(request: JsonObject, findings: Findings) -> list[LogRecord]:
    return [
        _of_record(raw, resource, scope, findings)
        for raw, resource, scope in records_of(request, LOGS, findings)
    ]


def _of_record(raw: Object, resource: JsonObject, scope: str, findings: Findings) -> LogRecord:
    trace_id = id_of_text(member(raw, ("traceId", "trace_id")), TRACE_BYTES)
    span_id = id_of_text(member(raw, ("spanId", "span_id")), SPAN_BYTES)
    note_bad_ids(trace_id, span_id, findings)
    return LogRecord(
        trace_id or None,
        span_id or None,
        time_of(member(raw, ("timeUnixNano", "time_unix_nano"))),
        time_of(member(raw, ("observedTimeUnixNano", "observed_time_unix_nano"))),
        text_of(member(raw, ("severityText", "severity_text"))) or None,
        _severity_number(member(raw, ("severityNumber", "severity_number"))),
        value_of(raw.get("body"), findings),
        attributes_of(raw.get("attributes"), findings),
        resource,
        scope,
        text_of(member(raw, ("eventName", "event_name"))) or None,
    )


def note_bad_ids(trace_id: str | None, span_id: str | None, findings: Findings) -> None:
    """Tell of ids that are none; a record is of use without them."""
    for name, found in (("trace", trace_id), ("span", span_id)):
        if found is None:
            findings.note(f"a {name} id that is none was ignored")


def _severity_number(value: object) -> int | None:
    named = _SEVERITY_NUMBERS.get(value) if type(value) is str else None
    return known_severity(integer_of(value) if named is None else named)


# ── Plain objects ────────────────────────────────────────────────────────────────────────────────


def _of_line(line: JsonObject) -> LogRecord:
    """Make a record of an object; members that are not read for something are its attributes."""
    used: set[str] = set()
    body_name = next((name for name in _BODY if line.get(name) is not None), None)
    if body_name is not None:
        used.add(body_name)
    return LogRecord(
        trace_id=_trace_id(line, used),
        span_id=_id(line, _SPAN_ID, SPAN_BYTES, set()),
        timestamp_ns=_time(line, used),
        severity_text=_severity(line, used),
        severity_number=_number(line, used),
        body=line if body_name is None else line[body_name],
        attributes=_attributes(line, used),
    )


def _attributes(line: JsonObject, used: set[str]) -> JsonObject:
    others = {name: value for name, value in line.items() if name not in used}
    inner = others.get("attributes")
    if not isinstance(inner, dict):
        return others
    # Written by an OpenTelemetry SDK's console exporter, for one.
    return {**inner, **{name: value for name, value in others.items() if name != "attributes"}}


def _time(line: JsonObject, used: set[str]) -> int | None:
    for name in _TIME:
        found = instant_of(line.get(name))
        if found is not None:
            used.add(name)
            return found
    return None


def _severity(line: JsonObject, used: set[str]) -> str | None:
    for name in _SEVERITY:
        value = line.get(name)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number or (isinstance(value, str) and value):
            used.add(name)
            return str(value)
    return None


def _number(line: JsonObject, used: set[str]) -> int | None:
    for name in _SEVERITY_NUMBER:
        found = _severity_number(line.get(name))
        if found is not None:
            used.add(name)
            return found
    return None


def _trace_id(line: JsonObject, used: set[str]) -> str | None:
    found = _id(line, _TRACE_ID, TRACE_BYTES, used)
    if found is not None:
        return found
    value = _member(line, _DATADOG_TRACE_ID)
    number = str(value)
    if number.isascii() and number.isdigit() and len(number) <= _MAX_DECIMAL_DIGITS:
        found = id_of_bytes(int(number).to_bytes(TRACE_BYTES, "big"), TRACE_BYTES)
    else:
        found = id_of_text(value, TRACE_BYTES)
    if found:
        used.add(_DATADOG_TRACE_ID)
    return found or None


def _id(line: JsonObject, names: tuple[str, ...], size: int, used: set[str]) -> str | None:
    for name in names:
        value = _member(line, name)
        bare = value.removeprefix("0x") if isinstance(value, str) else value
        found = id_of_text(bare, size)
        if found:
            used.add(name)
            return found
    return None


def _member(line: JsonObject, name: str) -> JsonValue:
    """Return a member, or that of an object where the name is dotted."""
    outer, _, inner = name.partition(".")
    around = line.get(outer) if inner and name not in line else None
    return around.get(inner) if isinstance(around, dict) else line.get(name)
