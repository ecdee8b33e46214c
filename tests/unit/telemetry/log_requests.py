"""OTLP log requests for tests: built as protobuf, written as any of the forms that are read."""

from __future__ import annotations

from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope as Scope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from otlp_requests import ATTRIBUTES, TEXTS, TIMES, VALUES

RECORDS = st.builds(
    LogRecord,
    trace_id=st.sampled_from([b"", bytes(16), bytes([1] * 16), b"short"]),
    span_id=st.sampled_from([b"", bytes(8), bytes([1] * 8), b"short"]),
    time_unix_nano=TIMES,
    observed_time_unix_nano=TIMES,
    severity_number=st.integers(0, 24),
    severity_text=TEXTS,
    body=VALUES,
    attributes=ATTRIBUTES,
    event_name=TEXTS,
)
LOG_REQUESTS = st.builds(
    ExportLogsServiceRequest,
    resource_logs=st.lists(
        st.builds(
            ResourceLogs,
            resource=st.builds(Resource, attributes=ATTRIBUTES),
            scope_logs=st.lists(
                st.builds(
                    ScopeLogs,
                    scope=st.builds(Scope, name=TEXTS),
                    log_records=st.lists(RECORDS, max_size=5),
                ),
                max_size=2,
            ),
        ),
        min_size=1,
        max_size=2,
    ),
)
