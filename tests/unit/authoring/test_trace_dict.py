"""The trace that `evaluate(inputs, outputs, trace)` is given, in both shapes that evaluators are written against."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.authoring.trace_dict import trace_dict
from trace_items import CAPITAL, TRACE_ID, a_span, an_item

KINDS = ("llm", "tool", "retriever", "agent", "chain", "span", "http", "setup")


@st.composite
def forests(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Any spans in tree order: parents before children, names shared or not."""
    spans: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 12))):
        parent = draw(st.integers(-1, number - 1)) if number else -1
        known: dict[str, Any] = {}
        if draw(st.booleans()):
            known["tokens"] = {"input_tokens": draw(st.integers(0, 9)), "output_tokens": None}
        if draw(st.booleans()):
            known["error"] = "no"
        name = draw(st.sampled_from(["a", "b", "spans", "__proto__", ""]))
        span = a_span(f"{number:016x}", parent, draw(st.sampled_from(KINDS)), **known)
        spans.append({**span, "name": name, "duration_ms": draw(st.none() | st.floats(0, 1e6))})
    return spans


def made_of(spans: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    made = trace_dict(an_item(spans, **members))
    assert made is not None
    return made


def root_of(trace: dict[str, Any]) -> dict[str, Any]:
    return next(iter(trace["spans"].values()))


def walk(trace: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every span, by `children`."""
    waiting = list(trace["spans"].values())
    while waiting:
        span = waiting.pop()
        yield span
        waiting += span["children"]


def by_names(span: dict[str, Any]) -> list[dict[str, Any]]:
    """The spans below one, by the other shape."""
    found: list[dict[str, Any]] = []
    for value in span.get("spans", {}).values():
        found += value if isinstance(value, list) else [value]
    return found


def test_the_documented_paths_lead_to_what_the_documentation_promises():
    root = root_of(made_of(CAPITAL))
    ag = root["attributes"]["ag"]

    assert (root["name"], root["status_code"]) == ("capital_app", "OK")
    assert ag["data"]["inputs"] == {"country": "France", "correct_answer": "Paris"}
    assert ag["data"]["outputs"] == "The capital is Paris"
    assert ag["data"]["parameters"] == {"temperature": 0.2}
    assert ag["metrics"]["unit"] == {
        "duration": {"total": 2.5},
        "tokens": {"prompt": 50, "completion": 20, "total": 70},
        "costs": {"total": 0.001},
    }
    assert ag["type"] == {"trace": "invocation", "span": "workflow"}
    assert ag["refs"] == {"application": {"id": "0190-app"}}
    assert root["attributes"]["service"] == "x"
    assert [child["name"] for child in root["children"]] == ["retrieve", "chat gpt-4o-mini"]


def test_the_children_of_the_documented_trace_keep_what_was_recorded():
    retrieve, chat = root_of(made_of(CAPITAL))["children"]

    assert retrieve["attributes"]["ag"]["data"]["inputs"] == {"query": "capital of France"}
    assert retrieve["attributes"]["ag"]["data"]["outputs"]["documents"][0]["content"]
    assert retrieve["attributes"]["ag"]["metrics"]["unit"] == {"duration": {"total": 0.3}}
    assert chat["attributes"]["ag"]["data"]["outputs"]["completion"][0]["content"] == "Paris"
    assert (chat["span_type"], retrieve["span_type"]) == ("chat", "query")


def test_the_other_shape_counts_in_milliseconds_and_tells_own_from_all_below():
    spans = [
        a_span("a", duration_ms=1500.0, subtree_tokens={"total_tokens": 7}, subtree_cost_usd=0.5),
        a_span("b", 0, "llm", tokens={"total_tokens": 7}, cost_usd=0.5, status="ERROR", error="x"),
    ]

    root = root_of(made_of(spans))
    metrics = root["attributes"]["ag"]["metrics"]
    below = root["spans"]["name of b"]["attributes"]["ag"]["metrics"]

    assert metrics["duration"] == {"cumulative": 1500.0}
    assert metrics["tokens"] == {"cumulative": {"total": 7}}
    assert metrics["costs"] == {"cumulative": {"total": 0.5}}
    assert metrics["errors"] == {"incremental": 0, "cumulative": 1}
    assert below["tokens"] == {"incremental": {"total": 7}, "cumulative": {"total": 7}}
    assert below["errors"] == {"incremental": 1, "cumulative": 1}
    assert root["spans"]["name of b"]["status_message"] == "x"


@pytest.mark.parametrize(
    ("kind", "known", "inputs", "outputs"),
    [
        ("llm", {"messages": [{"role": "user"}], "completion": [1]}, {"prompt": [{"role": "user"}]}, {"completion": [1]}),
        ("llm", {"input": "hi", "messages": [1], "output": "yo", "completion": [1]}, {"input": "hi"}, "yo"),
        ("tool", {"arguments": {"q": 1}, "result": [2]}, {"q": 1}, [2]),
        ("tool", {"arguments": {}, "result": 0}, {}, 0),
        ("retriever", {"query": "q", "documents": []}, {"query": "q"}, {"documents": []}),
        ("chain", {"input": [1, 2], "output": {"x": 1}}, {"input": [1, 2]}, {"x": 1}),
        ("chain", {"input": False, "output": ""}, {"input": False}, ""),
        ("http", {}, {}, None),
        ("chain", {"ag": {"data": {"inputs": "text", "outputs": 0}}, "input": {"a": 1}, "output": "x"}, {"input": "text"}, 0),
        ("chain", {"ag": {"data": "odd", "type": [], "metrics": 1}, "input": {"a": 1}}, {"a": 1}, None),
    ],
)  # fmt: skip
def test_every_span_has_inputs_as_an_object_and_outputs(
    kind: str, known: dict[str, Any], inputs: dict[str, Any], outputs: object
):
    below = root_of(made_of([a_span("a"), a_span("b", 0, kind, **known)]))["children"][0]

    assert below["attributes"]["ag"]["data"]["inputs"] == inputs
    assert below["attributes"]["ag"]["data"]["outputs"] == outputs


def test_the_root_tells_what_the_application_was_asked_where_its_span_does_not():
    asked = {"input": "why?", "output": "because"}
    spans = [a_span("a"), a_span("b")]

    first, second = made_of(spans, trace=asked)["spans"].values()
    of_agent = root_of(made_of(spans, trace=asked, agent={"input": {"q": 1}, "output": None}))

    assert first["attributes"]["ag"]["data"] == {"inputs": {"input": "why?"}, "outputs": "because"}
    assert second["attributes"]["ag"]["data"] == {"inputs": {}, "outputs": None}
    assert of_agent["attributes"]["ag"]["data"] == {"inputs": {"q": 1}, "outputs": None}


def test_the_root_has_the_totals_of_the_trace_where_its_spans_have_none():
    """A cost may come from a table of prices, which no span knows of."""
    totals = {"token_usage": {"total_tokens": 7}, "cost_usd": 0.5}
    spans = [a_span("a"), a_span("b", 0, "llm")]

    root = root_of(made_of(spans, metrics=totals))
    of_call = root_of(made_of(spans[:1], llm={"metrics": {"cost_usd": 0.25}}, metrics=totals))

    unit = root["attributes"]["ag"]["metrics"]["unit"]
    assert (unit["tokens"], unit["costs"]) == ({"total": 7}, {"total": 0.5})
    assert root["attributes"]["ag"]["metrics"]["costs"] == {"cumulative": {"total": 0.5}}
    assert "costs" not in root["children"][0]["attributes"]["ag"]["metrics"]["unit"]
    assert of_call["attributes"]["ag"]["metrics"]["unit"]["costs"] == {"total": 0.25}
    assert "tokens" not in of_call["attributes"]["ag"]["metrics"]["unit"]


def test_what_is_unknown_is_left_out_of_the_metrics():
    span = a_span("a", duration_ms=None, start_time=None, tokens={"input_tokens": 3})

    root = root_of(made_of([span]))

    assert root["attributes"]["ag"]["metrics"]["unit"] == {"tokens": {"prompt": 3}}
    assert root["start_time"] is None
    assert "parent_id" not in root
    assert "status_message" not in root


def test_siblings_of_one_name_are_a_list_under_it():
    spans = [a_span("a"), *(a_span(i, 0, name=n) for i, n in (("b", "x"), ("c", "y"), ("d", "x")))]

    root = root_of(made_of(spans))

    assert [span["span_id"] for span in root["spans"]["x"]] == ["b", "d"]
    assert root["spans"]["y"] is root["children"][1]
    assert "spans" in root
    assert "spans" not in root["children"][0]
    with pytest.raises(KeyError, match="spans"):
        root["children"][0]["spans"]
    with pytest.raises(KeyError, match="nothing"):
        root["nothing"]


def test_an_item_without_spans_has_no_trace():
    assert trace_dict({"traceId": TRACE_ID, "log": {"body": "x"}}) is None
    assert trace_dict(an_item([])) == {"trace_id": TRACE_ID, "spans": {}}


@given(forests())
def test_every_span_appears_once_under_its_parent_in_either_shape(spans: list[dict[str, Any]]):
    trace = made_of(spans)

    found = {span["span_id"]: span for span in walk(trace)}

    assert len(list(walk(trace))) == len(spans)
    for number, span in enumerate(spans):
        below = [one["span_id"] for one in spans if one["parent"] == number]
        made = found[span["span_id"]]
        assert [child["span_id"] for child in made["children"]] == below
        assert sorted(map(id, by_names(made))) == sorted(map(id, made["children"]))
        assert all(child["parent_id"] == span["span_id"] for child in made["children"])
    assert list(trace["spans"]) == [one["span_id"] for one in spans if one["parent"] < 0]


@given(forests())
def test_no_metric_is_null_and_errors_add_up(spans: list[dict[str, Any]]):
    trace = made_of(spans)

    totals = [root["attributes"]["ag"]["metrics"]["errors"]["cumulative"] for root in trace["spans"].values()]  # fmt: skip

    assert sum(totals) == sum("error" in span for span in spans)
    assert all("null" not in json.dumps(one["attributes"]["ag"]["metrics"]) for one in walk(trace))


@given(forests())
def test_no_two_spans_share_what_an_author_could_change(spans: list[dict[str, Any]]):
    trace = made_of(json.loads(json.dumps(spans)))
    for span in walk(trace):
        ag = span["attributes"]["ag"]
        ag["data"]["inputs"]["mine"] = span["span_id"]
        ag["metrics"]["unit"]["mine"] = ag["type"]["mine"] = span["span_id"]
        for sums in ag["metrics"].get("tokens", {}).values():
            assert "mine" not in sums
            sums["mine"] = span["span_id"]

    assert all(s["attributes"]["ag"]["data"]["inputs"]["mine"] == s["span_id"] for s in walk(trace))


def test_a_runaway_recursion_is_a_trace_as_any_other():
    deep = [a_span(f"{number:016x}", number - 1) for number in range(20_000)]

    trace = made_of(deep)

    assert sum(1 for _ in walk(trace)) == 20_000


def test_each_level_does_not_double_what_is_printed_and_written():
    levels = made_of([a_span(f"{number:016x}", number - 1) for number in range(40)])

    assert json.dumps(levels).count('"span_id"') == 40
    assert repr(levels).count("'span_id'") == 40
