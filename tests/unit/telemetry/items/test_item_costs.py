"""What spans, agents and model calls cost: the rule of the whole trace, told of each part."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from item_reading import agent, chat, strict, tool, trace_of, usage
from otlp_requests import span

from scorewright.authoring.from_item import (
    agent_trace_from_item,
    llm_span_from_item,
    trace_from_item,
)
from scorewright.authoring.spans import AgentSpan, LLMSpan
from scorewright.authoring.trace_dict import trace_dict
from scorewright.telemetry.items import agent_items, llm_items, trace_item
from scorewright.telemetry.summary import summarise

#: 2.50 dollars a million tokens in and 10 a million out: 0.0035 dollars.
PRICED: dict[str, object] = {
    **chat(),
    **usage(1000, 100),
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o",
}
UNPRICED: dict[str, object] = {**PRICED, "gen_ai.request.model": "nobody-sells-this"}
KINDS: list[dict[str, object]] = [{}, agent("a"), tool("t"), chat(), PRICED, UNPRICED]
#: Of each span: its kind, the span around it or none, and its reported cost.
SHAPES = st.lists(
    st.tuples(
        st.sampled_from(range(len(KINDS))),
        st.none() | st.integers(0, 9),
        st.none() | st.floats(0, 1e300, allow_nan=False),
    ),
    min_size=1,
    max_size=10,
)


def reported(cost_usd: float) -> dict[str, object]:
    return {"gen_ai.usage.cost": cost_usd}


def shaped(shape: list[tuple[int, int | None, float | None]]) -> list[dict[str, Any]]:
    spans: list[dict[str, Any]] = []
    for number, (kind, parent, cost) in enumerate(shape, 1):
        around = 0 if parent is None or number == 1 else 1 + parent % (number - 1)
        costs = {} if cost is None else reported(cost)
        spans.append(span(number, around, attributes={**KINDS[kind], **costs}))
    return spans


def cost_with_all_below(one: dict[str, Any]) -> float | None:
    return one.get("subtree_cost_usd", one.get("cost_usd"))


@given(SHAPES)
def test_the_cost_of_the_only_root_is_that_of_the_trace(
    shape: list[tuple[int, int | None, float | None]],
):
    trace = trace_of(*shaped([(kind, parent or 0, cost) for kind, parent, cost in shape]))

    item = strict(trace_item(trace))

    assert cost_with_all_below(item["spans"][0]) == item["trace"]["metrics"]["cost_usd"]
    assert item["trace"]["metrics"]["cost_usd"] == summarise(trace).cost_usd


@given(SHAPES)
def test_agents_and_model_calls_cost_what_their_spans_do_in_the_trace(
    shape: list[tuple[int, int | None, float | None]],
):
    trace = trace_of(*shaped(shape))
    spans = {one["span_id"]: one for one in strict(trace_item(trace))["spans"]}

    for span_id, item in agent_items(trace):
        told = strict(item)["agent"]["metrics"]["cost_usd"]
        assert told == cost_with_all_below(spans[span_id])
    for span_id, item in llm_items(trace):
        assert strict(item)["llm"]["metrics"]["cost_usd"] == spans[span_id].get("cost_usd")


def test_calls_that_report_no_cost_have_that_of_the_price_table_everywhere():
    trace = trace_of(
        span(1),
        span(2, 1, attributes=agent("a")),
        span(3, 2, attributes=PRICED),
        span(4, 2, attributes={**PRICED, **reported(0.1)}),
    )

    item = strict(trace_item(trace))
    (_, of_agent), (_, first), (_, second) = *agent_items(trace), *llm_items(trace)
    made = trace_from_item(item, lambda: item)

    assert [(one.get("cost_usd"), one.get("subtree_cost_usd")) for one in item["spans"]] == [
        (None, 0.1035),
        (None, 0.1035),
        (0.0035, None),
        (0.1, None),
    ]
    costs = [one.metrics.cost_usd for one in made.spans if isinstance(one, AgentSpan | LLMSpan)]
    assert costs == [0.1035, 0.0035, 0.1]
    assert agent_trace_from_item(strict(of_agent), dict).metrics.cost_usd == 0.1035
    assert llm_span_from_item(strict(first)).metrics.cost_usd == 0.0035
    assert llm_span_from_item(strict(second)).metrics.cost_usd == 0.1


def test_costs_are_added_as_people_would():
    calls = [span(number, 1, attributes={**chat(), **reported(0.1)}) for number in range(2, 12)]

    item = strict(trace_item(trace_of(span(1), *calls)))

    assert item["trace"]["metrics"]["cost_usd"] == 1.0
    assert item["spans"][0]["subtree_cost_usd"] == 1.0


def test_a_call_that_another_s_cost_holds_for_has_none_of_its_own():
    trace = trace_of(
        span(1, attributes={**agent("a"), **reported(0.2)}), span(2, 1, attributes=PRICED)
    )

    around, call = strict(trace_item(trace))["spans"]

    assert (around["cost_usd"], "subtree_cost_usd" in around) == (0.2, False)
    assert not {"cost_usd", "subtree_cost_usd"} & {*call}


def test_a_cost_that_is_unknown_in_part_is_unknown_as_a_whole_beside_what_the_span_itself_reports():
    trace = trace_of(
        span(1, attributes={**agent("a"), **reported(0.2)}),
        span(2, 1, attributes={**chat(), **reported(0.1)}),
        span(3, 1, attributes=UNPRICED),
    )

    item = strict(trace_item(trace))
    (made,) = [one for one in trace_from_item(item, lambda: item).spans if one.kind == "agent"]
    written = trace_dict(item)

    assert (item["spans"][0]["cost_usd"], item["spans"][0]["subtree_cost_usd"]) == (0.2, None)
    assert isinstance(made, AgentSpan)
    assert made.metrics.cost_usd is None
    assert written is not None
    assert (
        "costs"
        not in json.loads(json.dumps(written))["spans"]["0000000000000001"]["attributes"]["ag"][
            "metrics"
        ]["unit"]
    )


def test_the_cost_of_several_roots_is_known_when_that_of_each_is():
    roots = [span(1, attributes=PRICED), span(2, attributes={**chat(), **reported(0.5)}), span(3)]

    assert strict(trace_item(trace_of(*roots)))["trace"]["metrics"]["cost_usd"] == 0.5035
    unpriced = strict(trace_item(trace_of(*roots, span(4, attributes=UNPRICED))))
    assert unpriced["trace"]["metrics"]["cost_usd"] is None


def test_costs_of_a_deep_trace_are_found():
    depth = 10_000
    spans = [span(1), *(span(number, number - 1) for number in range(2, depth))]

    item = strict(trace_item(trace_of(*spans, span(depth, depth - 1, attributes=PRICED))))

    assert item["spans"][0]["subtree_cost_usd"] == 0.0035
