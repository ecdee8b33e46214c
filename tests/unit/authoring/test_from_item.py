"""Trace, AgentTrace and LLMSpan of an item of a trace source: all that is known, made when it is asked for."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from scorewright.authoring import (
    AgentMetrics,
    AgentSpan,
    AgentTrace,
    AssistantMessage,
    ChainSpan,
    LLMMetrics,
    LLMReasoning,
    LLMSpan,
    RetrievedDocument,
    RetrieverSpan,
    Span,
    SpanMetrics,
    SystemMessage,
    TokenUsage,
    ToolCall,
    ToolDefinition,
    ToolExecution,
    ToolMessage,
    ToolSpan,
    Trace,
    TraceMetrics,
    UserInput,
    UserMessage,
)
from scorewright.authoring.from_item import (
    agent_trace_from_item,
    llm_span_from_item,
    trace_from_item,
)
from trace_items import TRACE_ID, a_span, an_item

WHEN = datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)
USAGE = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7, "cache_read_tokens": 3}
TOKENS = TokenUsage(5, 2, total_tokens=7, cache_read_tokens=3)
TOOL = {"name": "search", "description": "finds", "parameters": {"type": "object"}}
DEFINITION = ToolDefinition("search", "finds", parameters={"type": "object"})
CALL = {"id": "c1", "name": "search", "arguments": {"q": "x"}}
WANTED = ToolCall("c1", "search", arguments={"q": "x"})
TALK = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "content": "42", "tool_call_id": "c1"},
]
HEARD = [
    SystemMessage("be brief"),
    UserMessage("hi"),
    AssistantMessage("", tool_calls=[WANTED]),
    ToolMessage("42", tool_call_id="c1"),
]


class Loader:
    """Gives the whole item, and counts how often."""

    def __init__(self, item: dict[str, Any]) -> None:
        self.item = item
        self.times = 0

    def __call__(self) -> dict[str, Any]:
        self.times += 1
        return self.item


def trace_of(spans: list[dict[str, Any]], **members: Any) -> Trace:
    item = an_item(spans, **members)
    return trace_from_item(item, lambda: item)


def only(span: dict[str, Any]) -> Span:
    (made,) = trace_of([span]).spans
    return made


def test_a_trace_knows_what_its_item_says():
    trace = trace_of(
        [],
        trace={"input": {"q": "ü"}, "output": "", "start_time": "2026-01-02T03:04:05.123456Z"},
        metrics={"total_duration_ms": 9.5, "token_usage": USAGE, "cost_usd": 0.0, "error_count": 2},
        session={"id": "s1"},
    )

    assert trace == Trace(
        TRACE_ID,
        input='{"q": "ü"}',
        output="",
        metrics=TraceMetrics(9.5, token_usage=TOKENS, error_count=2, cost_usd=0.0),
        timestamp=WHEN,
        session_id="s1",
    )
    assert trace.metrics.has_errors is True


def test_what_a_trace_does_not_know_is_none():
    trace = trace_of([], trace={"start_time": None}, metrics={"error_count": None})

    assert (trace.input, trace.output, trace.timestamp, trace.session_id) == (None,) * 4
    assert trace.metrics == TraceMetrics()


def test_spans_are_not_made_before_they_are_asked_for_and_then_once():
    item = an_item([a_span("a"), a_span("b", 0, "tool")], trace={"output": "x"})
    light = {name: value for name, value in item.items() if name != "spans"}
    whole = Loader(item)
    trace = trace_from_item(light, whole)

    assert (trace.output, trace.metrics.error_count, trace.trace_id) == ("x", 0, TRACE_ID)
    assert whole.times == 0
    assert len(trace.get_tool_calls()) == 1
    assert trace.spans is trace.spans
    assert trace.get_tool_steps() == trace.get_tool_steps()
    assert whole.times == 1


def test_an_author_may_put_other_spans_in_place_without_the_item_being_read():
    whole = Loader({})
    trace = trace_from_item(an_item(), whole)

    trace.spans = [ChainSpan("mine")]

    assert [span.span_id for span in trace.spans] == ["mine"]
    assert trace.get_tool_steps() == []
    assert whole.times == 0


def test_metrics_are_made_once_and_an_author_may_put_others_in_place():
    trace, same = (trace_of([], metrics={"token_usage": USAGE, "error_count": 1}) for _ in range(2))

    assert repr(same.metrics) == repr(TraceMetrics(token_usage=TOKENS, error_count=1))
    assert copy.copy(trace) == copy.deepcopy(trace) == same
    assert trace.metrics is trace.metrics
    trace.metrics.cost_usd = 0.5
    assert trace.metrics.cost_usd == 0.5
    trace.metrics = TraceMetrics(7.0)
    assert trace.metrics.total_duration_ms == 7.0
    assert trace != same
    assert "metrics=" in repr(trace)


def test_a_total_that_is_not_told_is_the_sum_of_both_sides_that_are():
    def total(tokens_in: int | None, told: int | None) -> int | None:
        usage = {**USAGE, "input_tokens": tokens_in, "output_tokens": 2, "total_tokens": told}
        known = trace_of([], metrics={"token_usage": usage}).metrics.token_usage
        assert known == TokenUsage(
            tokens_in, 2, total_tokens=told, cache_read_tokens=usage["cache_read_tokens"]
        )
        assert known is not None
        return known.total_tokens

    assert (total(1, None), total(None, None), total(1, 9)) == (3, None, 9)


def test_a_lazy_trace_is_shown_compared_and_copied_like_any_other():
    trace, same = (trace_of([a_span("a", kind="tool")], trace={"input": "q"}) for _ in range(2))

    assert copy.deepcopy(same) == trace
    assert copy.copy(trace).spans is trace.spans
    assert repr(same) == repr(Trace(TRACE_ID, input="q", spans=same.spans, metrics=same.metrics, timestamp=WHEN))  # fmt: skip
    assert "ToolSpan" in repr(trace_of([a_span("a", kind="tool")]))


@pytest.mark.parametrize("made", [Trace(), trace_of([]), AgentTrace()])
def test_a_name_that_no_trace_has_is_an_attribute_error(made: Trace | AgentTrace):
    with pytest.raises(AttributeError, match="object has no attribute 'outpu'"):
        getattr(made, "outpu")  # noqa: B009 - the checker knows that it is not there

    assert not hasattr(made, "_anything")


def test_a_model_call_keeps_everything_that_is_known_of_it():
    span = a_span(
        "a",
        kind="llm",
        model="m",
        vendor="v",
        temperature=0.0,
        messages=TALK,
        output="hello",
        available_tools=[TOOL],
        time_to_first_token_ms=12.5,
        tokens=USAGE,
        cost_usd=0.25,
    )

    assert only(span) == LLMSpan(
        "a",
        "name of a",
        start_time=WHEN,
        input=list(HEARD),
        output="hello",
        available_tools=[DEFINITION],
        model="m",
        vendor="v",
        temperature=0.0,
        metrics=LLMMetrics(
            1000.0, error=False, token_usage=TOKENS, time_to_first_token_ms=12.5, cost_usd=0.25
        ),
    )


def test_a_tool_call_keeps_its_own_error_id_and_duration():
    span = a_span(
        "b",
        0,
        "tool",
        tool="search",
        call_id="c1",
        arguments={"q": "x"},
        result={"hits": 0},
        status="UNSET",
        error="no network",
        error_type="OSError",
    )
    trace = trace_of([a_span("a"), span])

    assert trace.spans[1] == ToolSpan(
        "b",
        "search",
        parent_span_id="a",
        start_time=WHEN,
        arguments={"q": "x"},
        result={"hits": 0},
        tool_call_id="c1",
        metrics=SpanMetrics(1000.0, error=True, error_type="OSError", error_message="no network"),
    )
    assert trace.get_tool_steps() == [
        ToolExecution(
            "search",
            {"q": "x"},
            tool_output={"hits": 0},
            tool_call_id="c1",
            content='{"hits": 0}',
            error="no network",
            duration_ms=1000.0,
        )
    ]


def test_a_retrieval_keeps_query_documents_and_scores():
    span = a_span(
        "a",
        kind="retriever",
        query="q",
        documents=[{"id": "1", "content": "text", "score": 0.0}, {"id": None, "content": None}],
        vector_db="pgvector",
        top_k=2,
    )

    assert only(span) == RetrieverSpan(
        "a",
        "name of a",
        start_time=WHEN,
        query="q",
        documents=[RetrievedDocument("1", "text", score=0.0), RetrievedDocument()],
        vector_db="pgvector",
        top_k=2,
        metrics=SpanMetrics(1000.0, error=False),
    )


def test_an_agent_has_the_tokens_of_all_that_ran_below_it():
    span = a_span(
        "a",
        kind="agent",
        agent="planner",
        framework="f",
        model="m",
        system_prompt="be brief",
        available_tools=[TOOL],
        input={"q": 1},
        output="done",
        tokens={"total_tokens": 1},
        subtree_tokens=USAGE,
        cost_usd=0.5,
        subtree_cost_usd=0.75,
        status="ERROR",
    )

    assert only(span) == AgentSpan(
        "a",
        "planner",
        start_time=WHEN,
        framework="f",
        model="m",
        system_prompt="be brief",
        available_tools=[DEFINITION],
        input='{"q": 1}',
        output="done",
        metrics=AgentMetrics(1000.0, error=True, token_usage=TOKENS, cost_usd=0.75),
    )


@pytest.mark.parametrize("kind", ["embedding", "reranker", "chain", "setup", "http", "span"])
def test_every_other_kind_is_a_step_of_the_application(kind: str):
    made = only(a_span("a", kind=kind, start_time=None, duration_ms=None))

    assert made == ChainSpan("a", "name of a", metrics=SpanMetrics(error=False))


def test_a_model_span_around_another_one_is_no_call_but_for_a_tool_or_agent_between():
    spans = [
        a_span("wrapper", kind="llm"),
        a_span("chain", 0, "chain"),
        a_span("call", 1, "llm"),
        a_span("asks", kind="llm"),
        a_span("tool", 3, "tool"),
        a_span("inside", 4, "llm"),
    ]
    trace = trace_of(spans)

    assert [call.span_id for call in trace.get_llm_calls()] == ["call", "asks", "inside"]


def test_tools_that_only_messages_tell_of_are_steps_as_well():
    called = [
        {"name": "search", "arguments": {"q": "x"}, "result": {"n": 1}, "error": None},
        {"name": "add", "arguments": None, "result": None, "error": "no such tool"},
    ]
    trace = trace_of([a_span("a", kind="llm")], trace={"tool_context": called})

    assert trace.get_tool_steps() == [
        ToolExecution("search", {"q": "x"}, tool_output={"n": 1}, content='{"n": 1}'),
        ToolExecution("add", error="no such tool"),
    ]
    assert trace.get_tool_calls() == []


def an_agent(**known: Any) -> dict[str, Any]:
    metrics = {"duration_ms": 4.0, "error": False, "error_type": None, "error_message": None}
    return {
        "agent_id": "a",
        "agent_name": "planner",
        "framework": None,
        "model": "m",
        "system_prompt": "be brief",
        "available_tools": [TOOL],
        "input": ["q"],
        "output": "done",
        "metrics": {**metrics, "token_usage": USAGE, "cost_usd": None},
        **known,
    }


def a_call(**known: Any) -> dict[str, Any]:
    metrics = {"duration_ms": 3.0, "error": True, "error_type": "E", "error_message": "no"}
    return {
        "span_id": "l",
        "parent_span_id": "a",
        "name": "chat",
        "start_time": "2026-01-02T03:04:05.123456Z",
        "model": "m",
        "vendor": "v",
        "temperature": 1,
        "input": TALK,
        "output": None,
        "tool_calls": [CALL],
        "available_tools": [],
        "metrics": {**metrics, "token_usage": None, "time_to_first_token_ms": 1.5, "cost_usd": 0.0},
        **known,
    }


MODEL_CALL = LLMSpan(
    "l",
    "chat",
    parent_span_id="a",
    start_time=WHEN,
    input=list(HEARD),
    model="m",
    vendor="v",
    temperature=1,
    metrics=LLMMetrics(
        3.0,
        error=True,
        error_type="E",
        error_message="no",
        time_to_first_token_ms=1.5,
        cost_usd=0.0,
    ),
)


def test_a_model_call_by_itself_is_made_of_the_light_part():
    assert llm_span_from_item({"llm": a_call()}) == MODEL_CALL


def test_an_agent_trace_knows_who_it_is_before_its_steps_are_read():
    whole = Loader({"trajectory": {"messages": [], "steps": [{"type": "user", "content": "q"}]}})
    agent = agent_trace_from_item({"agent": an_agent()}, whole)

    assert (agent.agent_name, agent.input, agent.metrics.duration_ms) == ("planner", '["q"]', 4.0)
    assert whole.times == 0
    assert agent.steps == [UserInput("q")]
    assert agent == AgentTrace(
        "a",
        "planner",
        model="m",
        system_prompt="be brief",
        available_tools=[DEFINITION],
        input=["q"],
        output="done",
        steps=[UserInput("q")],
        metrics=AgentMetrics(4.0, error=False, token_usage=TOKENS),
    )
    assert whole.times == 1


def test_steps_keep_what_ran_inside_of_a_tool():
    nested: list[dict[str, Any]] = [
        {"kind": "agent", **an_agent(agent_id="b"), "steps": [{"type": "user", "content": "sub"}]},
        {"kind": "llm", **a_call()},
    ]
    steps: list[dict[str, Any]] = [
        {
            "type": "llm",
            "content": None,
            "tool_calls": [CALL],
            "span_id": "l",
            "is_response": False,
        },
        {
            "type": "tool",
            "name": "search",
            "arguments": {"q": "x"},
            "result": [1],
            "call_id": "c1",
            "error": "late",
            "duration_ms": 2.0,
            "nested": nested,
        },
        {"type": "llm", "content": "done", "tool_calls": [], "span_id": None, "is_response": True},
    ]
    agent = agent_trace_from_item(
        {"agent": an_agent()}, lambda: {"trajectory": {"messages": [], "steps": steps}}
    )

    wanted, (tool,), (inner,) = agent.steps[0], agent.get_tool_steps(), agent.get_sub_agents()

    assert wanted == LLMReasoning("", tool_calls=[WANTED], llm_span_id="l")
    assert agent.steps[2] == LLMReasoning("done", is_response=True)
    assert (tool.tool_output, tool.content, tool.error) == ([1], "[1]", "late")
    assert (tool.tool_call_id, tool.duration_ms) == ("c1", 2.0)
    assert (inner.agent_id, inner.steps) == ("b", [UserInput("sub")])
    assert tool.nested_traces[1] == MODEL_CALL
    assert agent.get_error_steps() == [tool]


def test_steps_are_written_as_numbered_lines():
    steps = [
        UserInput("hi"),
        LLMReasoning("let me see", tool_calls=[WANTED]),
        ToolExecution("search", {"q": "x"}, tool_output=[1], duration_ms=4.6),
        ToolExecution("add", error="no"),
        LLMReasoning("done", is_response=True),
    ]

    assert AgentTrace(steps=list(steps)).format_steps().splitlines() == [
        "1. user: hi",
        '2. model: let me see [calls search({"q": "x"})]',
        '3. tool search({"q": "x"}) (5 ms): [1]',
        "4. tool add({}) failed: no",
        "5. answer: done",
    ]


def test_a_long_trajectory_is_written_in_bounded_space():
    text = AgentTrace(steps=[UserInput("x" * 5_000) for _ in range(1_000)]).format_steps()

    assert len(text) < 60_000
    assert text.endswith("… 900 more steps")


def test_evidence_is_the_first_tools_and_passages():
    found = [RetrievedDocument(str(n), f"passage {n}", score=n / 4) for n in range(5)]
    spans: list[Span] = [ToolSpan(str(n), f"tool{n}", result=n) for n in range(12)]
    spans.append(RetrieverSpan("r", "find", query="why", documents=found))

    lines = Trace(spans=spans).format_evidence().splitlines()

    assert lines[0] == "tool tool0({}): 0"
    assert lines[10:] == [
        "… 2 more tools",
        "retrieval why",
        "  document (score 0): passage 0",
        "  document (score 0.25): passage 1",
        "  document (score 0.5): passage 2",
        "  … 2 more documents",
    ]
