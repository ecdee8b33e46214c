"""Trace, AgentTrace and LLMSpan: what an author reads from them."""

from __future__ import annotations

import json

from scorewright.authoring import (
    AgentSpan,
    AgentTrace,
    AssistantMessage,
    ChainSpan,
    LLMMetrics,
    LLMReasoning,
    LLMSpan,
    RetrieverSpan,
    Span,
    SpanMetrics,
    SystemMessage,
    TokenUsage,
    ToolDefinition,
    ToolExecution,
    ToolMessage,
    ToolSpan,
    Trace,
    TraceMetrics,
    UserInput,
    UserMessage,
)


def a_trace() -> Trace:
    spans: list[Span] = [
        AgentSpan("a", "planner", input="hi", output="bye"),
        LLMSpan("b", "chat", parent_span_id="a", model="m", metrics=LLMMetrics(1200.4)),
        ToolSpan(
            "c",
            "search",
            parent_span_id="a",
            arguments={"q": "x"},
            result={"hits": 2},
            metrics=SpanMetrics(5, error=True, error_message="no network"),
        ),
        RetrieverSpan("d", "find", parent_span_id="c", query="x"),
        ChainSpan("e", "stray", parent_span_id="never exported"),
    ]
    return Trace("t1", input="hi", output="bye", spans=spans)


def test_spans_are_found_by_what_they_did():
    trace = a_trace()

    assert [span.span_id for span in trace.get_agents()] == ["a"]
    assert [span.span_id for span in trace.get_llm_calls()] == ["b"]
    assert [span.span_id for span in trace.get_tool_calls()] == ["c"]
    assert [span.span_id for span in trace.get_retrievals()] == ["d"]


def test_a_trace_has_tool_steps_as_the_seed_promises():
    (step,) = a_trace().get_tool_steps()

    assert (step.tool_name, step.tool_input, step.tool_output) == (
        "search",
        {"q": "x"},
        {"hits": 2},
    )
    assert (step.content, step.error, step.duration_ms) == ('{"hits": 2}', "no network", 5)


def test_a_tool_that_is_not_known_to_have_failed_has_no_error():
    (step,) = Trace(spans=[ToolSpan("c", "search")]).get_tool_steps()

    assert step.error is None


def test_a_failed_tool_without_a_message_still_shows_as_failed():
    span = ToolSpan("c", "search", metrics=SpanMetrics(error=True))

    (step,) = Trace(spans=[span]).get_tool_steps()

    assert step.error == "failed"


def test_structured_input_and_output_read_as_their_json_text():
    trace = Trace(input={"country": "Österreich"}, output=[1, True, None])

    assert trace.input == '{"country": "Österreich"}'
    assert json.loads(trace.output or "") == [1, True, None]


def test_text_is_left_alone_and_unknown_stays_unknown():
    trace = Trace(output="")

    assert trace.input is None
    assert trace.output == ""


def test_unmeasured_metrics_are_none_and_not_zero():
    metrics = Trace().metrics

    assert metrics.total_duration_ms is None
    assert metrics.token_usage is None
    assert metrics.cost_usd is None
    assert metrics.error_count is None
    assert metrics.has_errors is None


def test_errors_are_counted_apart_from_unknown():
    assert TraceMetrics(error_count=0).has_errors is False
    assert TraceMetrics(error_count=2).has_errors is True


def test_a_total_is_the_sum_only_when_both_sides_are_known():
    assert TokenUsage(3, 4).total_tokens == 7
    assert TokenUsage(3, 4, total_tokens=9).total_tokens == 9
    assert TokenUsage(3).total_tokens is None


def test_spans_are_written_as_an_indented_tree():
    assert a_trace().format_spans().splitlines() == [
        "agent planner",
        "  llm chat (1,200 ms)",
        "  tool search (5 ms) ERROR",
        "    retriever find",
        "chain stray",
    ]


def test_a_deep_chain_of_spans_is_indented_only_so_far():
    chain: list[Span] = [ChainSpan("0", "s")]
    chain += [ChainSpan(str(n), "s", parent_span_id=str(n - 1)) for n in range(1, 200)]

    lines = Trace(spans=chain).format_spans().splitlines()

    assert len(lines[-1]) == len(lines[40])


def test_an_llm_span_sorts_its_messages_by_who_speaks():
    span = LLMSpan(
        input=[
            SystemMessage("be brief"),
            UserMessage("hi"),
            AssistantMessage("hello"),
            ToolMessage("42", tool_call_id="1"),
        ],
        output="bye",
    )

    assert [m.content for m in span.get_system_messages()] == ["be brief"]
    assert [m.content for m in span.get_user_messages()] == ["hi"]
    assert [m.content for m in span.get_assistant_messages()] == ["hello"]
    assert [m.content for m in span.get_tool_messages()] == ["42"]
    assert span.format_messages() == "system: be brief\nuser: hi\nassistant: hello\ntool: 42"


def test_a_long_message_is_cut_when_formatted():
    text = LLMSpan(input=[UserMessage("x" * 5_000)]).format_messages()

    assert len(text) < 2_100
    assert text.endswith("…")


def test_an_agent_trace_sorts_its_steps():
    child = AgentTrace("a2", "helper")
    failed = ToolExecution("search", error="timeout", nested_traces=[child, LLMSpan("l")])
    fine = ToolExecution("add", {"a": 1}, tool_output=2)
    said = LLMReasoning("done", is_response=True)
    trace = AgentTrace(
        "a1", "boss", steps=[UserInput("go"), failed, fine, said], output={"ok": True}
    )

    assert trace.get_tool_steps() == [failed, fine]
    assert trace.get_llm_steps() == [said]
    assert trace.get_error_steps() == [failed]
    assert trace.get_sub_agents() == [child]
    assert trace.output == '{"ok": true}'


def test_objects_compare_by_their_fields_and_class():
    assert UserMessage("hi") == UserMessage("hi")
    assert UserMessage("hi") != SystemMessage("hi")
    assert LLMMetrics(1.0, error=True) != LLMMetrics(1.0, error=False)


def test_a_repr_names_what_is_known_and_stays_short():
    trace = Trace("t1", output="x" * 10_000, spans=[ChainSpan(str(n)) for n in range(1_000)])

    shown = repr(trace)

    assert shown.startswith("Trace(")
    assert "trace_id='t1'" in shown
    assert "input" not in shown
    assert len(shown) < 1_000


def test_a_tool_on_offer_without_a_schema_has_an_empty_one():
    tool = ToolDefinition("search", "finds pages")

    assert AgentTrace(available_tools=[tool]).available_tools == [tool]
    assert tool.parameters == {}
