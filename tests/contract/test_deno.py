"""JavaScript in Deno: what authors may write, what becomes of what they should not, and what stays out of reach."""

from __future__ import annotations

import json
import re
from collections.abc import Generator

import msgspec
import pytest

from scorewright.domain.binding import Argument
from scorewright.domain.convention import Convention
from scorewright.domain.errors import EvaluatorError
from scorewright.domain.result import Failed, FailureCode, Outcome, Scored, Skipped
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.deno.supervisor import DenoRunner
from workbench import explanation, item, limits, load, run, scores

NUMBERS = list(range(1, 10))
ECHO = 'function evaluate(x) { return {score: x, explanation: "here"}; }'
#: Gives what an expression comes to, as text.
SHOW = "function evaluate(x) {{ return {{score: 1, explanation: String({})}}; }}"


@pytest.fixture(scope="module")
def runner() -> Generator[DenoRunner]:
    """Deno on this machine, as this user has it."""
    runner = DenoRunner()
    yield runner
    runner.close()


def failed(outcome: Outcome) -> Failed:
    assert isinstance(outcome, Failed), outcome
    return outcome


def shown(runner: DenoRunner, expression: str, numbers: list[int] | None = None) -> list[str]:
    return [explanation(o) for o in run(runner, SHOW.format(expression), numbers or [1])]


def returned(runner: DenoRunner, body: str) -> Outcome:
    """What becomes of a value in the convention that takes the most."""
    three = msgspec.structs.replace(
        load(f"function evaluate(x) {{ {body} }}"),
        convention=Convention.INPUTS_OUTPUTS_TRACE,
        score_range=(0.0, 1.0),
        threshold=0.5,
    )
    groups = execute([item(1)], [Job(three, runner)], limits=limits(), workers=1)
    return next(groups).outcomes[0][0].outcome


# ---- what authors write ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        ECHO,
        f"{ECHO}\nmodule.exports = evaluate",
        f"{ECHO}\nmodule.exports = {{ evaluate }}",
        f"{ECHO}\nmodule.exports.evaluate = evaluate",
        f"{ECHO}\nexports.evaluate = evaluate",
        f"export {ECHO}",
        f"export default {ECHO}",
        f"{ECHO}\nexport default evaluate;",
        f"{ECHO}\nexport {{ evaluate }};",
        'export default (x) => ({score: x, explanation: "here"})',
        'const evaluate = (x) => ({score: x, explanation: "here"});',
        'export const evaluate = async (x) => ({score: await x, explanation: "here"});',
        f"async {ECHO}",
        'function evaluate(x) { return Promise.resolve({score: x, explanation: "here"}); }',
        'function evaluate(x) { return new Promise((go) => setTimeout(() => go({score: x, explanation: "here"}), 9e6)); }',
    ],
)
def test_every_form_of_entry_is_found(runner: DenoRunner, source: str):
    outcomes = run(runner, source, NUMBERS)

    assert scores(outcomes) == NUMBERS
    assert explanation(outcomes[0]) == "here"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("return 0.75", Scored(score=0.75, passed=True)),
        ("return true", Scored(passed=True)),
        (
            'return {score: 0.25, a: {b: 1, c: undefined}, l: [1, , "x"]}',
            Scored(score=0.25, passed=False, metrics={"a.b": 1, "l": [1, None, "x"]}),
        ),
        ("return {toJSON: () => ({score: 0.5})}", Scored(score=0.5, passed=True)),
        ("return -0", Scored(score=0.0, passed=False)),
        ('return "\\ud800x"', Scored(metrics={"result": "\ufffdx"})),
        ('return {skip: "not for me"}', Skipped("not for me")),
    ],
)
def test_values_go_through_the_same_funnel_as_those_of_python(
    runner: DenoRunner, body: str, outcome: Outcome
):
    assert returned(runner, body) == outcome


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return", "returned nothing"),
        ("return null", "returned nothing"),
        ("return NaN", "NaN"),
        ("return {score: Infinity}", "score: Infinity"),
        ("return {a: {b: [1n]}}", r"a\.b\[0\]: BigInt"),
        ("return new Map([['score', 1]])", "Map"),
        ("return {when: new Date(0)}", "when: Date"),
        ("return Symbol('s')", "Symbol"),
        ("return () => 1", "function"),
        ("const c = {}; c.me = c; return c", "circular"),
        ("return {p: Promise.resolve(1)}", "p: Promise"),
        ("return [0.5]", "list"),
        ("return {}", "measures nothing"),
    ],
)
def test_values_that_are_no_result_say_what_they_are(runner: DenoRunner, body: str, text: str):
    failure = failed(returned(runner, body))

    assert failure.code == FailureCode.BAD_RETURN
    assert re.search(text, failure.message)


