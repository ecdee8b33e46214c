"""Messages as items write them, whichever spelling they came in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.json_value import JsonValue
from scorewright.telemetry.items.chat import message_objects
from scorewright.telemetry.messages import Message, ToolCall, ToolResult, message_of

TEXTS = st.text(max_size=8) | st.sampled_from(['[{"type": "text", "text": "t"}]', '[{"', "{}"])


@given(st.sampled_from(["system", "developer", "user", "human", "ai", "assistant", "tool"]), TEXTS)
def test_a_message_of_a_role_and_a_text_is_read_as_one_with_more_members(role: str, text: str):
    told = {"role": role, "content": text}
    part: JsonValue = {"type": "text", "content": text}
    more: JsonValue = {"type": "text", "content": text, "index": 0}

    assert message_of({**told}) == message_of({**told, "index": 0})
    assert message_of({"role": role, "parts": [part]}) == message_of(
        {"role": role, "parts": [more]}
    )


@given(st.sampled_from(["tool", "user", "assistant"]), TEXTS | st.none(), TEXTS | st.none())
def test_a_tool_s_message_is_read_as_one_with_more_members(
    role: str, text: str | None, call_id: str | None
):
    told = {"role": role, "content": text, "tool_call_id": call_id}

    assert message_of({**told}) == message_of({**told, "index": 0})


@pytest.mark.parametrize("odd", [None, 1, True, [], {}, ["x"]])
def test_what_is_no_role_or_no_text_makes_no_message_of_its_own(odd: JsonValue):
    assert message_of({"role": odd, "content": "x"}) is None
    assert message_of({"role": "user", "content": odd}) == message_of(
        {"role": "user", "content": odd, "index": 0}
    )
    parts: JsonValue = [{"type": "text", "content": odd}]
    assert message_of({"role": "user", "parts": parts}) == Message("user", None)


def test_results_stand_behind_a_model_s_calls_and_before_what_a_user_says():
    call, answered = ToolCall("c", "find", {"q": 1}), ToolResult("c", "found")

    of_model = message_objects([Message("assistant", "so", (call,), (answered,))])
    of_user = message_objects([Message("user", "and?", (), (answered,))])
    alone = message_objects([Message("tool", None, (), (answered,))])

    assert of_model == [
        {
            "role": "assistant",
            "content": "so",
            "tool_calls": [{"id": "c", "name": "find", "arguments": {"q": 1}}],
        },
        {"role": "tool", "content": "found", "tool_call_id": "c"},
    ]
    assert of_user == [of_model[1], {"role": "user", "content": "and?"}]
    assert alone == [of_model[1]]
