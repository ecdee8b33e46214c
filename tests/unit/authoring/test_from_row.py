"""A Trace made of a dataset row, with or without a recorded trace."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.authoring import (
    AgentSpan,
    AssistantMessage,
    ChainSpan,
    SystemMessage,
    TokenUsage,
    ToolCall,
    ToolMessage,
    Trace,
    UserMessage,
    trace_from_row,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def span(name: str = "s", **parts: Any) -> dict[str, Any]:
    """Write a recorded span; `data`, `type`, `unit` and the like go under `attributes.ag`."""
    ag = {key: parts.pop(key) for key in ("data", "type", "meta", "session") if key in parts}
    ag["metrics"] = {"unit": parts.pop("unit", {})}
    return {"name": name, "attributes": {"ag": ag}, **parts}


def of_spans(*spans: dict[str, Any], **row: Any) -> Trace:
    return trace_from_row(
        {"trace": {"spans": {f"id{n}": one for n, one in enumerate(spans)}}, **row}
    )


def of_kind(kind: str, **parts: Any) -> Any:
    (made,) = of_spans(span(type={"span": kind}, **parts)).spans
    return made


@pytest.mark.parametrize("row", [{"input": "q", "output": "a"}, {"inputs": "q", "outputs": "a"}])
def test_a_row_without_a_trace_gives_input_and_output_only(row: dict[str, Any]):
    trace = trace_from_row(row)

    assert trace == Trace(input="q", output="a")
    assert trace.spans == []
    assert trace.metrics.error_count is None


def test_the_singular_column_comes_first_even_when_it_is_null():
    trace = trace_from_row({"output": None, "outputs": "a", "input": "q", "inputs": {}})

    assert (trace.input, trace.output) == ("q", None)


def test_a_row_without_either_column_captured_nothing():
    assert trace_from_row({"question": "q"}) == Trace()


def test_the_root_gives_input_output_and_measures():
    root = span(
        data={"inputs": {"country": "France"}, "outputs": "Paris"},
        unit={"duration": {"total": 2.5}, "tokens": {"total": 70}, "costs": {"total": 0.001}},
        start_time="2025-01-15T10:30:00Z",
        session={"id": "s1"},
    )

    trace = of_spans(root, output="from the row")

    assert json.loads(trace.input or "") == {"country": "France"}
    assert trace.output == "Paris"
    assert trace.metrics.total_duration_ms == 2500
    assert trace.metrics.token_usage == TokenUsage(total_tokens=70)
    assert trace.metrics.cost_usd == 0.001
    assert trace.metrics.error_count == 0
    assert trace.timestamp == datetime(2025, 1, 15, 10, 30, tzinfo=UTC)
    assert trace.session_id == "s1"


def test_the_row_fills_what_the_trace_did_not_capture():
    trace = of_spans(span(), input="q", output={"a": 1})

    assert (trace.input, trace.output) == ("q", '{"a": 1}')


def test_a_trace_may_come_as_its_json_text():
    recorded = {"trace_id": "t1", "session_id": "s2", "spans": {"a": span("root")}}

    trace = trace_from_row({"trace": json.dumps(recorded)})

    assert (trace.trace_id, trace.session_id) == ("t1", "s2")
    assert [one.name for one in trace.spans] == ["root"]


def test_spans_come_parents_first_in_the_order_recorded():
    tree = span("root", children=[span("a", children=[span("b")]), span("c")])

    trace = of_spans(tree, span("second root"))

    assert [one.name for one in trace.spans] == ["root", "a", "b", "c", "second root"]
    assert [one.parent_span_id for one in trace.spans] == [None, "id0", "span-1", "id0", None]


def test_children_may_come_as_an_object_by_id():
    trace = of_spans(span("root", children={"x": span("a"), "y": span("b")}))

    assert [one.span_id for one in trace.spans] == ["id0", "x", "y"]


def test_spans_may_come_as_a_list_with_their_ids():
    trace = trace_from_row({"trace": {"spans": [{"span_id": "x"}, {"name": "unnamed"}]}})

    assert [one.span_id for one in trace.spans] == ["x", "span-1"]


def test_depth_is_no_limit():
    node = span("leaf")
    for _ in range(20_000):
        node = {"name": "n", "children": [node]}

    trace = of_spans(node)

    assert len(trace.spans) == 20_001
    assert trace.spans[-1].name == "leaf"


def test_a_wrapper_that_repeats_its_children_is_not_added_to_them():
    calls = [
        span(unit={"tokens": {"prompt": 80, "completion": 25}, "costs": {"total": 0.5}}),
        span(unit={"tokens": {"prompt": 120, "completion": 35}, "costs": {"total": 0.25}}),
    ]
    middle = span(children=calls)
    root = span(unit={"tokens": {"total": 999}, "costs": {"total": 9}}, children=[middle])

    metrics = of_spans(root).metrics

    assert metrics.token_usage == TokenUsage(200, 60, total_tokens=260)
    assert metrics.cost_usd == 0.75


def test_half_known_usage_stays_half_known():
    assert of_spans(span(unit={"tokens": {"prompt": 100}})).metrics.token_usage == TokenUsage(100)


def test_without_a_recorded_duration_the_times_tell_it():
    root = span(start_time="2025-01-15T10:30:00Z", end_time="2025-01-15T12:30:02.5+02:00")

    assert of_spans(root).metrics.total_duration_ms == 2500


def test_a_clock_that_ran_backwards_gives_no_duration():
    root = span(start_time="2025-01-15T10:30:02", end_time="2025-01-15T10:30:00")

    assert of_spans(root).metrics.total_duration_ms is None


def test_spans_that_ended_in_an_error_are_counted():
    failed = span("tool", status_code="ERROR", status_message="no network")

    trace = of_spans(span("root", status_code="OK", children=[failed, span(status_code="UNSET")]))

    assert trace.metrics.error_count == 1
    assert isinstance(trace.spans[1], ChainSpan)
    assert trace.spans[1].metrics.error_message == "no network"


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("llm", "llm"),
        ("CHAT", "llm"),
        ("completion", "llm"),
        ("tool", "tool"),
        ("agent", "agent"),
        ("retriever", "retriever"),
        ("query", "retriever"),
        ("workflow", "chain"),
        ("embedding", "chain"),
    ],
)
def test_a_span_is_classified_by_its_recorded_type(word: str, kind: str):
    assert of_kind(word).kind == kind


def test_the_type_may_stand_on_the_span_itself():
    (made,) = of_spans(span(type={}) | {"type": "tool"}).spans

    assert made.kind == "tool"


def test_a_model_call_has_its_messages_answer_and_settings():
    made = of_kind(
        "chat",
        meta={"system": "openai", "request": {"model": "m1", "temperature": 0.2}},
        data={
            "inputs": {
                "prompt": [
                    {"role": "system", "content": "be brief"},
                    {
                        "role": "user",
                        "content": [{"type": "text", "text": "6*7?"}, {"type": "image"}],
                    },
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {"id": "c1", "function": {"name": "mul", "arguments": '{"a": 6}'}},
                            {"id": "c2", "name": "add", "arguments": {"b": 7}},
                            {"id": "no name"},
                        ],
                    },
                    {"role": "tool", "content": "42", "tool_call_id": "c1"},
                    "not a message",
                ]
            },
            "outputs": {"completion": [{"role": "assistant", "content": "42"}]},
        },
        unit={"tokens": {"prompt": 9, "completion": 1, "total": 10}},
    )

    calls = [ToolCall("c1", "mul", arguments={"a": 6}), ToolCall("c2", "add", arguments={"b": 7})]
    assert made.input == [
        SystemMessage("be brief"),
        UserMessage("6*7?"),
        AssistantMessage("", tool_calls=calls),
        ToolMessage("42", tool_call_id="c1"),
    ]
    assert (made.output, made.model, made.vendor, made.temperature) == ("42", "m1", "openai", 0.2)
    assert made.metrics.token_usage == TokenUsage(9, 1, total_tokens=10)


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ("hi", "hi"),
        ({"content": "hi"}, "hi"),
        ([{"content": "first"}, {"content": "hi"}], "hi"),
        ({"answer": 1}, '{"answer": 1}'),
        ({"completion": [{"content": None}]}, None),
        (None, None),
    ],
)
def test_an_answer_is_taken_out_of_its_envelope(outputs: Any, text: str | None):
    assert of_kind("llm", data={"outputs": outputs}).output == text


def test_a_bare_prompt_is_what_the_user_said():
    assert of_kind("llm", data={"inputs": "hi"}).input == [UserMessage("hi")]


@pytest.mark.parametrize("inputs", [{"q": "x"}, '{"q": "x"}'])
def test_a_tool_call_has_arguments_and_result(inputs: Any):
    made = of_kind("tool", data={"inputs": inputs, "outputs": [1]})

    assert (made.arguments, made.result) == ({"q": "x"}, [1])


def test_arguments_that_are_no_object_are_left_out():
    assert of_kind("tool", data={"inputs": "{oops"}).arguments == {}


def test_a_retrieval_has_its_query_and_documents():
    found = [
        {"id": "1", "content": "Paris", "score": 0, "metadata": {"p": 1}},
        "Lyon",
        {"score": -2.5},
    ]

    made = of_kind("query", data={"inputs": {"query": "capital"}, "outputs": {"documents": found}})

    assert made.query == "capital"
    assert [(d.id, d.content, d.score) for d in made.documents] == [
        ("1", "Paris", 0),
        (None, "Lyon", None),
        (None, None, -2.5),
    ]


def test_an_agent_has_input_and_output_as_text():
    made = of_kind("agent", data={"inputs": {"task": "go"}, "outputs": "done"})

    assert isinstance(made, AgentSpan)
    assert (made.input, made.output) == ('{"task": "go"}', "done")


@pytest.mark.parametrize(
    "recorded",
    ["{oops", "[" * 100_000, 5, [], {}, {"spans": None}, {"spans": "x"}, {"spans": [1]}, '"text"'],
)
def test_what_is_no_recorded_trace_counts_as_none(recorded: Any):
    assert trace_from_row({"trace": recorded, "output": "a"}) == Trace(output="a")


@pytest.mark.parametrize("amount", [-1, 10**400, float("inf"), float("nan"), True, "70", None])
def test_an_amount_that_is_none_stays_unknown(amount: Any):
    unit = {"duration": {"total": amount}, "tokens": {"total": amount}, "costs": {"total": amount}}

    metrics = of_spans(span(unit=unit)).metrics

    assert (metrics.total_duration_ms, metrics.token_usage, metrics.cost_usd) == (None, None, None)


def test_half_a_token_is_no_token():
    assert of_spans(span(unit={"tokens": {"total": 1.5}})).metrics.token_usage is None


@pytest.mark.parametrize("time", ["yesterday", 5, None, "0001-01-01T00:00:00+05:00"])
def test_a_time_that_is_none_stays_unknown(time: Any):
    assert of_spans(span(start_time=time)).timestamp is None


@given(
    st.fixed_dictionaries(
        {
            "attributes": st.fixed_dictionaries(
                {"ag": st.dictionaries(st.sampled_from(["data", "type", "metrics", "meta"]), JSON)}
            )
        },
        optional={"name": JSON, "children": JSON, "status_code": JSON, "start_time": JSON},
    ),
    st.sampled_from(["llm", "tool", "agent", "query", "chain"]),
)
def test_no_recorded_trace_ever_fails_an_author(node: dict[str, Any], kind: str):
    trace = trace_from_row({"trace": {"spans": {"a": {**node, "type": kind}}}})

    assert trace.format_spans()
    assert repr(trace)