def test_a_failure_names_the_line_and_the_frames_of_the_author(runner: DenoRunner):
    source = (
        "function helper(x) {\n  return x.y.z;\n}\nfunction evaluate(x) {\n  return helper({});\n}"
    )

    failure = failed(run(runner, source)[0])

    assert failure.code == FailureCode.AUTHOR_ERROR
    assert failure.type == "TypeError"
    assert failure.line == 2
    assert failure.traceback is not None
    assert failure.traceback.split("\n")[:4] == [
        "  line 5, in evaluate",
        "    return helper({});",
        "  line 2, in helper",
        "    return x.y.z;",
    ]


@pytest.mark.parametrize(
    ("statement", "kind", "text"),
    [
        ('throw "just a string"', None, "just a string"),
        ('return Promise.reject(new Error("later"))', "Error", "later"),
        ('throw new (class Mine extends Error {})("own")', "Mine", "own"),
        ("throw {code: 7}", None, "{ code: 7 }"),
        ("throw null", None, "null"),
        (
            "throw {get message() { throw 1 }, [Symbol.toPrimitive]() { throw 2 }}",
            None,
            "[Getter]",
        ),
        ("return new Promise(() => {})", "Error", "never comes"),
    ],
)
def test_whatever_is_thrown_is_described(
    runner: DenoRunner, statement: str, kind: str | None, text: str
):
    failure = failed(run(runner, f"function evaluate(x) {{ {statement} }}")[0])

    assert (failure.code, failure.type) == (FailureCode.AUTHOR_ERROR, kind)
    assert text in failure.message


def test_an_error_at_the_top_level_fails_every_item(runner: DenoRunner):
    outcomes = run(runner, f'{ECHO}\nthrow new Error("not today");', [1, 2])

    assert [failed(each).message for each in outcomes] == ["not today"] * 2
    assert failed(outcomes[0]).line == 2


def test_prints_are_kept_apart_from_results_and_bounded(runner: DenoRunner):
    source = 'function evaluate(x) { console.log("n", {a: x}); console.error("y".repeat(9000)); return 1; }'
    groups = execute([item(1)], [Job(load(source), runner)], limits=limits(), workers=1)

    output = next(groups).outcomes[0][0].output

    assert output.startswith("n { a: 1 }\nyyy")
    assert len(output) < 8300
    assert output.endswith("more characters cut")


def test_arguments_are_bound_as_for_python(runner: DenoRunner):
    source = 'function evaluate(a, b = "default", c, d) { return {score: 1, explanation: JSON.stringify([a, b, c, d])}; }'
    plan = (
        Argument(name="a", how="field", paths=(("x", "y", -1),), position=0),
        Argument(name="b", how="field", paths=(("gone",),), required=False, position=1),
        Argument(name="c", how="constant", value={"k": [1]}, position=2),
        Argument(name="d", how="inputs", position=3),
    )
    job = Job(msgspec.structs.replace(load(source), plan=plan), runner)
    items = [Item("1", b'{"x":{"y":[1,2]},"inputs":"{\\"q\\":1}"}'), Item("2", b'{"x":{"y":[]}}')]

    first, second = next(execute(items, [job], limits=limits(), workers=1)).outcomes[0]

    assert json.loads(explanation(first.outcome)) == [2, "default", {"k": [1]}, {"q": 1}]
    failure = failed(second.outcome)
    assert failure.code == FailureCode.MAPPING_ERROR
    assert failure.message == 'field x.y[-1] (variable "a") is not in this item'


