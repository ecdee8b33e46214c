"""Items of trace sources in every sandbox: what the author's code is given is the same in all of them."""

from __future__ import annotations

import json
import random
from collections.abc import Generator, Sequence
from typing import Any

import msgspec
import pytest

from daytona_stub import DaytonaStub
from remote_workbench import judge_items, outcomes, remote
from scorewright.domain.binding import Argument
from scorewright.domain.convention import Convention
from scorewright.domain.source_language import Language
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.base import Runner
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.harness.protocol import Load
from scorewright.runners.jail.supervisor import JailRunner
from trace_items import CAPITAL, a_span, an_item, encode_item
from workbench import explanation, limits, load

THREE = (
    Argument(
        name="inputs",
        how="application_input",
        paths=(("trace", "input"),),
        keyword=False,
        position=0,
    ),
    Argument(name="outputs", how="field", paths=(("trace", "output"),), keyword=False, position=1),
    Argument(name="trace", how="trace_dict", keyword=False, position=2),
)
#: Say everything that evaluate(inputs, outputs, trace) is given, each span once.
IN_PYTHON = """
import json

def tell(span):
    by_name = span.get("spans", {})
    names = {n: [s["span_id"] for s in (v if isinstance(v, list) else [v])] for n, v in by_name.items()}
    return {**span, "children": [s["span_id"] for s in span["children"]], "names": names}

def evaluate(inputs, outputs, trace):
    waiting = list(trace["spans"].values())
    roots = list(trace["spans"])
    for span in waiting:
        waiting += span["children"]
    told = [inputs, outputs, trace["trace_id"], roots, [tell(span) for span in waiting]]
    return {"score": 1, "explanation": json.dumps(told)}
"""
IN_JAVASCRIPT = """
const put = (object, name, value) => Object.defineProperty(object, name, {value, enumerable: true});

function tell(span) {
  const names = {};
  for (const [name, value] of Object.entries(span.spans ?? {})) put(names, name, [value].flat().map((s) => s.span_id));
  return {...span, children: span.children.map((s) => s.span_id), names};
}

function evaluate(inputs, outputs, trace) {
  const waiting = Object.values(trace.spans);
  for (const span of waiting) waiting.push(...span.children);
  const told = [inputs, outputs, trace.trace_id, Object.keys(trace.spans), waiting.map(tell)];
  return {score: 1, explanation: JSON.stringify(told)};
}
"""
#: Looks at what is light, and every second time at the spans as well.
LAZY = """
kept = []

def evaluate(trace: Trace) -> EvalResult:
    kept.append(trace)
    if trace.output == "look":
        names = [span.name for one in kept for span in one.spans]
        return EvalResult(score=len(trace.get_tool_steps()), explanation=" ".join(names))
    return EvalResult(score=0, explanation=trace.input)
"""
USAGES = [None, {"input_tokens": 3, "output_tokens": None, "total_tokens": 3}, {"total_tokens": 0}]


@pytest.fixture(scope="module")
def deno() -> Generator[DenoRunner]:
    runner = DenoRunner()
    yield runner
    runner.close()


def any_spans(chance: random.Random) -> list[dict[str, Any]]:
    """A few spans of any kind and place, each with some of what a span can have."""
    members: dict[str, list[Any]] = {
        "name": ["a", "b", "__proto__", "constructor", ""],
        "duration_ms": [None, 0.0, 0.1, 1234.567, 3],
        "status": ["OK", "ERROR", "UNSET"],
        "error": ["no", "ü"],
        "input": [{"q": 1}, [1], "text", False, ""],
        "output": [{"q": 1}, [], "text", 0, ""],
        "messages": [[], [{"role": "user", "content": "hi"}]],
        "completion": [[], [{"role": "assistant", "content": "yo"}]],
        "arguments": [{}, {"q": [1]}],
        "result": [0, {"hits": 2}],
        "query": ["", "why"],
        "documents": [[], [{"id": None, "content": "x", "score": 0.5}]],
        "tokens": USAGES,
        "subtree_tokens": USAGES,
        "cost_usd": [None, 0.0, 0.25],
        "subtree_cost_usd": [None, 0.0, 0.5],
        "ag": [
            {"data": {"inputs": {"x": 1}, "outputs": {"__default__": "d", "y": 1}}, "meta": {}},
            {"data": {"inputs": "x", "outputs": 0, "parameters": {"t": 1}}},
            {"type": {"trace": "annotation", "span": "chat"}, "metrics": {"unit": {"z": 1}}},
            {"type": "odd", "data": [1], "metrics": None, "__proto__": {"x": 1}},
        ],
        "attributes": [{"a.b": 1, "ag": "odd", "__proto__": 2}],
    }
    spans: list[dict[str, Any]] = []
    for number in range(chance.randint(1, 7)):
        known = {
            name: chance.choice(values) for name, values in members.items() if chance.random() < 0.4
        }
        known = {
            name: value
            for name, value in known.items()
            if value is not None or name == "subtree_cost_usd"
        }
        kind = chance.choice(["llm", "tool", "retriever", "reranker", "agent", "chain", "setup"])
        parent = chance.randint(-1, number - 1) if number else -1
        spans.append(a_span(f"{number:015x}f", parent, kind, **known))
    return spans


