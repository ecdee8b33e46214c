"""Traces from spans: the rules that decide, and that neither order nor damage changes them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from item_reading import light, strict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from otlp_requests import REQUESTS, as_camel_json, as_snake_json, cut, decoded, span

from scorewright.telemetry.assembly import assemble
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.items import agent_items, trace_item
from scorewright.telemetry.json_request import decode_json
from scorewright.telemetry.protobuf_request import decode_protobuf
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.summary import TraceSummary, summarise


def summaries(spans: list[RawSpan]) -> list[TraceSummary]:
    return [summarise(trace) for trace in assemble(spans)]


def summary(*spans: dict[str, Any]) -> TraceSummary:
    (told,) = summaries(decoded(*spans))
    return told


def llm(tokens_in: int | None, tokens_out: int | None = None, **more: object) -> dict[str, object]:
    given = {"gen_ai.usage.input_tokens": tokens_in, "gen_ai.usage.output_tokens": tokens_out}
    counts = {name: count for name, count in given.items() if count is not None}
    return {"gen_ai.operation.name": "chat", **counts, **more}


AGENT: dict[str, object] = {"gen_ai.operation.name": "invoke_agent"}


@given(REQUESTS, st.randoms(use_true_random=False))
def test_the_order_of_arrival_makes_no_difference(
    sent: ExportTraceServiceRequest, chance: random.Random
):
    spans = decode_protobuf(sent.SerializeToString(), Findings())
    # A resource and its scope belong to the export, not to the span's place in it.
    shuffled = chance.sample(spans, len(spans))

    assert summaries(shuffled) == summaries(spans)
    assert [trace.tree for trace in assemble(shuffled)] == [trace.tree for trace in assemble(spans)]


@given(REQUESTS, st.randoms(use_true_random=False))
def test_into_how_many_requests_of_which_form_spans_are_cut_makes_no_difference(
    sent: ExportTraceServiceRequest, chance: random.Random
):
    arrived: list[RawSpan] = []
    for request in cut(sent, chance):
        form = chance.choice(("protobuf", "camel", "snake"))
        if form == "protobuf":
            arrived.extend(decode_protobuf(request.SerializeToString(), Findings()))
        else:
            written = as_camel_json(request) if form == "camel" else as_snake_json(request)
            arrived.extend(decode_json(written, Findings()))

    whole = decode_protobuf(sent.SerializeToString(), Findings())
    assert summaries(arrived) == summaries(whole)


@given(REQUESTS)
def test_every_span_stands_in_the_tree_once_behind_its_parent(sent: ExportTraceServiceRequest):
    spans = decode_protobuf(sent.SerializeToString(), Findings())

    for trace in assemble(spans):
        ids = [one.span_id for one in trace.tree.spans]
        known = {one.span_id for one in spans if one.trace_id == trace.root.trace_id}
        assert len(ids) == len(set(ids))
        assert set(ids) == known
        assert trace.tree.parents[0] == -1
        assert all(parent < place for place, parent in enumerate(trace.tree.parents))


@given(REQUESTS)
def test_what_is_told_of_any_trace_is_json(sent: ExportTraceServiceRequest):
    for told in summaries(decode_protobuf(sent.SerializeToString(), Findings())):
        assert b"NaN" not in msgspec.json.encode(told).replace(b'"NaN', b"")


def test_tokens_are_summed_over_the_leaf_most_spans_that_carry_some():
    told = summary(
        span(1, attributes={**AGENT, "gen_ai.usage.input_tokens": 100}),
        span(2, 1, attributes=llm(10, 1)),
        span(3, 1, attributes=AGENT),
        span(4, 3, attributes=llm(20, 2)),
    )

    assert told.tokens is not None
    assert (told.tokens.input, told.tokens.output, told.tokens.total) == (30, 3, 33)


def test_unknown_tokens_are_null_and_zero_is_a_count():
    assert summary(span(1, attributes=llm(None))).tokens is None
    known = summary(span(1, attributes=llm(0, 0))).tokens
    assert known is not None
    assert (known.input, known.output, known.total) == (0, 0, 0)


@pytest.mark.parametrize("count", [10**15, 1e300, 2**63 - 1, "9" * 16, -1, 1.5, "many", True])
def test_a_count_that_cannot_be_one_is_unknown(count: object):
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": count}

    assert summary(span(1, attributes=attributes)).tokens is None


def test_a_total_is_unknown_when_one_part_of_it_is():
    told = summary(span(1), span(2, 1, attributes=llm(10, 1)), span(3, 1, attributes=llm(5))).tokens

    assert told is not None
    assert (told.input, told.output, told.total) == (15, 1, None)


def test_a_model_span_around_another_is_no_call_of_its_own():
    told = summary(
        span(1, attributes=llm(10, 1, **{"gen_ai.request.model": "proxy"})),
        span(2, 1, attributes=llm(10, 1, **{"gen_ai.request.model": "m"})),
    )

    assert (told.llm_calls, told.models) == (1, ["m"])


def test_a_model_span_around_a_tool_that_asks_another_model_is_one():
    told = summary(
        span(1, attributes=llm(10, 1)),
        span(2, 1, attributes={"gen_ai.operation.name": "execute_tool"}),
        span(3, 2, attributes=llm(5, 1)),
    )

    assert told.llm_calls == 2


def test_a_later_parent_takes_over_from_its_stand_in():
    child = span(2, 1, attributes={"input.value": "child"})
    root = span(1, attributes={"input.value": "root"})

    assert summary(child).root["span_id"] == f"{2:016x}"
    assert summary(child, root).input == "root"


def test_a_circle_beside_a_root_is_kept_and_flagged():
    told = summary(span(1), span(5, 6), span(6, 5), span(7, 6))

    assert told.root["name"] == "span 1"
    assert told.spans == 4
    assert any("circle" in notice and f"{5:016x}" in notice for notice in told.notices)


def test_what_happens_inside_a_tool_answers_the_tool_and_not_the_user():
    told = summary(
        span(1),
        span(2, 1, attributes={"openinference.span.kind": "TOOL", "output.value": "tool's"}),
        span(3, 2, attributes={"openinference.span.kind": "CHAIN", "output.value": "inner"}),
        span(4, 1, attributes={"openinference.span.kind": "CHAIN", "output.value": "answer"}),
    )

    assert told.output == "answer"


def test_of_spans_as_near_to_the_root_the_first_asks_and_the_last_answers():
    told = summary(
        span(1),
        span(2, 1, attributes={"input.value": "first", "output.value": "one"}),
        span(3, 1, attributes={"input.value": "second", "output.value": "two"}),
        span(4, 3, attributes={"input.value": "deeper", "output.value": "deeper"}),
    )

    assert (told.input, told.output) == ("first", "two")


@pytest.mark.parametrize("value", ["", 0, False])
def test_an_empty_or_false_value_is_one(value: object):
    told = summary(span(1, attributes={"input.value": value, "output.value": value}))

    assert told.input == value
    assert told.output == value
    assert type(told.output) is type(value)


def test_a_call_in_several_histories_counts_once():
    asked: dict[str, object] = {"role": "user", "content": "q"}
    called = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "t1", "function": {"name": "f", "arguments": '{"a": 1}'}}],
    }
    answered = {"role": "tool", "tool_call_id": "t1", "content": '{"b": 2}'}
    told = summary(
        span(
            1,
            attributes=llm(
                1, 1, **{"gen_ai.input.messages": [asked], "gen_ai.output.messages": [called]}
            ),
        ),
        span(2, attributes=llm(1, 1, **{"gen_ai.input.messages": [asked, called, answered]})),
    )

    (call,) = told.tool_calls
    assert (call.name, call.arguments, call.result) == ("f", {"a": 1}, {"b": 2})


def test_a_failed_tool_tells_its_exception():
    told = summary(
        span(
            1,
            attributes={"openinference.span.kind": "TOOL", "tool.name": "f"},
            status={"code": 2},
            events=[
                {
                    "name": "exception",
                    "attributes": [
                        {"key": "exception.type", "value": {"stringValue": "ValueError"}},
                        {"key": "exception.message", "value": {"stringValue": "no city"}},
                    ],
                }
            ],
        )
    )

    assert told.tool_calls[0].error == "ValueError: no city"


def test_a_search_inside_a_search_is_its_part():
    documents = {"retrieval.documents.0.document.content": "p"}
    search: dict[str, object] = {"openinference.span.kind": "RETRIEVER", "input.value": "q"}
    told = summary(
        span(1, attributes={**search, **documents}), span(2, 1, attributes={**search, **documents})
    )

    assert told.retrieval.queries == ["q"]
    assert len(told.retrieval.documents) == 1


PARENT_IN: dict[str, Callable[[int], int]] = {
    "deep": lambda number: number - 1,
    "wide": lambda number: min(number - 1, 1),
    "circle": lambda number: number - 1 or 10_000,
}


@pytest.mark.parametrize("shape", PARENT_IN)
def test_ten_thousand_spans_of_any_shape_are_put_together(shape: str):
    first = decoded(span(1, attributes=llm(1, 1)))[0]
    spans = [
        msgspec.structs.replace(
            first, span_id=f"{n:016x}", parent_id=f"{PARENT_IN[shape](n):016x}", start_ns=n
        )
        for n in range(1, 10_001)
    ]

    (told,) = summaries(spans)

    assert told.spans == 10_000


@pytest.mark.parametrize("levels", [10, 99, 101, 950, 5_000])
@pytest.mark.parametrize("name", ["input.value", "gen_ai.tool.call.arguments", "mlflow.spanInputs"])
def test_json_of_any_depth_in_an_attribute_can_be_told_again(name: str, levels: int):
    text = '{"a":' * levels + "[]" + "}" * levels
    operation = {"gen_ai.operation.name": "execute_tool"} if "gen_ai" in name else {}

    told = summary(span(1, attributes={name: text, **operation}))

    encoded = msgspec.json.encode(told)
    assert (text.encode() in encoded) is (levels < 100)


ODD_VALUES = (
    "[[]]",
    "[null, 1]",
    '{"messages": [[["user", "x"]]]}',
    '{"messages": {}, "role": []}',
    '{"role": "user", "type": ["text"], "content": [{"type": ["text"]}, [], {"text": 1}]}',
    '{"type": "constructor", "id": [[]], "kwargs": {"content": [], "tool_calls": [1, {"name": []}]}}',
    '{"type": "constructor", "id": [], "kwargs": {}}',
    '[{"type": "function_call", "name": 1}, {"type": "function_call_output"}]',
    '{"choices": [null]}',
    '{"generations": [[]], "output": []}',
    '{"object": "response", "output": [1]}',
    '{"args": [[]], "kwargs": null}',
    "{'a': {1, 2}, 3: 1e999}",
    "{'a': 2j}",
    '{"documents": [null, {"document": []}, {"score": "NaN", "id": []}]}',
    '"half a \\ud800 quote"',
    '{"total": "many", "input": -1, "input_tokens": 1.5}',
)  # fmt: skip
READ_NAMES = (
    "input.value output.value gen_ai.input.messages gen_ai.output.messages gen_ai.tool.call.arguments "
    "gen_ai.tool.call.result gen_ai.retrieval.documents gen_ai.usage.input_tokens ag.data.inputs "
    "ag.data.outputs ag.data.outputs.documents.0 ai.prompt ai.response.toolCalls "
    "pydantic_ai.all_messages final_result events response_data tool_arguments crew_tasks "
    "traceloop.entity.input traceloop.entity.output gen_ai.prompt.0.content gen_ai.prompt.0.tool_calls "
    "llm.input_messages.0.message llm.input_messages.0.message.tool_calls.0 mlflow.spanInputs "
    "mlflow.spanOutputs mlflow.chat.tokenUsage langfuse.observation.output "
    "langfuse.observation.usage_details retrieval.documents.0 gen_ai.completion"
).split()
KIND_NAMES = {
    "openinference.span.kind": ["LLM", "TOOL", "RETRIEVER"],
    "gen_ai.operation.name": ["chat", "execute_tool", "retrieval", "invoke_agent"],
    "traceloop.span.kind": ["tool", "workflow"],
    "mlflow.spanType": ['"TOOL"', '"RETRIEVER"', "[]"],
    "ag.type.span": ["tool", "query", "chat"],
    "langsmith.span.kind": ["tool", "retriever", "llm"],
    "langfuse.observation.type": ["tool", "retriever", "generation"],
    "ai.operationId": ["ai.generateText", "ai.toolCall"],
    "llm.request.type": ["chat", "embedding"],
}


@given(
    st.dictionaries(st.sampled_from(READ_NAMES), st.sampled_from(ODD_VALUES), max_size=5),
    st.sampled_from(sorted(KIND_NAMES)).flatmap(
        lambda name: st.tuples(st.just(name), st.sampled_from(KIND_NAMES[name]))
    ),
)
def test_values_of_odd_shapes_bring_no_convention_down(
    values: dict[str, str], kind: tuple[str, str]
):
    (trace,) = assemble(decoded(span(1), span(2, 1, attributes={**values, kind[0]: kind[1]})))

    assert msgspec.json.encode(summarise(trace))
    for item in (trace_item(trace), *dict(agent_items(trace)).values()):
        assert len(strict(item)["trace"]) > len(light(item)["trace"])