# ---- TypeScript ---------------------------------------------------------------------------------------


def typescript(runner: DenoRunner, source: str) -> Outcome:
    job = Job(msgspec.structs.replace(load(source), language="typescript"), runner)
    return next(execute([item(7)], [job], limits=limits(), workers=1)).outcomes[0][0].outcome


@pytest.mark.parametrize(
    "source",
    [
        "interface Row { a: number }\nexport function evaluate(x: number): { score: number; explanation: string } { return { score: x as number, explanation: `${x!}` }; }",
        "export default <T extends number>(x: T) => ({ score: x, explanation: String(x) } satisfies object);",
        "type N = number;\nfunction evaluate(x: N) { return { score: x, explanation: String(x) }; }",
        "enum Grade { Bad, Good = 7 }\nexport function evaluate(x: number) { return { score: Grade.Good, explanation: String(x) }; }",
        "namespace Rules { export const offset: number = 0; }\nexport function evaluate(x: number) { return { score: x + Rules.offset, explanation: String(x) }; }",
        "class Box { constructor(public value: number) {} }\nfunction evaluate(x: number) { return { score: new Box(x).value, explanation: String(x) }; }",
    ],
)
def test_typescript_runs_as_it_is_written(runner: DenoRunner, source: str):
    assert typescript(runner, source) == Scored(score=7.0, explanation="7")


@pytest.mark.parametrize("start", ["type N = number;", "enum Grade { Bad,\nGood }"])
def test_a_failure_names_the_line_of_the_typescript(runner: DenoRunner, start: str):
    source = f"{start}\n\ninterface Row {{\n  a: number\n}}\nfunction evaluate(x: number) {{\n  const row: Row = {{ a: x }};\n  throw new Error(String(row.a));\n}}"
    line = source[: source.index("throw")].count("\n") + 1

    failure = failed(typescript(runner, source))

    assert failure.line == line
    assert failure.traceback is not None
    assert "throw new Error(String(row.a));" in failure.traceback


def test_typescript_that_cannot_be_translated_is_refused(runner: DenoRunner):
    with pytest.raises(EvaluatorError, match="TypeScript: "):
        typescript(runner, "enum Grade { Bad = }\nfunction evaluate(x: number) { return 1; }")


def test_a_long_source_is_translated_whole(runner: DenoRunner):
    padding = "// a line of eighty characters that has to go through the socket as well, and back\n"
    source = (
        padding * 12_000
        + "enum G { A }\nfunction evaluate(x: number) { return { score: x, explanation: String(G.A) }; }"
    )

    assert typescript(runner, source) == Scored(score=7.0, explanation="0")


# ---- the same result every time ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        'let n = 0; function evaluate(x) { n++; return {score: n, explanation: ""}; }',
        'function evaluate(x) { evaluate.n = (evaluate.n ?? 0) + 1; return {score: evaluate.n, explanation: ""}; }',
        # Sloppy code that changes a frozen object is ignored, as the language has it.
        'function evaluate(x) { Array.prototype.n = 2; globalThis.n = 2; return {score: [].n ?? globalThis.n ?? 1, explanation: ""}; }',
        'function evaluate(x) { Object.prototype.n = 2; return {score: ({}).n ?? 1, explanation: ""}; }',
        'function evaluate(x) { (class {}).constructor.prototype.n = 2; return {score: (() => 1).n ?? 1, explanation: ""}; }',
        'function evaluate(x) { Math.random = () => 9; JSON.stringify = () => "9"; return {score: Math.random() < 1 ? 1 : 2, explanation: ""}; }',
        'function evaluate(x) { console.n = (console.n ?? 0) + 1; return {score: console.n ?? 1, explanation: ""}; }',
    ],
)
def test_nothing_of_an_item_is_left_for_the_next_one(runner: DenoRunner, source: str):
    outcomes = run(runner, source, NUMBERS)

    assert len(set(map(str, outcomes))) == 1


