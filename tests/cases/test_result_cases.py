"""Real evaluators and bug reports about results, with the right answers written down beside them."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from scorewright.authoring import EvalResult, LLMSpan, Trace, trace_from_row
from scorewright.domain.aggregate import Summary
from scorewright.domain.convention import Convention
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Outcome, Scored, Skipped
from scorewright.domain.returned import Reading, interpret

CASES = Path(__file__).parents[2].parent / "shared" / "cases"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="needs the cases beside the repository")

VARIABLES = Convention.VARIABLES
IOT = Convention.INPUTS_OUTPUTS_TRACE
TRACE = Convention.TRACE_OBJECT
UNIT = (0.0, 1.0)


def case(number: int) -> dict[str, Any]:
    return json.loads((CASES / f"case_{number}.json").read_text(encoding="utf-8"))


def author_of(number: int) -> Callable[..., Any]:
    provided = {"Trace": Trace, "LLMSpan": LLMSpan, "EvalResult": EvalResult}
    return runpy.run_path(str(CASES / f"case_{number}.py"), provided)["evaluate"]


def calls_of(number: int) -> list[dict[str, Any]]:
    facts = json.loads((CASES / f"case_{number}.expect.json").read_text(encoding="utf-8"))
    return facts["calls"]


def read(value: object, convention: Convention = IOT, threshold: float | None = 0.5) -> Outcome:
    return interpret(value, Reading(convention, UNIT, threshold))


def read_any_score(value: object) -> Outcome:
    """Read as a `variables` evaluator without a range does."""
    return interpret(value, Reading(VARIABLES))


def facts_of(outcome: Outcome) -> dict[str, Any]:
    """Lay a scored outcome out as the cases write it down."""
    assert isinstance(outcome, Scored), outcome
    return {
        "score": outcome.score,
        "success": outcome.passed,
        "explanation": outcome.explanation,
        **outcome.metrics,
    }


def summarise(outcomes: Iterable[Outcome]) -> Any:
    summary = Summary("e", score_range=UNIT)
    items = [ItemOutcome(outcome) for outcome in outcomes]
    summary.add_batch(range(1, len(items) + 1), items)
    return summary.document()


def message_of(outcome: Outcome) -> str:
    assert isinstance(outcome, Failed), outcome
    assert outcome.code is FailureCode.BAD_RETURN
    return outcome.message


# Evaluators --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "call"),
    [(203, 1), (210, 0), (215, 0), (215, 1), (219, 0), (219, 1), (223, 0)],
)
def test_an_evaluator_gives_what_the_case_says(number: int, call: int):
    facts = calls_of(number)[call]
    given = facts["kwargs"]

    outcome = read(author_of(number)(given["inputs"], given["outputs"], given["trace"]))

    got = facts_of(outcome)
    assert {key: got.get(key) for key in facts["expect"]} == facts["expect"]


def test_203_reads_the_documented_trace():
    trace = json.loads((CASES / "case_057.trace_dict.json").read_text(encoding="utf-8"))

    got = facts_of(read(author_of(203)({}, "x", trace)))

    expected = {"fast": True, "tokens": 70, "n_children": 2, "score": 1.0, "success": True}
    assert {key: got[key] for key in expected} == expected


@pytest.mark.parametrize("call", range(3))
def test_204_gives_score_and_explanation(call: int):
    facts = calls_of(204)[call]

    got = facts_of(read_any_score(author_of(204)(**facts["kwargs"])))

    assert {key: got[key] for key in facts["expect"]} == facts["expect"]
    assert got["success"] is None


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{"title":"t","items":[1]}', Scored(1.0, True, {}, "1 item(s)")),
        ("", Skipped("No output to evaluate")),
        (None, Skipped("No output to evaluate")),
        ("{oops", Scored(0.0, False, {}, "Invalid JSON at 1:2: ")),
        ({"title": "t", "items": [1]}, Scored(1.0, True, {}, "1 item(s)")),
    ],
)
def test_206_scores_json_and_skips_what_is_not_there(output: Any, expected: Outcome):
    outcome = read(author_of(206)(trace_from_row({"output": output})), TRACE)

    if isinstance(outcome, Scored) and isinstance(expected, Scored):
        assert (outcome.score, outcome.passed) == (expected.score, expected.passed)
        assert (outcome.explanation or "").startswith(expected.explanation or "")
    else:
        assert outcome == expected


def test_209_skips_a_tool_call_and_scores_an_answer():
    author = author_of(209)
    spans = [LLMSpan(output=None, model="m"), LLMSpan(output="Pretty typical weather!", model="m")]

    outcomes = [read(author(span), TRACE) for span in spans]

    assert outcomes == [
        Skipped("no text (tool call only)"),
        Scored(1.0, True, {}, "m: ends with '!'"),
    ]


@pytest.mark.parametrize(
    ("kind", "in_message"),
    [
        ("tuple", "a tuple of 2"),
        ("namedtuple", "a tuple of 2"),
        ("dataclass", "R, which is not JSON"),
        ("set", "set, which is not JSON; return len(x), or an object that holds sorted(x)"),
        ("bytes", "bytes, which is not JSON; return x.decode()"),
        ("decimal", "decimal.Decimal, which is not JSON; return float(x) or str(x)"),
        ("fraction", "fractions.Fraction, which is not JSON"),
        ("datetime", "datetime.datetime, which is not JSON; return x.isoformat()"),
        ("floaty", "Floaty, which is not JSON"),
        ("nan", "NaN, which is not JSON"),
        ("inf", "inf, which is not JSON"),
        ("huge", "an int of 1329 bits, which does not fit in 64 bits"),
        ("gen", "generator, which is not JSON; return an object that holds list(x)"),
        ("type", "type, which is not JSON"),
        ("emptydict", "an object, which measures nothing"),
        ("emptystr", "an empty text, which measures nothing"),
        ("none", "nothing on this path"),
        ("nankey", "score: NaN is not JSON"),
        ("list", "a list of 2"),
    ],
)
def test_219_an_awkward_value_is_named_and_never_a_score(kind: str, in_message: str):
    assert in_message in message_of(read(author_of(219)({"kind": kind}, None, None)))


@pytest.mark.parametrize(("kind", "score"), [("five", 5.0), ("neg", -0.5)])
def test_219_a_score_off_the_range_is_shown_and_not_averaged(kind: str, score: float):
    outcome = read(author_of(219)({"kind": kind}, None, None))

    assert outcome == Scored(score, None, {}, None, True)
    assert summarise([outcome, Scored(1.0)])["mean_score"] == 1.0


def test_219_a_text_is_a_number_in_the_legacy_interface_only():
    text, junk = (author_of(219)({"kind": kind}, None, None) for kind in ("str", "junk"))

    assert read(text) == Scored(metrics={"result": "0.8"})
    assert read(junk) == Scored(metrics={"result": "0.8oops"})
    assert read(text, Convention.LEGACY_CORRECT_ANSWER) == Scored(0.8, True)
    assert '"0.8oops"' in message_of(read(junk, Convention.LEGACY_CORRECT_ANSWER))


def test_219_a_key_that_is_a_number_becomes_text():
    assert read(author_of(219)({"kind": "intkey"}, None, None)) == Scored(metrics={"1": 0.5})


# Bug reports -------------------------------------------------------------------------------------


def run_302(outputs: list[str]) -> Any:
    scope: dict[str, Any] = {}
    exec(case(302)["input"]["evaluator"], scope)  # noqa: S102 - the case's own code
    evaluate: Callable[[str], object] = scope["evaluate"]

    def outcome(output: str) -> Outcome:
        try:
            return read_any_score(evaluate(output))
        except RuntimeError as error:
            return Failed(FailureCode.AUTHOR_ERROR, f"RuntimeError: {error}", "RuntimeError", 3)

    return summarise(map(outcome, outputs))


def test_302_a_mean_over_the_survivors_says_how_many_there_were():
    given = case(302)["input"]

    whole, half = run_302(given["run_A"]), run_302(given["run_B"])

    assert (whole["mean_score"], whole["mean_n"], whole["failed"]) == (0.5, 10, 0)
    assert (half["mean_score"], half["mean_n"], half["failed"]) == (1.0, 5, 5)
    assert half["failures"][0]["message"] == "RuntimeError: judge down"


def test_303_a_row_of_nan_is_failed_and_no_zero():
    rows = case(303)["input"]["rows"]
    nan = {"<NaN>": float("nan")}
    returned = [{key: nan.get(value, value) for key, value in row.items()} for row in rows]

    document = summarise(map(read, returned))

    assert (document["scored"], document["failed"]) == (1, 1)
    assert document["metrics"]["faithfulness"]["mean"] == 0.8
    assert document["metrics"]["relevance"]["min"] == 0.8
    assert document["metrics"]["relevance"]["n"] == 1


def test_306_a_score_that_is_no_number_is_an_error_with_the_value():
    returned = case(306)["input"]["returns"]

    messages = [message_of(read(value, TRACE)) for value in returned]

    named = ['score: ""', 'score: "N/A"', "score: null", 'without "score"', 'score: "0.7"']
    assert all(name in message for name, message in zip(named, messages, strict=True))
    assert summarise(read(value, TRACE) for value in returned)["mean_score"] is None


def test_307_a_judge_that_was_not_reached_is_no_wrong_answer():
    unreachable = Failed(FailureCode.JUDGE_ERROR, "judge unreachable")

    document = summarise([Scored(1.0), unreachable, unreachable, Scored(1.0)])

    assert (document["mean_score"], document["mean_n"], document["failed"]) == (1.0, 2, 2)
    assert document["failures"][0]["count"] == 2


def test_309_five_outcomes_stay_apart():
    outcomes = [
        read_any_score({"score": 0.0, "explanation": "bad"}),
        read_any_score({"error": "no gold"}),
        read_any_score(None),
        Failed(FailureCode.AUTHOR_ERROR, "KeyError: 'x'", "KeyError", 2),
        read_any_score(object()),
        read_any_score(EvalResult.skip("not applicable")),
    ]

    document = summarise(outcomes)

    assert (document["scored"], document["skipped"], document["failed"]) == (1, 1, 4)
    assert (document["mean_score"], document["mean_n"]) == (0.0, 1)
    messages = " | ".join(failure["message"] for failure in document["failures"])
    for reason in (
        'without "score"',
        "nothing on this path",
        "KeyError: 'x'",
        "object, which is not JSON",
    ):
        assert reason in messages


def test_312_an_evaluator_of_bools_has_a_share():
    document = summarise(map(read, case(312)["input"]["returns"]))

    assert document["mean_score"] is None
    assert document["pass_rate"] == pytest.approx(2 / 3)
    assert document["pass_rate_n"] == 3


def test_314_a_single_score_evaluator_that_returns_an_object_is_a_row_error():
    message = message_of(read({"score": 1.0, "success": True}, Convention.LEGACY_SCORE))

    assert "this evaluator returns a single score" in message


def test_315_a_threshold_of_zero_is_a_threshold():
    given, expected = case(315)["input"]["cases"], case(315)["expect"]
    verdicts = {0: True, 1: True, 2: False, 3: True, 4: False, 5: True}

    for number, passed in verdicts.items():
        threshold = given[number].get("threshold")
        score = given[number].get("score", 0.1 + 0.2)
        outcome = read(score, threshold=0.5 if threshold is None else threshold)
        assert facts_of(outcome)["success"] is passed, expected[number]


def test_319_a_skip_is_outside_the_mean():
    document = summarise([Scored(1.0), Skipped("judge down")])

    assert (document["mean_score"], document["mean_n"], document["skipped"]) == (1.0, 1, 1)


def test_327_a_score_of_another_type_fails_its_row_and_no_other():
    outcomes = [read_any_score(value) for value in case(327)["input"]["returns"]]

    messages = [message_of(outcome) for outcome in outcomes[:5]]
    assert [message.partition(" ")[0] for message in messages[:4]] == [
        "score:",
        "score:",
        "score:",
        "explanation:",
    ]
    assert 'without "explanation"' in messages[4]
    assert outcomes[5] == Scored(1.0, None, {}, "<img src=x onerror=alert(1)> **bold** {{x}}")


def test_329_a_row_that_fails_leaves_its_group_in_the_report():
    failed = Failed(FailureCode.AUTHOR_ERROR, "raises")

    first = summarise([read_any_score({"skip": "no gold"}), Scored(1.0)])
    second = summarise([failed, Scored(1.0)])

    assert (first["mean_score"], first["mean_n"], first["skipped"]) == (1.0, 1, 1)
    assert (second["mean_score"], second["mean_n"], second["failed"]) == (1.0, 1, 1)
