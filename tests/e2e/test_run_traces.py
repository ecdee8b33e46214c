"""Evaluators over traces and conversations: every convention, every level, filters, samples, and going on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from command_line import CommandLine, Finished
from scorewright import evaluate
from scorewright.domain.errors import UsageError
from traced import agent_trace, export, model_call, request, said, span, tool_call

SOURCES = {
    "mapped.py": "def evaluate(input, output, context=None, model='none'):\n"
    "    return {'score': float(bool(context)), 'explanation': f'{input}|{output}|{model}'}\n",
    "agenta.py": "def evaluate(inputs, outputs, trace):\n"
    "    root = list(trace['spans'].values())[0]\n"
    "    unit = root['attributes']['ag']['metrics']['unit']\n"
    "    return {'tokens': unit['tokens']['total'], 's': unit['duration']['total'],\n"
    "            'children': len(root['children']), 'asked': inputs['input'], 'said': outputs}\n",
    "agenta.js": "function evaluate(inputs, outputs, trace) {\n"
    "  const root = Object.values(trace.spans)[0], unit = root.attributes.ag.metrics.unit\n"
    "  return { tokens: unit.tokens.total, s: unit.duration.total, children: root.children.length,\n"
    "           asked: inputs.input, said: outputs }\n"
    "}\nmodule.exports = evaluate\n",
    "whole.py": "def evaluate(trace: Trace) -> EvalResult:\n"
    "    if not trace.output:\n"
    "        return EvalResult.skip('No output to evaluate')\n"
    "    steps = trace.get_tool_steps()\n"
    "    return EvalResult(score=1.0 if steps else 0.0, explanation=steps[0].tool_name if steps else '')\n",
    "agent.py": "def evaluate(agent_trace: AgentTrace) -> EvalResult:\n"
    "    return EvalResult(score=len(agent_trace.steps) / 10, explanation=agent_trace.agent_name)\n",
    "call.py": "def evaluate(llm_span: LLMSpan, word: str = 'boots') -> EvalResult:\n"
    "    asked = llm_span.get_user_messages()[0].content\n"
    "    return EvalResult(score=float(word in asked), explanation=llm_span.output or 'nothing')\n",
}
SESSION = "gen_ai.conversation.id"
TRACES = [agent_trace(n, asked=f"Which boots? {n}", answered=f"Number {n}.") for n in range(1, 6)]


@pytest.fixture
def workshop(cli: CommandLine) -> CommandLine:
    for name, text in SOURCES.items():
        cli.write(name, text)
    cli.write("traces.jsonl", export(*TRACES))
    return cli


def run(cli: CommandLine, *arguments: str) -> Finished:
    return cli("run", *arguments, "--format", "json", "--out", "results.jsonl")


def results(cli: CommandLine, evaluator: str | None = None) -> list[dict[str, Any]]:
    found = cli.results("results.jsonl")
    return [one for one in found if evaluator in (None, one["evaluator"])]


def trace_id(number: int) -> str:
    return f"{number:032x}"


# ── What evaluators see ──────────────────────────────────────────────────────────────────────────


def test_every_convention_reads_a_trace_without_any_mapping(workshop: CommandLine):
    done = run(
        workshop, "mapped.py", "agenta.py", "agenta.js", "whole.py", "--data", "traces.jsonl"
    )

    assert (done.code, done.stderr) == (0, "")
    assert [one["scored"] for one in done.document["summary"]] == [5, 5, 5, 5]
    (mapped,) = [one for one in results(workshop, "mapped") if one["item_id"] == trace_id(2)]
    assert (mapped["score"], mapped["explanation"]) == (1.0, "Which boots? 2|Number 2.|none")
    told = {"tokens": 30, "s": 0.04, "children": 3, "asked": "Which boots? 1", "said": "Number 1."}
    assert results(workshop, "agenta")[0]["metrics"] == told
    assert results(workshop, "agenta-2")[0]["metrics"] == told
    assert results(workshop, "whole")[0]["explanation"] == "search"


def test_evaluators_of_all_levels_run_together_each_over_its_own_items(workshop: CommandLine):
    done = run(workshop, "whole.py", "agent.py", "call.py", "--data", "traces.jsonl")

    assert (done.code, done.stderr) == (0, "")
    document = done.document
    assert (document["source"], document["items"], document["complete"]) == ("traces", 20, True)
    levels = [(one["level"], one["item_level"]) for one in document["evaluators"]]
    assert levels == [("trace", "trace"), ("agent", "agent"), ("llm", "llm")]
    assert [one["scored"] for one in document["summary"]] == [5, 5, 10]
    first = [(one["item_id"], one["evaluator"]) for one in results(workshop)[:4]]
    assert first == [
        (trace_id(1), "whole"),
        (f"{trace_id(1)}/{101:016x}", "agent"),
        (f"{trace_id(1)}/{102:016x}", "call"),
        (f"{trace_id(1)}/{104:016x}", "call"),
    ]


@pytest.mark.parametrize(
    ("level", "items", "explanation"),
    [
        ("trace", 5, "Which boots? 1|Number 1.|none"),
        ("agent", 5, "Which boots? 1|Number 1.|none"),
    ],
)
def test_a_level_decides_what_mapped_variables_are_read_from(
    level: str, items: int, explanation: str, workshop: CommandLine
):
    done = run(workshop, "mapped.py", "--data", "traces.jsonl", "--level", level)

    assert (done.code, done.document["items"]) == (0, items)
    assert results(workshop)[0]["explanation"] == explanation


def test_model_calls_can_be_mapped_field_by_field(workshop: CommandLine):
    done = run(
        *(workshop, "mapped.py", "--data", "traces.jsonl", "--level", "llm"),
        *("--map", "input=llm.input[1].content", "--map", "model=llm.model"),
    )

    assert (done.code, done.document["items"]) == (0, 10)
    assert results(workshop)[0]["explanation"] == "Which boots? 1|I look.|gpt-test"


def test_attributes_are_mapped_by_their_own_names_and_a_wrong_one_is_refused(
    workshop: CommandLine,
):
    known = "trace.attributes.gen_ai.agent.name"
    done = run(workshop, "mapped.py", "--data", "traces.jsonl", "--map", f"model={known}")
    wrong = run(workshop, "mapped.py", "--data", "traces.jsonl", "--map", f"model={known[:-1]}")

    assert results(workshop)[0]["explanation"].endswith("|seller")
    assert (done.code, wrong.code) == (0, 2)
    assert f'there is no field "{known[:-1]}" (did you mean "{known}"?)' in wrong.stderr


def test_traces_without_an_agent_are_no_skips_but_said(workshop: CommandLine):
    workshop.write("traces.jsonl", export(TRACES[0], [span(9, 1, "GET /")]))

    done = run(workshop, "agent.py", "--data", "traces.jsonl")

    assert done.code == 0
    assert (done.document["items"], done.summary["skipped"]) == (1, 0)
    (notice,) = done.document["notices"]
    assert "traces without any agent span: 1 of 2" in notice["message"]
    assert notice["message"] in done.stderr


def test_a_trace_that_only_sets_an_agent_up_is_not_judged(workshop: CommandLine):
    setup = [span(7, 1, "create_agent", 0, {"gen_ai.operation.name": "create_agent"})]
    workshop.write("traces.jsonl", export(TRACES[0], setup))

    done = run(workshop, "whole.py", "--data", "traces.jsonl")

    assert (done.code, done.document["items"]) == (0, 1)
    assert "only set an agent up: 1" in done.document["notices"][0]["message"]


def test_an_answer_that_was_not_recorded_is_a_skip(workshop: CommandLine):
    workshop.write("traces.jsonl", export(agent_trace(1, answered="")))

    assert run(workshop, "whole.py", "--data", "traces.jsonl").summary["skipped"] == 1


# ── Conversations ────────────────────────────────────────────────────────────────────────────────

TURNS = (
    "def evaluate(turns, output, number=0):\n"
    "    told = [one.get('input') for one in turns]\n"
    "    return {'score': len(turns), 'explanation': f'{told}|{output}|{number}'}\n"
)


@pytest.fixture
def talks(cli: CommandLine) -> CommandLine:
    cli.write("turns.py", TURNS)
    for name, text in SOURCES.items():
        cli.write(name, text)
    cli.write(
        "traces.jsonl",
        export(
            agent_trace(3, asked="And in blue?", answered="No.", **{SESSION: "s-1"}),
            agent_trace(2, asked="Alone?", answered="Yes."),
            agent_trace(1, asked="Boots?", answered="Red.", **{SESSION: "s-1"}),
        ),
    )
    return cli


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "[None, 'And in blue?']|No.|2"),
        (["--previous-turns"], "['Boots?', 'And in blue?']|No.|2"),
    ],
)
def test_a_session_is_one_item_with_or_without_its_earlier_turns(
    options: list[str], told: str, talks: CommandLine
):
    done = run(
        *(talks, "turns.py", "--data", "traces.jsonl", "--source", "conversations", *options),
        *("--map", "turns=conversation.turns", "--map", "number=conversation.turn_count"),
    )

    assert (done.code, done.document["source"]) == (0, "conversations")
    found = results(talks)
    assert [(one["item_id"], one["score"]) for one in found] == [("s-1", 2), (trace_id(2), 1)]
    assert found[0]["explanation"] == told
    assert "traces that name no session: 1 of 3" in done.stderr


def test_a_conversation_is_judged_by_its_last_turn(talks: CommandLine):
    done = run(
        talks, "whole.py", "agenta.js", "--data", "traces.jsonl", "--source", "conversations"
    )

    assert done.code == 0
    assert results(talks, "agenta")[0]["metrics"]["said"] == "No."


def test_a_session_called_as_a_trace_is_not_taken_for_that_trace(talks: CommandLine):
    named = agent_trace(2, asked="Named?", answered="Second.", **{SESSION: trace_id(1)})
    talks.write("traces.jsonl", export(agent_trace(1, asked="Unnamed?", answered="First."), named))
    call = ("mapped.py", "--data", "traces.jsonl", "--source", "conversations")
    run(talks, *call)

    done = run(talks, *call, "--resume")

    assert done.document["kept"] == 2
    found = {one["item_id"]: one["explanation"] for one in results(talks)}
    assert found == {
        f"{trace_id(1)}/": "Unnamed?|First.|none",
        trace_id(1): "Named?|Second.|none",
    }


# ── Selecting ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("expression", "taken"),
    [
        ("trace.metrics.total_duration_ms > 50ms", [4, 5]),
        ('trace.agents contains "seller" and trace.input matches "*3"', [3]),
        ('trace.environment = "prod"', [5]),
        ("trace.start_time < 2026-01-01T00:02:00Z", [1]),
        ("trace.metrics.error_count = 0 and not trace.attributes.tier exists", [1, 2, 3, 5]),
    ],
)
def test_traces_are_filtered_by_what_is_known_of_them(
    expression: str, taken: list[int], workshop: CommandLine
):
    changed = [
        *map(request, TRACES[:3]),
        request(agent_trace(4, ms=60, tier="gold")),
        request(agent_trace(5, ms=70), resource={"deployment.environment.name": "prod"}),
    ]
    workshop.write("traces.jsonl", "\n".join(changed))

    done = run(workshop, "whole.py", "--data", "traces.jsonl", "--filter", expression)

    assert done.code == 0, done.stderr
    assert [one["item_id"] for one in results(workshop)] == list(map(trace_id, taken))
    assert (done.document["rows"], done.document["matched"]) == (5, len(taken))


def test_a_filter_that_asks_for_no_field_is_refused_with_the_nearest(workshop: CommandLine):
    done = run(
        workshop, "whole.py", "--data", "traces.jsonl", "--filter", "trace.metrics.cost_us > 1"
    )

    assert done.code == 2
    assert 'there is no field "trace.metrics.cost_us" (did you mean "trace.metrics.cost_usd"?)' in (
        done.stderr
    )


def test_a_sample_takes_whole_traces_and_the_same_ones_at_every_level(workshop: CommandLine):
    many = [agent_trace(n) for n in range(1, 81)]
    workshop.write("traces.jsonl", export(*many))

    def taken(*evaluators: str) -> set[str]:
        done = run(workshop, *evaluators, "--data", "traces.jsonl", "--sample-rate", "0.25")
        assert done.code == 0
        return {one["item_id"].partition("/")[0] for one in results(workshop)}

    traces = taken("whole.py")
    assert 8 <= len(traces) <= 32
    assert taken("call.py") == traces
    assert taken("whole.py", "agent.py", "call.py") == traces


# ── Going on ─────────────────────────────────────────────────────────────────────────────────────


def test_results_of_traces_are_kept_when_more_have_come(workshop: CommandLine):
    workshop.write("traces.jsonl", export(*TRACES[1:3]))
    run(workshop, "whole.py", "call.py", "--data", "traces.jsonl")
    workshop.write("traces.jsonl", export(*TRACES[:4]))

    done = run(workshop, "whole.py", "call.py", "--data", "traces.jsonl", "--resume")

    assert (done.code, done.document["kept"]) == (0, 6)
    assert [one["scored"] for one in done.document["summary"]] == [4, 8]
    order = [one["item_id"].partition("/")[0] for one in results(workshop)]
    assert order == sorted(order)


KNOWN = "def evaluate(traceId):\n    return {'score': 1, 'explanation': traceId}\n"
BOTH = ("known.py", "call.py", "--data", "traces.jsonl")


def test_results_of_another_level_are_not_kept(workshop: CommandLine):
    workshop.write("known.py", KNOWN)
    run(workshop, *BOTH, "--level", "llm")

    done = run(workshop, *BOTH, "--resume").document

    assert (done["kept"], [one["scored"] for one in done["summary"]]) == (10, [5, 10])
    assert {one["item_id"] for one in results(workshop, "known")} == set(map(trace_id, range(1, 6)))


def test_reused_results_are_counted_of_an_evaluators_own_level_alone(workshop: CommandLine):
    workshop.write("known.py", KNOWN)
    reusing = CommandLine(workshop.folder, may_reuse=True)
    run(reusing, *BOTH, "--level", "llm")

    done = run(reusing, *BOTH).document

    # A trace's id makes the same arguments, whether it is read from the trace or from one of its ten model calls.
    assert [one["reused"] for one in done["evaluators"]] == [5, 10]
    assert sum(one["reused"] for one in results(workshop)) == 15


def test_results_are_kept_where_a_late_span_has_moved_its_trace(workshop: CommandLine):
    run(workshop, "whole.py", "--data", "traces.jsonl")
    early = span(3, 9, "POST /chat")
    early["startTimeUnixNano"] = str(int(early["startTimeUnixNano"]) - 150 * 10**9)
    TRACES[2][0]["parentSpanId"], before = early["spanId"], TRACES[2][0]["parentSpanId"]
    workshop.write("traces.jsonl", export([*TRACES[2], early], *TRACES[:2], *TRACES[3:]))
    TRACES[2][0]["parentSpanId"] = before

    done = run(workshop, "whole.py", "--data", "traces.jsonl", "--resume")

    assert (done.code, done.document["kept"]) == (0, 4), done.stderr
    assert [one["item_id"] for one in results(workshop)] == list(map(trace_id, (3, 1, 2, 4, 5)))


def test_results_of_another_source_are_not_gone_on_with(workshop: CommandLine):
    workshop.write_rows("rows.jsonl", [{"messages": [{"role": "user", "content": "Hi"}]}] * 3)
    workshop.write(
        "any.py", "def evaluate(messages=None):\n    return {'score': 1, 'explanation': ''}\n"
    )
    run(workshop, "any.py", "--data", "rows.jsonl")

    done = run(workshop, "any.py", "--data", "rows.jsonl", "--source", "trajectories", "--resume")

    assert done.code == 2
    assert "were made of dataset, and these data are read as trajectories" in done.stderr
    assert {one["source"] for one in results(workshop)} == {"dataset"}


def test_a_trace_that_changed_is_judged_again(workshop: CommandLine):
    run(workshop, "whole.py", "--data", "traces.jsonl")
    late = [*TRACES[0], model_call(1, 9, 1, asked="More?", answered="Yes.")]
    workshop.write("traces.jsonl", export(late, *TRACES[1:]))

    done = run(workshop, "whole.py", "--data", "traces.jsonl", "--resume")

    assert (done.code, done.document["kept"]) == (0, 4)


# ── Files and mistakes ───────────────────────────────────────────────────────────────────────────


def test_a_folder_of_exports_is_one_source(workshop: CommandLine):
    (workshop.folder / "exports").mkdir()
    for number, trace in enumerate(TRACES):
        workshop.write(f"exports/{number}.json", request(trace))

    done = run(workshop, "whole.py", "--data", "exports")

    assert (done.code, done.document["source"], done.document["items"]) == (0, "traces", 5)


def test_results_are_not_written_where_the_next_run_would_read_them(workshop: CommandLine):
    (workshop.folder / "logs").mkdir()
    workshop.write("logs/today.jsonl", '{"message": "sold"}\n')
    workshop.write("told.py", "def evaluate(body):\n    return {'score': 1, 'explanation': body}\n")

    done = workshop(
        *("run", "told.py", "--data", "logs", "--source", "logs", "--out", "logs/results.jsonl")
    )

    assert done.code == 2
    assert "the next run would read it as data; name a file outside of logs" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["whole.py", "--data", "rows.jsonl", "--level", "llm"], "these are a data set"),
        (["whole.py", "--data", "rows.jsonl", "--previous-turns"], "is for conversations"),
        (["call.py", "--data", "rows.jsonl"], "have no llm spans; give traces (--source)"),
        (["agent.py", "--data", "rows.jsonl"], "give traces or trajectories (--source)"),
        (
            ["call.py", "--data", "traces.jsonl", "--source", "conversations"],
            "a conversation is judged as a whole",
        ),
        (["task.py", "--data", "traces.jsonl"], '"task" is required but unmapped'),
        (["whole.py", "--data", "rows.jsonl", "--source", "traces"], "resourceSpans"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_runs(
    options: list[str], said: str, workshop: CommandLine
):
    workshop.write("task.py", "def evaluate(trace: Trace, task):\n    return 1.0\n")
    workshop.write_rows("rows.jsonl", [{"input": "a", "output": "b"}])

    done = run(workshop, *options)

    assert done.code == 2
    assert said in done.stderr
    assert not (workshop.folder / "results.jsonl").exists()


def test_python_reads_traces_as_the_command_line_does(workshop: CommandLine):
    folder = workshop.folder

    found = evaluate(folder / "traces.jsonl", folder / "call.py", filter='llm.output = "I look."')

    assert [one.item_id for one in found] == [
        f"{trace_id(n)}/{n * 100 + 2:016x}" for n in range(1, 6)
    ]
    with pytest.raises(UsageError, match="rows in memory are a data set"):
        evaluate([{"output": 1}], folder / "mapped.py", source="traces")
    with pytest.raises(UsageError, match='level is "span"; use "trace", "agent", "llm"'):
        evaluate(folder / "traces.jsonl", folder / "mapped.py", level="span")


def test_what_items_of_nested_agents_leave_out_is_said(workshop: CommandLine):
    called = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "one of many"}
    nested = [span(1, number, "agent", number - 1, called) for number in range(1, 13)]
    workshop.write("traces.jsonl", export(nested, *TRACES[1:3]))

    done = run(workshop, "agent.py", "--data", "traces.jsonl")

    assert (done.code, done.document["items"]) == (0, 14)
    assert "in 1 of 3 traces agents are nested too deep" in done.document["notices"][0]["message"]


def test_a_trace_evaluator_sees_of_a_trajectory_that_agent_s_part_alone(workshop: CommandLine):
    spans = agent_trace(1, asked="Root?", answered="Root.")
    called = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    told = {"gen_ai.input.messages": "Sub?", "gen_ai.output.messages": "Sub."}
    inner = [
        span(
            1,
            5,
            "invoke_agent helper",
            3,
            {
                **called,
                **{
                    k: json.dumps([said(r, v)])
                    for (k, v), r in zip(told.items(), ("user", "assistant"), strict=True)
                },
            },
            ms=5,
        ),
        model_call(1, 6, 5, asked="Sub?", answered="Sub.", tokens=1),
        tool_call(1, 7, 5, failed=True),
    ]
    workshop.write("traces.jsonl", export([*spans, *inner]))
    workshop.write(
        "part.py",
        "def evaluate(trace: Trace):\n"
        "    m = trace.metrics\n"
        "    told = [trace.input, trace.output, m.token_usage.total_tokens, m.error_count, m.total_duration_ms]\n"
        "    return EvalResult(score=len(trace.spans) / 10, explanation=str(told))\n",
    )

    done = run(workshop, "part.py", "--data", "traces.jsonl", "--source", "trajectories")

    assert done.code == 0
    assert [(one["score"], one["explanation"]) for one in results(workshop)] == [
        (0.7, "['Root?', 'Root.', 36, 1, 40.0]"),
        (0.3, "['Sub?', 'Sub.', 6, 1, 5.0]"),
    ]
