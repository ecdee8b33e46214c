"""Record what each recipe sends, for the suite that does without the SDKs: `python tests/instrumentation/record.py`."""

from __future__ import annotations

import base64
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

TESTS: Final = Path(__file__).parents[1]
#: 2026-01-05, 10:00 UTC.
_STARTS_NS: Final = 1_767_607_200_000_000_000
_KEPT_OF_RESOURCES: Final = ("telemetry.sdk.", "service.name", "deployment.")
_IDS: Final = ("traceId", "spanId", "parentSpanId")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d+")


def neutral(folder: Path) -> dict[str, Any]:
    """Make one request of all that were received, with nothing in it of the machine or the moment.

    Ids are numbered by start, times count from one fixed second, and addresses and random ids are exchanged.
    """
    request = ExportTraceServiceRequest()
    for file in sorted(folder.iterdir()):
        request.MergeFrom(ExportTraceServiceRequest.FromString(file.read_bytes()))
    for resource in request.resource_spans:
        kept = [a for a in resource.resource.attributes if a.key.startswith(_KEPT_OF_RESOURCES)]
        del resource.resource.attributes[:]
        resource.resource.attributes.extend(kept)
    _renumber(request)
    return _without_addresses(MessageToDict(request))


def _spans(request: ExportTraceServiceRequest) -> Iterator[Any]:
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            yield from scope.spans


def _renumber(request: ExportTraceServiceRequest) -> None:
    spans = sorted(_spans(request), key=lambda span: span.start_time_unix_nano)
    earlier = spans[0].start_time_unix_nano - _STARTS_NS
    traces: dict[bytes, int] = {}
    numbers = {span.span_id: number for number, span in enumerate(spans, 1)}
    for span in spans:
        trace = traces.setdefault(span.trace_id, len(traces) + 1)
        span.trace_id = trace.to_bytes(16, "big")
        span.span_id = numbers[span.span_id].to_bytes(8, "big")
        if span.parent_span_id:
            span.parent_span_id = numbers[span.parent_span_id].to_bytes(8, "big")
        span.start_time_unix_nano -= earlier
        span.end_time_unix_nano -= earlier
        for event in span.events:
            event.time_unix_nano -= earlier


def _without_addresses(request: dict[str, Any]) -> dict[str, Any]:
    known: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        return known.setdefault(found[0], f"00000000-0000-4000-8000-{len(known) + 1:012}")

    text = _UUID.sub(numbered, _ADDRESS.sub("https://model.example", json.dumps(request)))
    return json.loads(text.replace("127.0.0.1", "model.example"), object_hook=_public)


def _public(member: dict[str, Any]) -> dict[str, Any]:
    """Exchange the port, which is another one in each run, and write ids as OTLP/JSON has them."""
    if member.get("key") == "server.port":
        return {"key": "server.port", "value": {"intValue": "443"}}
    ids = {name: base64.b64decode(member[name]).hex() for name in _IDS if name in member}
    return {**member, **ids}


def main() -> None:
    """Run all recipes and write what they sent."""
    from recipe import RECIPES, run

    from recorded_traces import RECORDED, TOLD

    for name in TOLD:
        with tempfile.TemporaryDirectory() as folder:
            ran = run(RECIPES / f"{name}.py", Path(folder))
            if ran.code or ran.strays:
                sys.exit(f"{name}: exit code {ran.code}, {ran.strays}\n{ran.stderr}")
            text = json.dumps(neutral(Path(folder) / "traces"), indent=1, ensure_ascii=False)
        (RECORDED / f"{name}.otlp.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))
    main()
