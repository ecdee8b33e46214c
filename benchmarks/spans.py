"""Spans as an instrumented application sends them: chats with a model in traces of ten, 1.25 KB each as protobuf."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

BATCH: Final = 1_000
_PER_TRACE: Final = 10
_START_NS: Final = 1_767_225_600_000_000_000
_WORDS: Final = (
    "what does the travel policy say about trains and which class may be booked on trips".split()
)


def batches(count: int, *, seed: int, size: int = BATCH) -> Iterator[bytes]:
    """Write so many requests of whole traces.

    Args:
        count: Requests.
        seed: Other seeds give other traces.
        size: Spans of each, in traces of ten.
    """
    chance = random.Random(seed)
    for _ in range(count):
        spans: list[Span] = []
        for _ in range(size // _PER_TRACE):
            spans += _trace(chance)
        yield _request(spans)


def growing_trace(requests: int, *, size: int, seed: int) -> Iterator[bytes]:
    """Write one trace that arrives in so many requests of so many spans."""
    chance = random.Random(seed)
    trace_id = chance.randbytes(16)
    root = chance.randbytes(8)
    for number in range(requests):
        spans = [
            _span(chance, trace_id, root, number * size + place) for place in range(1, size + 1)
        ]
        if not number:
            spans[0].span_id, spans[0].parent_span_id = root, b""
        yield _request(spans)


def _request(spans: list[Span]) -> bytes:
    resource = ResourceSpans()
    resource.resource.attributes.append(_text("service.name", "travel"))
    resource.scope_spans.add().spans.extend(spans)
    return ExportTraceServiceRequest(resource_spans=[resource]).SerializeToString()


def _trace(chance: random.Random) -> list[Span]:
    trace_id = chance.randbytes(16)
    root = _span(chance, trace_id, b"", 0)
    root.name = "invoke_agent planner"
    root.attributes.extend(
        [_text("gen_ai.operation.name", "invoke_agent"), _text("gen_ai.agent.name", "planner")]
    )
    return [
        root,
        *(_chat(chance, trace_id, root.span_id, number) for number in range(1, _PER_TRACE)),
    ]


def _chat(chance: random.Random, trace_id: bytes, parent: bytes, number: int) -> Span:
    span = _span(chance, trace_id, parent, number)
    span.attributes.extend(
        [
            _text("gen_ai.operation.name", "chat"),
            _text("gen_ai.request.model", "gpt-4o-mini"),
            _number("gen_ai.usage.input_tokens", chance.randrange(50, 500)),
            _number("gen_ai.usage.output_tokens", chance.randrange(5, 200)),
        ]
    )
    return span


def _span(chance: random.Random, trace_id: bytes, parent: bytes, number: int) -> Span:
    start_ns = _START_NS + number * 1_000_000
    return Span(
        trace_id=trace_id,
        span_id=chance.randbytes(8),
        parent_span_id=parent,
        name="chat gpt-4o-mini",
        kind=Span.SPAN_KIND_CLIENT,
        start_time_unix_nano=start_ns,
        end_time_unix_nano=start_ns + chance.randrange(1_000_000, 900_000_000),
        attributes=[
            _text("gen_ai.input.messages", _message(chance, "user", 400)),
            _text("gen_ai.output.messages", _message(chance, "assistant", 400)),
        ],
    )


def _message(chance: random.Random, role: str, size: int) -> str:
    text = " ".join(chance.choices(_WORDS, k=size // 5))[:size]
    return f'[{{"role":"{role}","parts":[{{"type":"text","content":"{text}"}}]}}]'


def _text(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))


def _number(key: str, value: int) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(int_value=value))
