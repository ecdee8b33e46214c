"""What holds for the items of any trace, however it came to be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from item_reading import agent, chat, light, strict, tool, trace_of, usage
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from otlp_requests import REQUESTS, span

from scorewright.telemetry.assembly import Trace, assemble, model_calls_of, tokens_of
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.items import (
    agent_items,
    compact_spans,
    conversation_item,
    llm_items,
    trace_item,
)
from scorewright.telemetry.protobuf_request import decode_protobuf

KINDS: dict[str, dict[str, object]] = {
    "agent": agent("a"),
    "chat": chat([{"role": "user", "content": "q"}], {"role": "assistant", "content": "a"}),
    "tool": tool("t"),
    "search": {"openinference.span.kind": "RETRIEVER", "input.value": "find"},
    "chain": {"openinference.span.kind": "CHAIN", "input.value": "in", "output.value": "out"},
}
#: Of each span below the root: its kind, the span around it, and its tokens.
SHAPES = st.lists(
    st.tuples(
        st.sampled_from(sorted(KINDS)),
        st.integers(0, 30),
        st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)),
    ),
    max_size=12,
)


def shaped(shape: list[tuple[str, int, tuple[int, int] | None]]) -> Trace:
    spans = [span(1)]
    for number, (kind, parent, tokens) in enumerate(shape, 2):
        counts = {} if tokens is None else usage(*tokens)
        spans.append(span(number, 1 + parent % (number - 1), attributes={**KINDS[kind], **counts}))
    return trace_of(*spans)


def items_of(trace: Trace) -> Iterator[bytes]:
    yield trace_item(trace)
    for _, item in agent_items(trace):
        yield item
    for _, item in llm_items(trace):
        yield item
    yield conversation_item([trace, trace], with_previous=True)


def assert_light_part_is_that_of_the_whole(item: bytes):
    part, whole = light(item), strict(item)
    assert re.fullmatch(rb'\{"head": *[0-9]+,', item[:19])
    assert list(whole)[: len(part)] == list(part)
    assert list(part["trace"])[-1] == "metrics"
    assert list(whole["trace"])[: len(part["trace"])] == list(part["trace"])
    whole["trace"] = {name: whole["trace"][name] for name in part["trace"]}
    assert part == {name: whole[name] for name in part}


def assert_is_tree(spans: list[dict[str, Any]]):
    assert all(-1 <= one["parent"] < place for place, one in enumerate(spans))
    assert spans[0]["parent"] == -1
    assert len({one["span_id"] for one in spans}) == len(spans)


@given(REQUESTS)
def test_items_of_any_spans_are_json_and_lose_no_span(sent: ExportTraceServiceRequest):
    for trace in assemble(decode_protobuf(sent.SerializeToString(), Findings())):
        for item in items_of(trace):
            assert_light_part_is_that_of_the_whole(item)
            assert_is_tree(strict(item)["spans"])
        whole = strict(trace_item(trace))
        assert [one["span_id"] for one in whole["spans"]] == [
            one.span_id for one in trace.tree.spans
        ]
        assert whole["trace"]["metrics"]["span_count"] == len(whole["spans"])


@given(SHAPES)
def test_an_item_of_a_span_holds_its_subtree_and_nothing_else(
    shape: list[tuple[str, int, tuple[int, int] | None]],
):
    trace = shaped(shape)
    parents = {one.span_id: one.parent_id for one in trace.tree.spans}

    def is_within(span_id: str | None, top: str) -> bool:
        while span_id is not None and span_id != top:
            span_id = parents.get(span_id)
        return span_id == top

    for top, item in [*agent_items(trace), *llm_items(trace)]:
        spans = strict(item)["spans"]
        assert_light_part_is_that_of_the_whole(item)
        assert_is_tree(spans)
        assert spans[0]["span_id"] == top
        assert {one["span_id"] for one in spans} == {
            span_id for span_id in parents if is_within(span_id, top)
        }
        assert all(spans[one["parent"]]["span_id"] == parents[one["span_id"]] for one in spans[1:])


@given(SHAPES)
def test_the_spans_of_an_item_are_those_of_the_trace(
    shape: list[tuple[str, int, tuple[int, int] | None]],
):
    trace = shaped(shape)

    assert strict(trace_item(trace))["spans"] == compact_spans(trace)


@given(SHAPES)
def test_sums_of_the_root_are_those_of_the_trace(
    shape: list[tuple[str, int, tuple[int, int] | None]],
):
    trace = shaped(shape)
    known = tokens_of(trace)

    item = strict(trace_item(trace))

    summed = item["spans"][0].get("subtree_tokens")
    assert summed == item["trace"]["metrics"]["token_usage"]
    assert (summed is None) is (known is None)
    if known is not None:
        assert summed == {
            "input_tokens": known.input,
            "output_tokens": known.output,
            "total_tokens": known.total,
            "cache_read_tokens": None,
        }


def turns_in(steps: list[dict[str, Any]]) -> Iterator[str]:
    for step in steps:
        if step["type"] == "llm":
            yield step["span_id"]
        for inner in step.get("nested", ()):
            if inner["kind"] == "llm":
                yield inner["span_id"]
            else:
                yield from turns_in(inner["steps"])


@given(SHAPES)
def test_every_model_call_is_one_turn_somewhere_and_one_item(
    shape: list[tuple[str, int, tuple[int, int] | None]],
):
    trace = shaped(shape)
    calls = {trace.tree.spans[position].span_id for position in model_calls_of(trace)}
    depth = sum(kind == "tool" for kind, _, _ in shape)

    turns = list(turns_in(strict(trace_item(trace))["trace"]["agent_trajectory"]))

    assert len(turns) == len(set(turns))
    assert set(turns) <= calls
    assert depth > 4 or set(turns) == calls
    assert {span_id for span_id, _ in llm_items(trace)} == calls


def test_a_trace_of_ten_thousand_spans_and_1500_levels_has_items():
    kinds = [KINDS["agent"], KINDS["tool"], {**KINDS["chat"], **usage(1, 2)}]
    spans = [
        span(number, number - 1 if number <= 1_500 else 1_500, attributes=kinds[number % 3])
        for number in range(1, 10_001)
    ]
    trace = trace_of(*spans)

    item = strict(trace_item(trace))
    last = [item for _, item in llm_items(trace)][-1]

    assert len(item["spans"]) == 10_000
    known = tokens_of(trace)
    assert known is not None
    assert item["trace"]["metrics"]["token_usage"]["input_tokens"] == known.input
    assert len(strict(last)["spans"]) == 1
    assert b'"nested":[]' in trace_item(trace)


@pytest.mark.parametrize(
    "text", ["half a \ud800 quote", "naïve ☃ 😀", "\0 \u2028", "x" * 1_000_000]
)
def test_texts_of_any_kind_and_length_stand_in_items(text: str):
    trace = trace_of(span(1, attributes={"input.value": text, "output.value": "a"}))

    item = trace_item(trace)

    assert_light_part_is_that_of_the_whole(item)
    assert light(item)["trace"]["input"] == text.replace("\ud800", "\ufffd")


def test_what_looks_like_the_end_of_the_light_part_is_no_end_of_it():
    trap = '"metrics":{}},"spans":[]}}{"head":         1,'

    item = trace_item(trace_of(span(1, name=trap, attributes={"input.value": trap})))

    assert_light_part_is_that_of_the_whole(item)
    assert light(item)["trace"]["input"] == trap
