"""The forms of a row: each known by its content, and read for all it says."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from talks import WEATHER, Item, call, item_of, kinds_in, tools_in

from scorewright.domain.errors import TraceError
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.trajectories import rows_of, trajectory_of


def test_a_legacy_function_call_is_a_call():
    item = item_of(
        [
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "f", "arguments": '{"a": 1}'},
            },
            {"role": "function", "name": "f", "content": "1"},
        ]
    )

    assert tools_in(item) == [("f", {"a": 1}, "1")]


def test_a_system_prompt_beside_the_messages_is_the_first_message():
    row: Item = {
        "system": [{"type": "text", "text": "Be kind."}],
        "messages": WEATHER[1:],
        "tools": [],
    }

    item = item_of(row)

    assert item["agent"]["system_prompt"] == "Be kind."
    assert item["trajectory"]["messages"][0] == {"role": "system", "content": "Be kind."}


@pytest.mark.parametrize(
    "tool",
    [
        {
            "type": "function",
            "function": {"name": "f", "description": "d", "parameters": {"type": "object"}},
        },
        {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}},
        {"name": "f", "description": "d", "input_schema": {"type": "object"}},
    ],
)
def test_offered_tools_are_those_of_the_agent(tool: dict[str, Any]):
    offered = [{"name": "f", "description": "d", "parameters": {"type": "object"}}]

    assert item_of({"messages": WEATHER, "tools": [tool]})["agent"]["available_tools"] == offered


def test_calls_of_the_responses_api_belong_to_one_answer():
    item = item_of(
        {
            "instructions": "Be brief.",
            "model": "m",
            "input": "q",
            "output": [
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
                {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "b", "output": "2"},
                {"type": "function_call_output", "call_id": "a", "output": "1"},
                {
                    "type": "web_search_call",
                    "id": "w",
                    "status": "completed",
                    "action": {"query": "x"},
                },
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "done"}],
                },
            ],
            "usage": {
                "input_tokens": 10,
                "output_tokens": 2,
                "input_tokens_details": {"cached_tokens": 4},
            },
        }
    )

    assert kinds_in(item) == ["user", "llm", "tool", "tool", "llm", "tool", "llm"]
    assert tools_in(item) == [("f", {}, "1"), ("g", {}, "2"), ("web_search", {"query": "x"}, None)]
    assert item["trace"]["output"] == "done"
    assert item["agent"]["metrics"]["token_usage"] == {
        "input_tokens": 10,
        "output_tokens": 2,
        "total_tokens": 12,
        "cache_read_tokens": 4,
    }


LANGCHAIN = [
    {"type": "human", "data": {"content": "q"}},
    {
        "type": "ai",
        "data": {
            "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}],
            "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}],
            "usage_metadata": {
                "input_tokens": 5,
                "output_tokens": 1,
                "total_tokens": 6,
                "input_token_details": {"cache_read": 2},
            },
            "response_metadata": {"model_name": "m-1"},
        },
    },
    {"type": "tool", "data": {"content": "bad", "tool_call_id": "c", "status": "error"}},
    {
        "type": "ai",
        "data": {"content": "sorry", "usage_metadata": {"input_tokens": 7, "output_tokens": 2}},
    },
]


def constructor(message: dict[str, Any]) -> dict[str, Any]:
    names = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    kind = names[message["type"]]
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", kind],
        "kwargs": message["data"],
    }


@pytest.mark.parametrize(
    "row",
    [
        {"messages": LANGCHAIN},
        LANGCHAIN,
        {"messages": [constructor(message) for message in LANGCHAIN]},
        {"messages": [{"type": m["type"], **cast("Item", m["data"])} for m in LANGCHAIN]},
        {"messages": json.dumps(LANGCHAIN)},
    ],
)
def test_dumped_langchain_messages_are_read_in_every_form(row: Any):
    item = item_of(row)

    assert kinds_in(item) == ["user", "llm", "tool", "llm"]
    assert item["trajectory"]["steps"][2]["error"] == "bad"
    assert item["trajectory"]["steps"][1]["tool_calls"] == [
        {"id": "c", "name": "f", "arguments": {"a": 1}}
    ]
    assert item["trace"]["models"] == ["m-1"]
    assert item["trace"]["metrics"]["token_usage"] == {
        "input_tokens": 12,
        "output_tokens": 3,
        "total_tokens": 15,
        "cache_read_tokens": 2,
    }


def test_calls_that_langchain_keeps_only_further_in_are_found():
    message: dict[str, Any] = {
        "type": "ai",
        "content": "",
        "tool_calls": [],
        "additional_kwargs": {"tool_calls": [call("f", "c")]},
    }

    assert tools_in(item_of([{"type": "human", "content": "q"}, message])) == [("f", {}, None)]


def test_cached_tokens_of_anthropic_are_part_of_the_input():
    usage: Item = {
        "input_tokens": 3,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 2,
        "output_tokens": 1,
    }
    message: Item = {"role": "assistant", "content": "a", "usage": usage}

    tokens = item_of([{"role": "user", "content": "q"}, message])["trace"]["metrics"]["token_usage"]

    assert (tokens["input_tokens"], tokens["cache_read_tokens"], tokens["total_tokens"]) == (
        10,
        5,
        11,
    )


ATIF: dict[str, Any] = {
    "schema_version": "ATIF-v1.6",
    "session_id": "s-1",
    "agent": {
        "name": "terminal",
        "version": "2",
        "model_name": "m",
        "tool_definitions": [{"type": "function", "function": {"name": "bash"}}],
    },
    "steps": [
        {"step_id": 1, "source": "system", "message": "You are an agent."},
        {
            "step_id": 2,
            "timestamp": "2026-01-02T03:04:05Z",
            "source": "user",
            "message": "Say hello.",
        },
        {
            "step_id": 3,
            "timestamp": "2026-01-02T03:04:06Z",
            "source": "agent",
            "model_name": "m-large",
            "message": [{"type": "text", "text": "I write it."}],
            "reasoning_content": "hm",
            "tool_calls": [
                {"tool_call_id": "a", "function_name": "bash", "arguments": {"cmd": "echo"}},
                {"tool_call_id": "b", "function_name": "ask", "arguments": {}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "a", "content": "hello"},
                    {"source_call_id": "b", "subagent_trajectory_ref": [{"trajectory_id": "t"}]},
                ]
            },
            "metrics": {
                "prompt_tokens": 50,
                "completion_tokens": 5,
                "cached_tokens": 20,
                "cost_usd": 0.5,
            },
        },
        {
            "step_id": 4,
            "timestamp": "2026-01-02T03:04:08.5Z",
            "source": "agent",
            "message": "Done.",
            "metrics": {"prompt_tokens": 60, "completion_tokens": 1, "cost_usd": 0.25},
        },
    ],
    "final_metrics": {"total_prompt_tokens": 999, "total_cost_usd": 9.0},
    "expected": "hello",
}


def test_an_atif_trajectory_is_read_with_all_it_says():
    item = item_of(ATIF)
    trace = item["trace"]

    assert kinds_in(item) == ["user", "llm", "tool", "tool", "llm"]
    assert tools_in(item) == [
        ("bash", {"cmd": "echo"}, "hello"),
        ("ask", {}, {"subagent_trajectory_ref": [{"trajectory_id": "t"}]}),
    ]
    assert (trace["input"], trace["output"]) == ("Say hello.", "Done.")
    assert (trace["start_time"], trace["end_time"]) == (
        "2026-01-02T03:04:05.000000Z",
        "2026-01-02T03:04:08.500000Z",
    )
    assert trace["metrics"]["total_duration_ms"] == 3_500
    assert trace["metrics"]["cost_usd"] == 0.75
    assert trace["metrics"]["token_usage"] == {
        "input_tokens": 110,
        "output_tokens": 6,
        "total_tokens": 116,
        "cache_read_tokens": 20,
    }
    assert trace["models"] == ["m-large", "m"]
    assert item["session"] == {"id": "s-1"}
    assert item["agent"]["agent_name"] == "terminal"
    assert item["agent"]["available_tools"] == [
        {"name": "bash", "description": None, "parameters": {}}
    ]
    assert item["spans"][0]["subtree_cost_usd"] == 0.75
    assert item["expected"] == "hello"


def test_the_final_metrics_count_where_no_step_tells():
    steps: list[Any] = [{k: v for k, v in step.items() if k != "metrics"} for step in ATIF["steps"]]

    item = item_of({**ATIF, "steps": steps})

    assert item["trace"]["metrics"]["token_usage"]["input_tokens"] == 999
    assert item["trace"]["metrics"]["cost_usd"] == 9.0
    assert (item["spans"][0]["cost_usd"], "subtree_cost_usd" in item["spans"][0]) == (9.0, False)


def test_a_cost_that_one_of_the_steps_does_not_tell_is_that_of_the_final_metrics_or_unknown():
    *before, last = ATIF["steps"]
    steps: list[Any] = [*before, {**last, "metrics": {"prompt_tokens": 60, "completion_tokens": 1}}]

    told = item_of({**ATIF, "steps": steps})
    untold = item_of({**ATIF, "steps": steps, "final_metrics": {}})

    assert (told["trace"]["metrics"]["cost_usd"], told["agent"]["metrics"]["cost_usd"]) == (
        9.0,
        9.0,
    )
    assert untold["trace"]["metrics"]["cost_usd"] is None
    assert untold["trace"]["metrics"]["token_usage"]["input_tokens"] == 110


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({}, "needed is an ATIF trajectory with steps, .* this is an empty object"),
        ({"question": "q", "answer": "a"}, "this is an object with answer, question"),
        ([], "an empty list"),
        ([1], "a list of something else"),
        (7, "neither an object nor a list"),
        ({"messages": []}, "holds no message"),
        ({"messages": [{"a": 1}]}, "holds no message"),
        ({"schema_version": "ATIF-v1.4", "steps": []}, "holds no step"),
        ({"role": "user", "content": "q"}, "a single message; put the messages of one trajectory"),
    ],
)
def test_a_row_in_none_of_the_forms_is_refused_by_its_reason(row: Any, reason: str):
    with pytest.raises(TraceError, match=reason):
        trajectory_of(row, Findings())


def test_a_row_nested_too_deeply_is_refused():
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]

    with pytest.raises(TraceError, match="nested more than 100 levels deep"):
        trajectory_of({"messages": WEATHER, "more": deep}, Findings())


def test_what_is_no_message_is_counted_and_costs_no_other():
    findings = Findings()

    item = item_of([WEATHER[1], 7, {"a": 1}, WEATHER[5]], findings)

    assert kinds_in(item) == ["user", "llm"]
    assert list(findings.notices()) == [
        "an item among messages that is no message was left out (2 times)"
    ]


def test_a_list_is_one_row_when_it_is_a_talk_and_several_otherwise():
    assert rows_of(WEATHER) is None
    assert rows_of({"messages": []}) is None
    assert rows_of([{"messages": []}, WEATHER]) == [{"messages": []}, WEATHER]
    assert rows_of([["user", "q"], ["assistant", "a"]]) is None
