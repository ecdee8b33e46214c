"""An OTLP protobuf export request as log records."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from scorewright.domain.errors import TraceError
from scorewright.domain.json_value import JsonObject
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_logs import note_bad_ids
from scorewright.telemetry.logs import LogRecord, known_severity
from scorewright.telemetry.protobuf_request import attributes_of, parse, value_of
from scorewright.telemetry.span_id import SPAN_BYTES, TRACE_BYTES, id_of_bytes

if TYPE_CHECKING:
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as SentRecord


def decode_protobuf_logs(data: bytes, findings: Findings) -> list[LogRecord]:
    """Read the records of one request; no bytes at all are a request without records.

    Raises:
        TraceError: It is no such request, a damaged one, or one of traces; then nothing of it is used.
    """
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    request = ExportLogsServiceRequest()
    try:
        parse(data, request)
    except TraceError:
        _refuse_traces(data)
        raise
    if not _is_timed(request):
        _refuse_traces(data)
    if data and not request.resource_logs:
        raise TraceError("not an OTLP log export: it holds no resource_logs")
    return _records(request, findings)


def _records(request: ExportLogsServiceRequest, findings: Findings) -> list[LogRecord]:
    records: list[LogRecord] = []
    for block in request.resource_logs:
        resource = attributes_of(block.resource.attributes, findings)
        for scope_block in block.scope_logs:
            scope = scope_block.scope.name
            records += [_record(raw, resource, scope, findings) for raw in scope_block.log_records]
    return records


def _record(raw: SentRecord, resource: JsonObject, scope: str, findings: Findings) -> LogRecord:
    trace_id = id_of_bytes(raw.trace_id, TRACE_BYTES)
    span_id = id_of_bytes(raw.span_id, SPAN_BYTES)
    note_bad_ids(trace_id, span_id, findings)
    body = raw.body
    return LogRecord(
        trace_id or None,
        span_id or None,
        raw.time_unix_nano or None,
        raw.observed_time_unix_nano or None,
        raw.severity_text or None,
        known_severity(raw.severity_number),
        value_of(body, body.WhichOneof("value"), findings),
        attributes_of(raw.attributes, findings),
        resource,
        scope,
        raw.event_name or None,
    )


def _is_timed(request: ExportLogsServiceRequest) -> bool:
    """Tell whether any record has a time: a message of traces, read as one of logs, has none."""
    return any(
        raw.time_unix_nano or raw.observed_time_unix_nano
        for block in request.resource_logs
        for scope_block in block.scope_logs
        for raw in scope_block.log_records
    )


def _refuse_traces(data: bytes) -> None:
    """Refuse a message that has sense as one of traces; the two have the same outline."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    with contextlib.suppress(TraceError):
        parse(data, request)
    if any(
        len(span.trace_id) == TRACE_BYTES and len(span.span_id) == SPAN_BYTES
        for block in request.resource_spans
        for scope_block in block.scope_spans
        for span in scope_block.spans
    ):
        raise TraceError("holds traces, no logs; only logs are read")