def test_code_cannot_get_out_of_its_function(runner: DenoRunner):
    """What stands outside of it would run once for all items, and could count them."""
    outcome = run(runner, "}); var n = 0; (function () {\n" + ECHO)[0]

    assert failed(outcome).type == "SyntaxError"


def test_pollution_is_an_error_where_the_code_is_strict(runner: DenoRunner):
    source = '"use strict"; function evaluate(x) { Array.prototype.n = 2; }'

    assert failed(run(runner, source)[0]).type == "TypeError"


def test_objects_of_the_author_s_own_may_override_what_is_frozen(runner: DenoRunner):
    expression = '(() => { const o = {}; o.toString = () => "mine"; const e = new Error("x"); e.name = "Own"; return o + " " + e; })()'

    assert shown(runner, expression) == ["mine Own: x"]


def test_what_an_item_leaves_behind_is_still_its_own(runner: DenoRunner):
    source = """
        async function later(x) { for (let n = 0; n < 5000; n++) await 0; console.log("left by " + x); }
        function evaluate(x) { later(x); setTimeout(() => console.log("never")); return {score: x, explanation: ""}; }
    """
    groups = execute(map(item, NUMBERS), [Job(load(source), runner)], limits=limits(), workers=1)

    outputs = [each.output for group in groups for each in group.outcomes[0]]

    assert outputs == [f"left by {n}\n" for n in NUMBERS]


@pytest.mark.parametrize(
    "expression",
    [
        "new Intl.DateTimeFormat('en', {year: 'numeric', month: 'short'}).format()",
        "new Intl.DateTimeFormat('en', {year: 'numeric', month: 'short'}).format(undefined)",
        "['x'].map(new Intl.DateTimeFormat('en', {year: 'numeric', month: 'short'}).format.bind(null, undefined))",
        "new Intl.DateTimeFormat('en', {year: 'numeric', month: 'short'}).formatToParts().map((p) => p.value).join('')",
    ],
)
def test_formatters_take_the_run_s_clock_for_the_present(runner: DenoRunner, expression: str):
    assert shown(runner, expression) == ["Jan 2026"]


def test_formatters_still_take_the_date_they_are_given(runner: DenoRunner):
    expression = "new Intl.DateTimeFormat('en', {year: 'numeric'}).format(new Date(0))"

    assert shown(runner, expression) == ["1970"]


def test_microtasks_run_in_their_item_and_may_throw(runner: DenoRunner):
    source = """
        function evaluate(x) {
          return new Promise((go) => {
            queueMicrotask(() => go({score: x, explanation: ""}));
            queueMicrotask(() => { throw new Error("nobody hears it"); });
          });
        }
    """

    assert scores(run(runner, source, NUMBERS)) == NUMBERS


def test_text_can_be_cut_into_segments(runner: DenoRunner):
    expression = "[...new Intl.Segmenter('en', {granularity: 'word'}).segment('a b')].map((s) => s.segment).join('|')"

    assert shown(runner, expression, [1, 2]) == ["a| |b"] * 2


def test_clock_and_chance_are_those_of_the_run(runner: DenoRunner):
    expression = (
        "[Date.now(), new Date().toISOString(), new Date(0).getTimezoneOffset(), Math.random()]"
    )

    first = shown(runner, expression, [1, 2])
    again = shown(runner, expression, [2, 1])

    assert first == again[::-1]
    assert first[0].startswith("1767225600000,2026-01-01T00:00:00.000Z,0,0.")
    assert first[0] != first[1]
    with_other_seed = run(runner, SHOW.format(expression), [1], seed="other")
    assert explanation(with_other_seed[0]) != first[0]


def test_results_do_not_depend_on_the_number_of_workers(runner: DenoRunner):
    source = 'function evaluate(x) { return {score: x * Math.random(), explanation: ""}; }'

    def outcomes(workers: int) -> list[Outcome]:
        groups = execute(
            map(item, range(100)), [Job(load(source), runner)], limits=limits(), workers=workers
        )
        return [each.outcome for group in groups for each in group.outcomes[0]]

    assert outcomes(1) == outcomes(2)
