"""Spans as applications send them to the server, for tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.testclient import TestClient

from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_request import decode_json
from scorewright.telemetry.raw_span import RawSpan

FIXTURES = Path(__file__).parents[1] / "fixtures"
TRACES = "/api/v1/projects/default/traces"
JSON = {"content-type": "application/json"}
PROTOBUF = {"content-type": "application/x-protobuf"}
#: When the first span of `request` starts.
START_NS = 1_780_000_000_000_000_000


def recorded() -> list[Path]:
    """List the exports that real instrumentations wrote."""
    return sorted(FIXTURES.glob("*/*.json"))


def recordings() -> list[bytes]:
    """Return requests that real instrumentations sent, each with traces of its own."""
    return [
        re.sub(
            rb'("traceId": "[0-9a-f]{28})[0-9a-f]{4}"', rb'\g<1>%04x"' % number, path.read_bytes()
        )
        for number, path in enumerate(recorded(), 1)
    ]


def spans_of(path: Path) -> list[RawSpan]:
    """Read the spans of an export."""
    return decode_json(path.read_bytes(), Findings())


def a_span(trace: int, span: int, parent: int | None = None, **known: Any) -> dict[str, Any]:
    """Write a span in OTLP/JSON; `attributes` are texts and whole numbers."""
    attributes = known.pop("attributes", {})
    start = START_NS + span * 1_000_000
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{span:016x}",
        **({} if parent is None else {"parentSpanId": f"{parent:016x}"}),
        "name": f"span {span}",
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 5_000_000),
        "attributes": [_attribute(name, value) for name, value in attributes.items()],
        **known,
    }


def _attribute(name: str, value: str | int) -> dict[str, Any]:
    kind = "stringValue" if isinstance(value, str) else "intValue"
    return {"key": name, "value": {kind: value}}


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    """Write an export request."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": [*spans]}]}]}


def in_protobuf(sent: dict[str, Any]) -> bytes:
    """Write an export request in protobuf."""
    # In protobuf's own JSON ids are base64.
    message = ExportTraceServiceRequest()
    for block in sent["resourceSpans"]:
        for scope in block["scopeSpans"]:
            made = message.resource_spans.add().scope_spans.add()
            for span in scope["spans"]:
                plain = {k: v for k, v in span.items() if not k.endswith("Id")}
                one = json_format.ParseDict(plain, made.spans.add())
                one.trace_id = bytes.fromhex(span["traceId"])
                one.span_id = bytes.fromhex(span["spanId"])
                one.parent_span_id = bytes.fromhex(span.get("parentSpanId", ""))
    return message.SerializeToString()


def send(client: TestClient, *spans: dict[str, Any]) -> None:
    """Send spans, which are to be taken."""
    answer = client.post("/v1/traces", json=request(*spans))
    assert (answer.status_code, answer.json()) == (200, {})


def summaries(client: TestClient, **asked: Any) -> list[dict[str, Any]]:
    """List the traces that are found."""
    answer = client.get(TRACES, params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def ids(client: TestClient, **asked: Any) -> list[int]:
    """List the numbers of the traces that are found."""
    return [int(one["trace_id"], 16) for one in summaries(client, **asked)]