def any_items() -> list[Item]:
    chance = random.Random(4)  # noqa: S311 - data to try
    said = [{"q": "ü"}, "text", ["list"], 0, None]
    items = [an_item(CAPITAL, trace={"input": {"country": "France"}, "output": "Paris"})]
    items += [an_item([], traceId=None), an_item([a_span("a")], agent={"input": "x"})]
    for _ in range(30):
        asked, answered = chance.choice(said), chance.choice(said)
        totals = {"token_usage": chance.choice(USAGES), "cost_usd": chance.choice([None, 0.5])}
        said_of = {"input": asked, "output": answered}
        items.append(an_item(any_spans(chance), trace=said_of, metrics=totals))
        items.append(an_item(any_spans(chance), agent={**said_of, "metrics": totals}))
        items.append(an_item(any_spans(chance), llm={"input": [], "metrics": totals}))
    return [Item(str(number), encode_item(item)) for number, item in enumerate(items)]


def described(source: str, language: Language = "python") -> Load:
    return msgspec.structs.replace(
        load(source, timeout_s=5),
        plan=THREE,
        language=language,
        convention=Convention.INPUTS_OUTPUTS_TRACE,
        fresh_namespace=False,
    )


def told(runner: Runner, given: Load, items: Sequence[Item]) -> list[Any]:
    judged = judge_items(runner, given, items, timeout_s=5)
    return [json.loads(explanation(outcome)) for outcome in outcomes(judged)]


def test_every_sandbox_gives_the_same_three_arguments(
    jail: JailRunner, deno: DenoRunner, shared_stub: DaytonaStub
):
    items = any_items()

    in_jail = told(jail, described(IN_PYTHON), items)
    in_deno = told(deno, described(IN_JAVASCRIPT, "javascript"), items)
    with remote(shared_stub) as runner:
        far_away = told(runner, described(IN_PYTHON), items)
        in_node = told(runner, described(IN_JAVASCRIPT, "javascript"), items)

    assert in_jail[0][0] == {"country": "France"}
    assert in_jail[0][4][0]["names"] == {"retrieve": ["b"], "chat gpt-4o-mini": ["c"]}
    assert dict(enumerate(in_deno)) == dict(enumerate(in_jail))
    assert far_away == in_jail
    assert in_node == in_deno


@pytest.fixture(scope="module")
def shared_stub() -> Generator[DaytonaStub]:
    with DaytonaStub() as stub:
        yield stub


def by_one_worker(runner: Runner, given: Load, items: Sequence[Item]) -> list[str]:
    groups = execute(items, [Job(given, runner)], limits=limits(timeout_s=5), workers=1)
    return [explanation(each.outcome) for group in groups for each in group.outcomes[0]]


def lazy_load() -> Load:
    return msgspec.structs.replace(
        load(LAZY, timeout_s=5),
        plan=(Argument(name="trace", how="trace_item", keyword=False),),
        convention=Convention.TRACE_OBJECT,
        score_range=None,
        fresh_namespace=False,
    )


def test_traces_that_are_kept_over_batches_are_read_when_they_are_asked_for(jail: JailRunner):
    """By then, the memory that their items came in holds others."""
    items = [
        Item(
            str(number),
            encode_item(
                an_item(
                    [a_span("a", kind="tool", tool=f"tool{number}", input="x" * number)],
                    trace={"input": str(number), "output": "look" if number == 599 else None},
                )
            ),
        )
        for number in range(600)
    ]
    wanted = [*(str(n) for n in range(599)), " ".join(f"tool{n}" for n in range(600))]

    assert by_one_worker(jail, lazy_load(), items) == wanted


def test_every_level_has_its_object_in_a_remote_sandbox_as_well(
    jail: JailRunner, shared_stub: DaytonaStub
):
    """Modules that are imported late have to be there."""
    steps = [{"type": "user", "content": "why?"}, {"type": "llm", "content": "so"}]
    metrics = {"duration_ms": 1.5, "error": False}
    item = an_item(
        CAPITAL,
        agent={"agent_id": "a", "agent_name": "boss", "metrics": metrics},
        llm={"span_id": "l", "input": [], "output": "yo", "metrics": metrics},
        trajectory={"messages": [], "steps": steps},
    )
    source = (
        "def evaluate(trace, agent, call):\n"
        "    shown = [trace, agent, call, trace.format_evidence(), agent.format_steps()]\n"
        "    return EvalResult(score=1, explanation=repr(shown))\n"
    )
    plan = (
        Argument(name="trace", how="trace_item", keyword=False),
        Argument(name="agent", how="agent_item", keyword=False),
        Argument(name="call", how="llm_item", keyword=False),
    )
    given = msgspec.structs.replace(lazy_load(), source=source, plan=plan)
    items = [Item("1", encode_item(item))]

    here = by_one_worker(jail, given, items)
    with remote(shared_stub) as runner:
        there = by_one_worker(runner, given, items)

    assert there == here
    assert "Paris is the capital" in here[0]


def test_a_trace_of_any_depth_is_given_to_either_language(jail: JailRunner, deno: DenoRunner):
    deep = [a_span(f"{number:016x}", number - 1) for number in range(1_500)]
    items = [Item("1", encode_item(an_item(deep)))]
    count = "len(waiting)"
    python = IN_PYTHON.replace("json.dumps(told)", f"json.dumps({count})")
    script = IN_JAVASCRIPT.replace("JSON.stringify(told)", "String(waiting.length)")

    assert told(jail, described(python), items) == [1_500]
    assert told(deno, described(script, "javascript"), items) == [1_500]
