"""Trajectories from rows: each form by its content, results with their calls, and nothing lost on the way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talks import WEATHER, call, calling, item_of, kinds_in, told, tools_in

from scorewright.domain.errors import TraceError
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.trajectories import item as item_module
from scorewright.telemetry.trajectories import trajectory_item, trajectory_of

# ── What an item says ────────────────────────────────────────────────────────────────────────────


def test_an_item_has_the_agreed_members_in_their_order():
    item = item_of({"messages": WEATHER, "expected": "clear", "session_id": "s"})

    assert list(item) == [
        *("head", "traceId", "session", "agent", "trace", "trajectory"),
        *("expected", "session_id", "spans_left_out", "spans"),
    ]
    assert item["session"] == {"id": "s"}
    assert item["traceId"] is None
    assert item["expected"] == "clear"
    assert (
        list(item["trace"])
        == (
            "trace_id name start_time end_time input output status models agents service environment metrics attributes"
        ).split()
    )


def test_question_answer_and_counts_are_those_of_the_messages():
    trace = item_of(WEATHER)["trace"]

    assert (trace["input"], trace["output"], trace["status"]) == (
        "Weather in Oslo?",
        "Clear.",
        "UNSET",
    )
    assert trace["metrics"] == {
        "total_duration_ms": None,
        "token_usage": None,
        "cost_usd": None,
        "error_count": 0,
        "has_errors": False,
        "span_count": 5,
        "llm_call_count": 2,
        "tool_call_count": 2,
    }


def test_steps_have_each_result_with_its_call():
    steps = item_of(WEATHER)["trajectory"]["steps"]

    assert steps == [
        {"type": "user", "content": "Weather in Oslo?"},
        {
            "type": "llm",
            "content": "",
            "tool_calls": [
                {"id": "c1", "name": "find", "arguments": {"q": "Oslo"}},
                {"id": "c2", "name": "sky", "arguments": {"id": 7}},
            ],
            "span_id": "step-2",
            "is_response": False,
        },
        {
            "type": "tool",
            "name": "find",
            "arguments": {"q": "Oslo"},
            "result": {"id": 7},
            "call_id": "c1",
            "error": None,
            "duration_ms": None,
            "nested": [],
        },
        {
            "type": "tool",
            "name": "sky",
            "arguments": {"id": 7},
            "result": "clear",
            "call_id": "c2",
            "error": None,
            "duration_ms": None,
            "nested": [],
        },
        {
            "type": "llm",
            "content": "Clear.",
            "tool_calls": [],
            "span_id": "step-5",
            "is_response": True,
        },
    ]


def test_messages_are_written_in_one_form():
    messages = item_of(WEATHER)["trajectory"]["messages"]

    assert [message["role"] for message in messages] == [m["role"] for m in WEATHER]
    assert messages[2] == {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c1", "name": "find", "arguments": {"q": "Oslo"}},
            {"id": "c2", "name": "sky", "arguments": {"id": 7}},
        ],
    }
    assert messages[4] == {"role": "tool", "content": '{"id":7}', "tool_call_id": "c1"}


def test_spans_stand_for_the_agent_its_model_calls_and_its_tools():
    item = item_of({"messages": WEATHER, "model": "m", "agent_name": "helper"})
    root, first, find, _, last = item["spans"]

    assert [span["parent"] for span in item["spans"]] == [-1, 0, 0, 0, 0]
    assert (root["span_id"], root["kind"], root["name"]) == ("agent", "agent", "helper")
    assert (first["span_id"], first["model"], first["status"]) == ("step-2", "m", "UNSET")
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert last["messages"] == item["trajectory"]["messages"][:-1]
    assert last["completion"] == [{"role": "assistant", "content": "Clear."}]
    assert (find["tool"], find["call_id"], find["result"]) == ("find", "c1", {"id": 7})
    assert item["agent"]["system_prompt"] == "Be brief."
    assert item["trace"]["models"] == ["m"]
    assert item["trace"]["agents"] == ["helper"]


def test_the_head_cuts_out_the_light_members():
    raw = trajectory_item(trajectory_of({"messages": [*WEATHER], "trace": 1}, Findings()))
    whole = json.loads(raw)

    light = json.loads(raw[: whole["head"]] + b"}}")

    assert raw[:18].decode() == f'{{"head":{whole["head"]:>10}'
    assert list(light) == ["head", "traceId", "session", "agent", "trace"]
    assert list(light["trace"])[-1] == "metrics"
    assert {name: whole[name] for name in light if name != "trace"} == {
        name: light[name] for name in light if name != "trace"
    }


@pytest.mark.parametrize("name", ["trace", "trajectory", "spans", "head"])
def test_a_member_called_as_one_of_an_item_is_left_out_with_a_notice(name: str):
    findings = Findings()

    item = item_of({"messages": WEATHER, name: "mine"}, findings)

    assert item[name] != "mine"
    assert any(repr(name) in notice for notice in findings.notices())


@pytest.mark.parametrize(
    ("last", "output"),
    [
        ({"role": "assistant", "content": "later"}, "later"),
        ({"role": "assistant", "content": ""}, ""),
        ({"role": "assistant", "content": None}, "Clear."),
        ({"role": "user", "content": "thanks"}, "Clear."),
        ({"role": "assistant", "content": "a", "tool_calls": [{"function": {"name": "f"}}]}, None),
    ],
)
def test_the_answer_is_the_last_text_unless_the_run_ends_in_a_call(
    last: dict[str, Any], output: str | None
):
    assert item_of([*WEATHER, last])["trace"]["output"] == output


def test_histories_are_repeated_up_to_a_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(item_module, "MAX_REPEATED_BYTES", 1_000)
    talk: list[Any] = [
        {"role": role, "content": f"{role} {number}"}
        for number in range(50)
        for role in ("user", "assistant")
    ]

    item = item_of([*talk])

    told = [span for span in item["spans"] if "messages" in span]
    assert 0 < len(told) < 50
    assert len(item["trajectory"]["messages"]) == 100


# ── Calls and results ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("talk", "tools"),
    [
        ([calling(call("a"), call("b")), told("1"), told("2")], [("a", "1"), ("b", "2")]),
        (
            [calling(call("a"), call("b")), told("2", name="b"), told("1", name="a")],
            [("a", "1"), ("b", "2")],
        ),
        (
            [calling(call("a", "x")), told("1", "x"), calling(call("b", "x")), told("2", "x")],
            [("a", "1"), ("b", "2")],
        ),
        (
            [calling(call("a", "x")), calling(call("b", "x")), told("2", "x")],
            [("a", None), ("b", "2")],
        ),
        (
            [calling(call("a", "x"), call("b", "x")), told("1", "x"), told("2", "x")],
            [("a", "1"), ("b", "2")],
        ),
        (
            [calling(call("a", "x"), call("b")), told("1", "x"), told("2", "y")],
            [("a", "1"), ("b", "2")],
        ),
        ([calling(call("a", "x")), told("1", "y")], [("a", None), ("", "1")]),
        ([told("1", "x", name="t")], [("t", "1")]),
    ],
)
def test_results_are_paired_by_id_and_by_order_where_there_is_none(
    talk: list[Any], tools: list[tuple[str, object]]
):
    found = tools_in(item_of([{"role": "user", "content": "q"}, *talk]))

    assert [(name, result) for name, _, result in found] == tools


def test_a_failed_tool_has_its_answer_as_error():
    item = item_of(
        {
            "messages": [
                {"role": "user", "content": "q"},
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "c", "name": "t", "input": {}}],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c",
                            "content": "no such city",
                            "is_error": True,
                        },
                        {"type": "text", "text": "go on"},
                    ],
                },
            ]
        }
    )

    assert kinds_in(item) == ["user", "llm", "tool", "user"]
    assert item["trajectory"]["steps"][2]["error"] == "no such city"
    assert item["trace"]["metrics"]["error_count"] == 1
    assert item["spans"][2]["status"] == "ERROR"


# ── Laws ─────────────────────────────────────────────────────────────────────────────────────────

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
IDS = st.none() | st.sampled_from(["a", "b", "c"])
CALLS = st.builds(call, st.sampled_from(["f", "g"]), IDS)
TEXTS = st.text(max_size=8)
MESSAGES: st.SearchStrategy[dict[str, Any]] = (
    st.fixed_dictionaries({"role": st.just("user"), "content": TEXTS})
    | st.fixed_dictionaries(
        {
            "role": st.just("assistant"),
            "content": st.none() | TEXTS,
            "tool_calls": st.lists(CALLS, max_size=3),
        }
    )
    | st.builds(told, TEXTS, IDS)
)
STEPS = st.lists(
    st.dictionaries(
        st.sampled_from("source message tool_calls observation metrics timestamp".split()),
        JSON_VALUES | st.sampled_from(["user", "agent"]),
    )
)
ODD_MESSAGES = st.lists(
    st.dictionaries(
        st.sampled_from("role type content data tool_calls id".split()),
        JSON_VALUES | st.sampled_from(["user", "ai", "tool", "x_call"]),
    )
)
ROWS = (
    JSON_VALUES
    | ODD_MESSAGES
    | st.fixed_dictionaries({"messages": ODD_MESSAGES, "usage": JSON_VALUES, "tools": JSON_VALUES})
    | st.fixed_dictionaries({"schema_version": st.just("ATIF-v1.7"), "steps": STEPS})
)


@given(st.lists(MESSAGES, min_size=1, max_size=12))
def test_steps_keep_the_order_and_lose_no_call_and_no_result(talk: list[dict[str, Any]]):
    raw = trajectory_item(trajectory_of([*talk], Findings()))
    item = json.loads(raw)
    steps = item["trajectory"]["steps"]
    called = [c["function"]["name"] for message in talk for c in message.get("tool_calls", ())]
    answered = [message["content"] for message in talk if message["role"] == "tool"]
    tools = [step for step in steps if step["type"] == "tool"]

    assert [step["name"] for step in tools if step["name"]] == called
    assert [s["content"] for s in steps if s["type"] == "user"] == [
        m["content"] for m in talk if m["role"] == "user"
    ]
    assert [s["content"] for s in steps if s["type"] == "llm"] == [
        m["content"] or "" for m in talk if m["role"] == "assistant"
    ]
    assert sum(step["result"] is not None for step in tools) == len(answered)
    assert len(item["trajectory"]["messages"]) == len(talk)
    assert len(item["spans"]) == item["trace"]["metrics"]["span_count"]
    assert list(json.loads(raw[: item["head"]] + b"}}")) == [
        "head",
        "traceId",
        "session",
        "agent",
        "trace",
    ]


@given(ROWS)
def test_any_row_is_an_item_or_refused(row: Any):
    try:
        trajectory = trajectory_of(row, Findings())
    except TraceError:
        return
    item = json.loads(trajectory_item(trajectory))

    assert item["trace"]["metrics"]["span_count"] == len(item["spans"])
