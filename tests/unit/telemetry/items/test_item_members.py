"""What items say of spans, agents, model calls, whole traces and conversations."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from item_reading import agent, called, chat, returned, said, strict, tool, trace_of, usage
from otlp_requests import decoded, span

from scorewright.telemetry.assembly import Trace, assemble
from scorewright.telemetry.instants import iso_utc
from scorewright.telemetry.items import (
    agent_items,
    compact_spans,
    conversation_item,
    llm_items,
    trace_item,
)
from scorewright.telemetry.messages import Message
from scorewright.telemetry.span_facts import SpanFacts, ToolDefinition, Usage
from scorewright.telemetry.span_tree import arrange


def only(trace: Trace) -> dict[str, Any]:
    (found,) = compact_spans(trace)
    return found


def with_facts(*facts: SpanFacts) -> Trace:
    """Make a chain of spans that mean this."""
    spans = decoded(*(span(number, number - 1) for number in range(1, len(facts) + 1)))
    return Trace(arrange(spans), facts)


# ── Spans ────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_unknown_of_a_span_is_left_out():
    assert only(trace_of(span(1))) == {
        "span_id": f"{1:016x}",
        "parent": -1,
        "name": "span 1",
        "kind": "span",
        "start_time": "1970-01-01T00:00:00.001000Z",
        "end_time": "1970-01-01T00:00:00.002000Z",
        "duration_ms": 1.0,
        "status": "UNSET",
        "attributes": {},
    }


def test_a_span_without_times_has_null_for_them():
    found = only(trace_of(span(1, startTimeUnixNano="0", endTimeUnixNano="0")))

    assert (found["start_time"], found["end_time"], found["duration_ms"]) == (None, None, None)


def test_values_that_are_empty_or_false_are_kept():
    found = only(trace_of(span(1, attributes={"input.value": "", "output.value": False})))

    assert (found["input"], found["output"]) == ("", False)


def test_times_are_cut_to_microseconds_up_to_the_last_that_otlp_can_tell():
    assert iso_utc(1_767_323_045_123_456_999) == "2026-01-02T03:04:05.123456Z"
    assert iso_utc(2**64 - 1) == "2554-07-21T23:34:33.709551Z"


def test_a_failed_span_tells_its_error_and_the_errors_type():
    status = {"code": 2, "message": "no city"}
    trace = trace_of(span(1, attributes={"error.type": "ValueError"}, status=status))

    found = only(trace)
    metrics = strict(trace_item(trace))["trace"]["metrics"]

    assert (found["status"], found["error"], found["error_type"]) == (
        "ERROR",
        "ValueError: no city",
        "ValueError",
    )
    assert (metrics["error_count"], metrics["has_errors"]) == (1, True)


def test_a_model_call_tells_all_that_is_known_of_it():
    tools = (ToolDefinition("look", "Looks.", {"type": "object"}),)
    found = only(
        with_facts(
            SpanFacts(
                kind="llm",
                model="m",
                vendor="v",
                temperature=0.0,
                available_tools=lambda: tools,
                input_messages=lambda: (Message("user", "q"),),
                output_messages=lambda: (Message("assistant", "a"),),
                time_to_first_token_ms=5.0,
                usage=Usage(3, 2, 5),
                cached_tokens=1,
                cost_usd=0.5,
            )
        )
    )

    assert found["messages"] == [{"role": "user", "content": "q"}]
    assert found["completion"] == [{"role": "assistant", "content": "a"}]
    assert found["available_tools"] == [
        {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}
    ]
    assert found["tokens"] == {
        "input_tokens": 3,
        "output_tokens": 2,
        "total_tokens": 5,
        "cache_read_tokens": 1,
    }
    told = {name: found[name] for name in ("model", "vendor", "temperature", "cost_usd", "output")}
    assert told == {"model": "m", "vendor": "v", "temperature": 0.0, "cost_usd": 0.5, "output": "a"}
    assert found["time_to_first_token_ms"] == 5.0
    assert "subtree_tokens" not in found


def test_sums_of_a_subtree_count_the_leaf_most_carriers_and_cached_tokens():
    carries = SpanFacts(kind="llm", usage=Usage(3, 2, 5), cached_tokens=1, cost_usd=0.25)
    repeats = SpanFacts(kind="chain", usage=Usage(3, 2, 5), cost_usd=0.25)

    outer, inner, leaf = compact_spans(with_facts(SpanFacts(), repeats, carries))

    assert outer["subtree_tokens"] == inner["subtree_tokens"] == leaf["tokens"]
    assert (outer["subtree_cost_usd"], leaf["cost_usd"]) == (0.25, 0.25)
    assert "tokens" not in outer
    assert "subtree_tokens" not in leaf


def test_a_tool_tells_its_call_under_the_general_names_as_well():
    given = {"gen_ai.tool.call.arguments": '{"a": 1}', "gen_ai.tool.call.result": "[2]"}
    found = only(trace_of(span(1, attributes=tool("look", "c1", **given))))

    assert (found["tool"], found["call_id"]) == ("look", "c1")
    assert found["arguments"] == found["input"] == {"a": 1}
    assert found["result"] == found["output"] == [2]


def test_each_result_of_a_tool_is_a_message_and_its_envelope_is_opened():
    asked = called(("c1", "f", {"a": 1}), ("c2", "g", {}), text="t")
    answers = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": '{"b": 2}'},
            {"type": "tool_result", "tool_use_id": "c2", "content": '"quoted"'},
            {"type": "text", "text": "and?"},
        ],
    }
    found = only(trace_of(span(1, attributes=chat([asked, answers]))))

    calls: list[dict[str, object]] = [
        {"id": "c1", "name": "f", "arguments": {"a": 1}},
        {"id": "c2", "name": "g", "arguments": {}},
    ]
    assert found["messages"] == [
        {"role": "assistant", "content": "t", "tool_calls": calls},
        {"role": "tool", "content": '{"b":2}', "tool_call_id": "c1"},
        {"role": "tool", "content": "quoted", "tool_call_id": "c2"},
        {"role": "user", "content": "and?"},
    ]


def test_agentas_attributes_are_unfolded_and_the_others_stay_as_they_were_sent():
    attributes = {
        "ag.type.span": "workflow",
        "ag.data.inputs": '{"country": "France"}',
        "ag.data.outputs": '{"content": "Paris"}',
        "ag.data.outputs.__default__": "Paris",
        "ag.metrics": '{"unit": {"costs": {"total": 1.5}}}',
        "ag.refs.app.0.id": "x",
        "again": 1,
    }
    found = only(trace_of(span(1, attributes=attributes)))

    assert found["ag"] == {
        "type": {"span": "workflow"},
        "metrics": {"unit": {"costs": {"total": 1.5}}},
        "refs": {"app": [{"id": "x"}]},
        "data": {"inputs": {"country": "France"}, "outputs": "Paris"},
    }
    assert found["attributes"] == {"again": 1}


def test_agentas_attributes_that_make_no_object_stay_as_they_were_sent():
    found = only(trace_of(span(1, attributes={"ag.0": 1, "ag.1": 2})))

    assert "ag" not in found
    assert found["attributes"] == {"ag.0": 1, "ag.1": 2}


# ── Agents and model calls ───────────────────────────────────────────────────────────────────────


def test_an_agent_takes_what_it_does_not_say_from_its_model_calls():
    system = said("system", "be brief")
    trace = trace_of(
        span(1, attributes=agent("helper")),
        span(
            2,
            1,
            attributes=chat(
                [system, said("user", "q"), said("assistant", "?"), said("user", "again")],
                said("assistant", "one"),
                **{"gen_ai.response.model": "m"},
                **usage(3, 2),
            ),
        ),
        span(3, 1, attributes=chat([said("user", "z")], said("assistant", "two"), **usage(1, 1))),
    )

    ((agent_id, item),) = agent_items(trace)

    found = strict(item)["agent"]
    assert agent_id == found["agent_id"] == f"{1:016x}"
    assert (found["agent_name"], found["model"], found["system_prompt"]) == (
        "helper",
        "m",
        "be brief",
    )
    assert (found["input"], found["output"]) == ("q", "two")
    assert found["metrics"]["token_usage"]["total_tokens"] == 7


def test_an_agent_says_itself_what_it_was_asked_and_what_it_answered():
    own = {
        "gen_ai.input.messages": [said("system", "own"), said("user", "own q")],
        "gen_ai.output.messages": [said("assistant", "own a")],
    }
    inner = chat([said("system", "s"), said("user", "q")], said("assistant", "a"))
    trace = trace_of(span(1, attributes=agent("x", **own)), span(2, 1, attributes=inner))

    ((_, item),) = agent_items(trace)

    found = strict(item)["agent"]
    assert [found[name] for name in ("system_prompt", "input", "output")] == [
        "own",
        "own q",
        "own a",
    ]


def test_agents_come_in_order_of_start_and_setting_one_up_is_none():
    trace = trace_of(
        span(1),
        span(2, 1, attributes=agent("late"), start=9),
        span(3, 1, attributes=agent("early"), start=5),
        span(4, 1, attributes={"gen_ai.operation.name": "create_agent"}),
    )

    names = [strict(item)["agent"]["agent_name"] for _, item in agent_items(trace)]

    assert names == ["early", "late"]


def test_a_trace_without_agents_or_model_calls_has_no_items_of_them():
    trace = trace_of(span(1))

    assert [*agent_items(trace), *llm_items(trace)] == []


def test_an_item_of_a_span_tells_of_the_whole_trace_and_has_the_spans_own_attributes():
    trace = trace_of(
        span(1, attributes={"input.value": "whole q", "output.value": "whole a"}),
        span(2, 1, attributes=agent("x")),
    )

    ((_, item),) = agent_items(trace)

    told = strict(item)["trace"]
    assert (told["input"], told["output"], told["metrics"]["span_count"]) == (
        "whole q",
        "whole a",
        2,
    )
    assert told["attributes"] == agent("x")
    assert "tool_context" not in told


def test_a_model_call_tells_its_messages_text_and_calls():
    asked = [said("user", "q")]
    trace = trace_of(
        span(1),
        span(2, 1, attributes=chat(asked, called(("c1", "f", {"a": 1})), **usage(3, 2))),
        span(3, 1, attributes={"openinference.span.kind": "LLM", "input.value": "plain"}),
    )

    first, second = [strict(item)["llm"] for _, item in llm_items(trace)]

    assert first["parent_span_id"] == f"{1:016x}"
    assert first["input"] == asked
    assert first["output"] is None
    assert first["tool_calls"] == [{"id": "c1", "name": "f", "arguments": {"a": 1}}]
    assert first["available_tools"] is None
    assert first["metrics"]["error"] is False
    assert first["metrics"]["token_usage"]["total_tokens"] == 5
    assert second["input"] == [{"role": "user", "content": "plain"}]
    assert second["metrics"]["token_usage"] is None


# ── The whole ────────────────────────────────────────────────────────────────────────────────────


def test_service_and_environment_come_from_what_sent_the_spans():
    spans = decoded(span(1), span(2, 1))
    sender = {"service.name": "shop", "deployment.environment": "staging"}
    sent = [msgspec.structs.replace(one, resource=sender) for one in spans[1:]]
    (trace,) = assemble([spans[0], *sent])

    told = strict(trace_item(trace))["trace"]

    assert (told["service"], told["environment"]) == ("shop", "staging")


def test_an_environment_that_a_span_names_goes_before():
    trace = with_facts(SpanFacts(), SpanFacts(environment="production"))

    assert strict(trace_item(trace))["trace"]["environment"] == "production"


SEARCH: dict[str, object] = {
    "openinference.span.kind": "RETRIEVER",
    "input.value": "what",
    "retrieval.documents.0.document.content": "one",
    "retrieval.documents.1.document.score": 0.0,
    "retrieval.documents.2.document.content": "two",
}


def test_retrievals_are_told_as_text_queries_and_documents():
    before, after = chat(None, said("assistant", "before")), chat(None, said("assistant", "after"))
    trace = trace_of(
        span(1),
        span(2, 1, attributes=before),
        span(3, 1, attributes=SEARCH),
        span(4, 1, attributes=after),
    )

    told = strict(trace_item(trace))["trace"]

    assert told["rag_context"] == "one\n\ntwo"
    assert told["rag_retrieval_queries"] == ["what"]
    assert [one["score"] for one in told["rag_retrieval_documents"]] == [None, 0.0, None]
    assert told["rag_llm_output"] == "after"


@pytest.mark.parametrize("attributes", [{}, SEARCH])
def test_without_a_search_or_an_answer_to_it_nothing_is_told(attributes: dict[str, object]):
    trace = trace_of(
        span(1),
        span(2, 1, attributes=chat(None, said("assistant", "a"))),
        span(3, 1, attributes=attributes),
    )

    assert strict(trace_item(trace))["trace"]["rag_llm_output"] is None


def test_a_trace_without_tools_and_searches_says_so():
    told = strict(trace_item(trace_of(span(1))))["trace"]

    assert told["tool_context"] == told["agent_trajectory"] == told["rag_retrieval_queries"] == []
    assert told["rag_context"] is None
    assert told["metrics"]["token_usage"] is None


# ── Conversations ────────────────────────────────────────────────────────────────────────────────


def turn(number: int) -> Trace:
    talk = {"input.value": f"q{number}", "output.value": f"a{number}", "session.id": "s"}
    return trace_of(span(number, attributes=talk, traceId=f"{number:032x}"))


@pytest.mark.parametrize("with_previous", [True, False])
def test_earlier_turns_tell_what_was_said_only_when_asked_to(*, with_previous: bool):
    item = strict(conversation_item([turn(1), turn(2)], with_previous=with_previous))

    conversation = item["conversation"]
    first, last = conversation["turns"]
    assert (conversation["id"], conversation["turn_count"]) == ("s", 2)
    assert item["session"] == {"id": "s"}
    assert ("input" in first, "output" in first) == (with_previous, with_previous)
    assert (last["turn"], last["input"], last["output"]) == (2, "q2", "a2")


def test_a_conversation_tells_of_the_trace_of_its_last_turn():
    item = strict(conversation_item([turn(1), turn(2)], with_previous=False))

    assert item["traceId"] == item["trace"]["trace_id"] == f"{2:032x}"
    assert [one["span_id"] for one in item["spans"]] == [f"{2:016x}"]
    assert item["trace"]["agent_trajectory"][0] == {"type": "user", "content": "q2"}


def test_tools_are_told_in_call_order_with_what_messages_know():
    trace = trace_of(
        span(1, attributes=chat([said("user", "q")], called(("c1", "f", {"a": 1})))),
        span(2, attributes=tool("f", "c1")),
        span(3, attributes=chat([returned("c1", "7")])),
    )

    assert strict(trace_item(trace))["trace"]["tool_context"] == [
        {"name": "f", "arguments": {"a": 1}, "result": "7", "error": None}
    ]
