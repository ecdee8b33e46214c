"""Items of the real traces that facts were written down for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from item_reading import light, strict

from scorewright.sources.trace_files import read_traces
from scorewright.telemetry.assembly import Trace, assemble
from scorewright.telemetry.items import agent_items, llm_items, trace_item

CASES = Path(__file__).parents[4].parent / "shared" / "cases"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="needs the cases beside the repository")

NUMBERS = [2, 3, 6, 31, 36, 42, 44, 47]


def facts(number: int) -> dict[str, Any]:
    return json.loads((CASES / f"case_{number:03}.expect.json").read_text(encoding="utf-8"))


def case(number: int) -> Trace:
    (trace,) = assemble(read_traces(CASES / f"case_{number:03}.otlp.json").spans)
    return trace


def whole(number: int) -> dict[str, Any]:
    return strict(trace_item(case(number)))


def steps(number: int) -> list[dict[str, Any]]:
    return whole(number)["trace"]["agent_trajectory"]


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return [one["name"] if one["type"] == "tool" else one["type"] for one in found]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_light_part_has_what_the_facts_tell(number: int):
    known, told = facts(number), light(trace_item(case(number)))["trace"]

    want = {name: known["tokens"][name] for name in ("input", "output", "total")}
    got = told["metrics"]["token_usage"]
    assert {name: got[f"{name}_tokens"] for name in want} == want
    assert told["models"] == known["models"]
    assert told["metrics"]["llm_call_count"] == known["llm_calls"]
    assert told["metrics"]["tool_call_count"] == len(known["tool_calls"])
    assert told["metrics"]["span_count"] == known["spans"]


@pytest.mark.parametrize("number", NUMBERS)
def test_tools_are_those_of_the_facts(number: int):
    known, told = facts(number)["tool_calls"], whole(number)["trace"]["tool_context"]

    assert [(one["name"], one["arguments"]) for one in told] == [
        (one["name"], one["arguments"]) for one in known
    ]
    assert [one["error"] for one in told] == [one["error"] or None for one in known]


@pytest.mark.parametrize("number", NUMBERS)
def test_every_model_call_is_an_item(number: int):
    assert len(list(llm_items(case(number)))) == facts(number)["llm_calls"]


@pytest.mark.parametrize("number", [2, 31])
def test_an_agent_asks_calls_its_tool_and_answers(number: int):
    found = steps(number)

    assert kinds(found) == ["user", "llm", "get_weather", "llm"]
    assert found[1]["tool_calls"][0]["arguments"] == found[2]["arguments"]
    assert found[1]["tool_calls"][0]["id"] == found[2]["call_id"]
    assert found[2]["result"] == facts(number)["tool_calls"][0]["result"]
    assert [one.get("is_response") for one in found] == [None, False, None, True]


def test_002_the_agent_has_the_instructions_of_its_model_call_and_the_same_steps():
    ((_, item),) = agent_items(case(2))
    found = strict(item)

    assert found["agent"]["system_prompt"].startswith("You are a helpful assistant.")
    assert found["agent"]["metrics"]["cost_usd"] == pytest.approx(facts(2)["cost"])
    assert found["trajectory"]["steps"] == steps(2)
    roles = [one["role"] for one in found["trajectory"]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant"]


def test_003_two_calls_of_one_name_keep_their_own_result_and_error():
    found = steps(3)

    assert kinds(found) == ["user", "llm", "get_weather", "get_weather", "llm"]
    assert [(one["result"], one["error"]) for one in found[2:4]] == [
        ("rainy, 57°F", None),
        (None, "TimeoutError"),
    ]


def test_006_the_specialist_and_its_tools_are_nested_in_the_tool_that_asks_it():
    found = steps(6)

    assert kinds(found) == ["user", "llm", "ask_math_specialist", "llm"]
    (specialist,) = found[2]["nested"]
    assert (specialist["kind"], specialist["agent_name"]) == ("agent", "math_specialist")
    assert kinds(specialist["steps"]) == [
        "user", "llm", "multiply_numbers", "divide_numbers", "llm", "divide_numbers", "llm",
    ]  # fmt: skip
    assert specialist["output"] == found[2]["result"]


def test_006_agents_in_agents_are_items_of_their_own_with_what_each_took():
    found = [strict(item) for _, item in agent_items(case(6))]

    names = [one["agent"]["agent_name"] for one in found]
    assert names == ["Agent workflow", "coordinator", "math_specialist"]
    used = [one["agent"]["metrics"]["token_usage"]["input_tokens"] for one in found]
    assert used == [1228, 1228, 704]
    assert [len(one["spans"]) for one in found] == [19, 17, 10]
    assert found[2]["trajectory"]["steps"] == steps(6)[2]["nested"][0]["steps"]


def test_036_a_conversation_behind_a_web_server_has_its_question_and_answer():
    found = steps(36)

    assert kinds(found) == ["user", "llm"]
    assert found[0]["content"] == facts(36)["input"]
    assert list(agent_items(case(36))) == []


def test_042_the_sums_of_the_root_do_not_count_its_own_repetition():
    root, _, model_call = whole(42)["spans"]

    assert root["subtree_tokens"] == root["tokens"] == model_call["tokens"]
    assert root["subtree_cost_usd"] == 0.001
    assert root["ag"]["data"]["outputs"] == "The capital is Paris"
    assert root["ag"]["data"]["parameters"] == {"temperature": 0.2}
    assert root["ag"]["metrics"]["unit"]["tokens"]["total"] == 70


@pytest.mark.parametrize("number", [42, 44, 47])
def test_a_search_is_a_step_and_its_passages_are_told(number: int):
    told = whole(number)["trace"]
    found = told["rag_retrieval_documents"]

    assert "retrieval" in kinds(told["agent_trajectory"])
    if number != 42:
        assert told["rag_retrieval_queries"] == [facts(number)["retrieval_query"]]
        assert [one["content"] for one in found] == facts(number)["retrieval_docs"]
    passages = [one["content"] for one in found if one["content"] is not None]
    assert told["rag_context"] == "\n\n".join(passages)
    assert told["rag_llm_output"] == facts(number)["output"]


def test_044_a_score_of_zero_and_a_missing_text_stay():
    assert whole(44)["trace"]["rag_retrieval_documents"][2] == {
        "id": "d3",
        "content": None,
        "score": 0,
    }
