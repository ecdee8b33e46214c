"""Agents in agents: an end to what their items repeat, and nothing left out without a word."""

from __future__ import annotations

from typing import Any

from item_reading import agent, chat, said, strict, tool, trace_of, usage
from otlp_requests import span

from scorewright.telemetry.assembly import Trace
from scorewright.telemetry.items import agent_items, llm_items, trace_item
from scorewright.telemetry.summary import summarise

#: As the documentation says.
LEVELS = 8


def nested_agents(count: int) -> Trace:
    """Agents each inside the one before, all with a model call of one token."""
    spans: list[dict[str, Any]] = []
    for number in range(count):
        spans += [
            span(2 * number + 1, max(2 * number - 1, 0), attributes=agent("a")),
            span(
                2 * number + 2,
                2 * number + 1,
                attributes={**chat([said("user", f"q{number}")]), **usage(1, 0)},
            ),
        ]
    return trace_of(*spans)


def notices(trace: Trace) -> list[str]:
    return [notice for notice in summarise(trace).notices if "nested" in notice]


def test_an_agent_s_item_holds_eight_levels_of_agents_inside_it_and_counts_the_rest():
    trace = nested_agents(LEVELS + 3)

    outermost, second, third, *_ = (strict(item) for _, item in agent_items(trace))

    assert [one["spans_left_out"] for one in (outermost, second, third)] == [4, 2, 0]
    for item in (outermost, second, third):
        assert len(item["spans"]) == 2 * (LEVELS + 1)
        asked = [one["content"] for one in item["trajectory"]["messages"] if one["role"] == "user"]
        assert len(asked) == LEVELS + 1
        assert all(-1 <= one["parent"] < place for place, one in enumerate(item["spans"]))
    assert outermost["agent"]["metrics"]["token_usage"]["input_tokens"] == LEVELS + 3
    assert len(notices(trace)) == 1
    assert notices(trace)[0].startswith("agents are nested too deep")


def test_parents_behind_what_is_left_out_keep_their_places():
    deep = [span(number, number - 1, attributes=agent("a")) for number in range(1, LEVELS + 4)]
    last = 100
    trace = trace_of(*deep, span(last, 2), span(last + 1, last))

    spans = strict(next(agent_items(trace))[1])["spans"]

    assert [one["span_id"] for one in spans[-2:]] == [f"{last:016x}", f"{last + 1:016x}"]
    assert spans[spans[-1]["parent"]]["span_id"] == f"{last:016x}"
    assert spans[spans[-2]["parent"]]["span_id"] == f"{2:016x}"


def test_as_many_levels_as_real_traces_have_are_there_in_full():
    trace = nested_agents(LEVELS + 1)

    items = [strict(item) for _, item in agent_items(trace)]

    assert {item["spans_left_out"] for item in items} == {0}
    assert len(items[0]["spans"]) == 2 * (LEVELS + 1)
    assert notices(trace) == []


def test_the_item_of_a_whole_trace_leaves_nothing_out():
    item = strict(trace_item(nested_agents(3 * LEVELS)))

    assert len(item["spans"]) == 6 * LEVELS
    assert "spans_left_out" not in item
    turns = [step for step in item["trace"]["agent_trajectory"] if step["type"] == "llm"]
    assert len(turns) == 3 * LEVELS


def test_items_of_nested_agents_grow_with_the_trace_and_not_with_its_square():
    def size(count: int) -> int:
        return sum(len(item) for _, item in agent_items(nested_agents(count)))

    assert size(800) < 2.2 * size(400)


def test_items_of_nested_model_calls_grow_with_the_trace_and_not_with_its_square():
    def size(count: int) -> int:
        kinds = [chat(), tool("t")]
        spans = [span(n, n - 1, attributes=kinds[n % 2]) for n in range(1, 2 * count + 1)]
        trace = trace_of(*spans)
        assert notices(trace)[0].startswith("model calls are nested too deep")
        return sum(len(item) for _, item in llm_items(trace))

    assert size(800) < 2.2 * size(400)
