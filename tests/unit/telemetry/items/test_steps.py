"""Steps of agents and traces: what is one, in which order, and what is nested."""

from __future__ import annotations

import msgspec
from item_reading import agent, called, chat, returned, said, strict, tool, trace_of
from otlp_requests import span

from scorewright.domain.json_value import JsonObject
from scorewright.telemetry.assembly import Trace
from scorewright.telemetry.items import agent_items, steps_of, trace_item


def told(steps: list[JsonObject]) -> list[tuple[object, ...]]:
    """Shorten steps to their kind and what they say."""
    names = {"user": ("content",), "llm": ("content", "is_response"), "tool": ("name", "result")}
    return [(step["type"], *(step[name] for name in names[str(step["type"])])) for step in steps]


ASKED = said("user", "q")
CALLED = called(("c1", "look", {"for": 1}))
RETURNED = returned("c1", "found")
ANSWERED = said("assistant", "a")
RUN = [
    ("user", "q"),
    ("llm", "", False),
    ("tool", "look", "found"),
    ("llm", "a", True),
]


def test_model_turns_and_tools_stand_in_order_of_time_behind_the_question():
    trace = trace_of(
        span(1, attributes=agent("x")),
        span(4, 1, attributes=chat([ASKED, CALLED, RETURNED], ANSWERED)),
        span(3, 1, attributes=tool("look", "c1")),
        span(2, 1, attributes=chat([ASKED], CALLED)),
    )

    assert told(steps_of(trace, 0)) == RUN
    assert steps_of(trace) == steps_of(trace, 0)
    assert steps_of(trace)[2]["arguments"] == {"for": 1}
    assert steps_of(trace)[2]["call_id"] == "c1"


def test_where_tools_have_no_spans_the_messages_tell_them_once():
    trace = trace_of(
        span(1, attributes=agent("x")),
        span(2, 1, attributes=chat([ASKED], CALLED)),
        span(3, 1, attributes=chat([ASKED, CALLED, RETURNED], ANSWERED)),
    )

    assert told(steps_of(trace)) == RUN
    assert told(steps_of(trace, 0)) == RUN


def test_a_call_that_only_a_history_tells_stands_before_the_turn_that_has_it():
    trace = trace_of(span(2, attributes=chat([ASKED, CALLED, RETURNED], ANSWERED)))

    assert told(steps_of(trace)) == [RUN[0], RUN[2], RUN[3]]


def test_an_agent_does_not_take_over_the_calls_of_a_history_that_is_not_its_own():
    trace = trace_of(
        span(1),
        span(2, 1, attributes=agent("first")),
        span(3, 2, attributes=chat([ASKED], CALLED)),
        span(4, 1, attributes=agent("second")),
        span(5, 4, attributes=chat([ASKED, CALLED, RETURNED], ANSWERED)),
    )

    assert told(steps_of(trace, 1)) == RUN[:3]
    assert told(steps_of(trace, 3)) == [RUN[0], RUN[3]]
    assert told(steps_of(trace)) == RUN


def test_where_no_model_call_is_recorded_the_agents_messages_tell_the_steps():
    talk = [said("system", "s"), ASKED, CALLED, RETURNED, ANSWERED]
    trace = trace_of(
        span(1, attributes={"pydantic_ai.all_messages": talk, "final_result": "a"}),
    )

    assert told(steps_of(trace, 0)) == RUN
    assert told(steps_of(trace)) == RUN


def test_tools_that_messages_name_keep_what_their_spans_know():
    talk = [ASKED, CALLED, RETURNED, ANSWERED]
    trace = trace_of(
        span(1, attributes={"pydantic_ai.all_messages": talk, "final_result": "a"}),
        span(2, 1, attributes=tool("look", "c1")),
        span(3, 1, attributes=tool("unmentioned")),
    )

    steps = steps_of(trace)

    assert told(steps) == [*RUN[:3], ("tool", "unmentioned", None), RUN[3]]
    assert steps[2]["duration_ms"] == 1.0


def test_what_a_tool_does_inside_is_nested_in_it_and_no_step_of_the_agent():
    trace = trace_of(
        span(1, attributes=agent("outer")),
        span(2, 1, attributes=chat([ASKED], CALLED)),
        span(3, 1, attributes=tool("look", "c1")),
        span(4, 3, attributes=agent("inner")),
        span(5, 4, attributes=chat([said("user", "inner q")], said("assistant", "inner a"))),
        span(6, 3, attributes=chat([said("user", "alone")], said("assistant", "b"))),
        span(7, 1, attributes=chat([ASKED, CALLED, RETURNED], ANSWERED)),
    )

    steps = steps_of(trace, 0)

    assert told(steps) == RUN
    nested = msgspec.convert(steps[2]["nested"], list[dict[str, object]])
    assert [(one["kind"], one["output"]) for one in nested] == [("agent", "inner a"), ("llm", "b")]
    assert nested[0]["agent_name"] == "inner"
    inner = msgspec.convert(nested[0]["steps"], list[dict[str, object]])
    assert [one.get("content") for one in inner] == ["inner q", "inner a"]


def test_nesting_ends_after_four_levels():
    spans = [span(1, attributes=agent("a"))]
    for number in range(2, 16, 2):
        spans.append(span(number, number - 1, attributes=tool(f"t{number}")))
        spans.append(span(number + 1, number, attributes=agent(f"a{number}")))
    trace = trace_of(*spans)

    levels = 0
    steps = steps_of(trace)
    while nested := msgspec.convert(steps[-1]["nested"], list[dict[str, object]]):
        levels += 1
        steps = msgspec.convert(nested[0]["steps"], list[JsonObject])

    assert levels == 4


def test_a_retrieval_is_a_step_unless_a_tool_is_around_it():
    search: dict[str, object] = {
        "openinference.span.kind": "RETRIEVER",
        "input.value": "what",
        "retrieval.documents.0.document.content": "p",
        "retrieval.documents.0.document.score": 0.0,
    }
    trace = trace_of(
        span(1, attributes=agent("x")),
        span(2, 1, attributes=search),
        span(3, 2, attributes=search),
        span(4, 1, attributes=tool("look")),
        span(5, 4, attributes=search),
    )

    steps = steps_of(trace)

    found = [{"id": None, "content": "p", "score": 0.0}]
    assert told(steps) == [("tool", "retrieval", found), ("tool", "look", None)]
    assert steps[0]["arguments"] == {"query": "what"}


def response_of(trace: Trace) -> list[bool]:
    return [step["is_response"] is True for step in steps_of(trace) if step["type"] == "llm"]


def test_a_run_that_ended_by_asking_for_a_tool_has_no_response():
    trace = trace_of(
        span(2, attributes=chat([ASKED], said("assistant", "let me think"))),
        span(3, attributes=chat([ASKED], CALLED)),
    )

    assert response_of(trace) == [False, False]


def test_a_wrapper_of_a_model_call_is_no_turn():
    trace = trace_of(
        span(1, attributes=chat([ASKED], ANSWERED)), span(2, 1, attributes=chat([ASKED], ANSWERED))
    )

    (turn,) = [step for step in steps_of(trace) if step["type"] == "llm"]
    assert turn["span_id"] == f"{2:016x}"


def test_a_turn_of_which_nothing_is_recorded_is_unknown_and_one_without_text_is_empty():
    trace = trace_of(span(1, attributes=chat([ASKED])), span(2, attributes=chat([ASKED], CALLED)))

    assert [step["content"] for step in steps_of(trace) if step["type"] == "llm"] == [None, ""]


def test_a_trace_has_as_many_tool_steps_as_tool_calls():
    trace = trace_of(
        span(1, attributes=agent("x")),
        span(2, 1, attributes=chat([ASKED], called(("c1", "f", {}), ("c2", "g", {})))),
        span(3, 1, attributes=chat([returned("c2", "2"), returned("c1", "1")], ANSWERED)),
    )

    whole = strict(trace_item(trace))["trace"]

    steps = [one for one in whole["agent_trajectory"] if one["type"] == "tool"]
    assert [one["result"] for one in steps] == ["1", "2"]
    assert [one["name"] for one in steps] == [one["name"] for one in whole["tool_context"]]


def test_the_messages_of_an_agent_are_told_once_though_histories_repeat_them_in_other_pieces():
    both = called(("c1", "f", {"a": 1}), ("c2", "f", {"a": 2}), text="t")
    pieces = [said("assistant", "t"), called(("c1", "f", {"a": 1})), called(("c2", "f", {"a": 2}))]
    answers = [returned("c1", "1"), returned("c2", "2")]
    trace = trace_of(
        span(1, attributes=agent("x")),
        span(2, 1, attributes=chat([said("system", "s"), ASKED], both)),
        span(3, 1, attributes=chat([said("system", "s"), ASKED, *pieces, *answers], ASKED)),
        span(4, 1, attributes=chat([ASKED, *pieces, *answers, ASKED], ANSWERED)),
    )

    (item,) = [strict(item) for _, item in agent_items(trace)]

    messages = item["trajectory"]["messages"]
    assert [(one["role"], one["content"]) for one in messages] == [
        ("system", "s"),
        ("user", "q"),
        ("assistant", "t"),
        ("tool", "1"),
        ("tool", "2"),
        ("user", "q"),
        ("assistant", "a"),
    ]
    assert [call["id"] for call in messages[2]["tool_calls"]] == ["c1", "c2"]
