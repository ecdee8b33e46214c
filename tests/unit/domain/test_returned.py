"""The funnel: every cell of the table in contracts §3, its bounds, and that no value gets past it."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import inspect
import re
import types
from collections import Counter, OrderedDict, namedtuple
from typing import Any

import pytest
from funnel_checks import UNIT, bad, read

from scorewright.authoring import EvalResult
from scorewright.domain.convention import Convention
from scorewright.domain.result import Failed, FailureCode, Scored, Skipped
from scorewright.domain.returned import Reading, interpret

NAN, INFINITY = float("nan"), float("inf")
VARIABLES = Convention.VARIABLES
IOT = Convention.INPUTS_OUTPUTS_TRACE
TRACE = Convention.TRACE_OBJECT
LEGACY = Convention.LEGACY_SCORE
CORRECT_ANSWER = Convention.LEGACY_CORRECT_ANSWER

# The untyped kind is what authors return.
Pair: Any = namedtuple("Pair", "score reason")  # noqa: PYI024 # pyright: ignore[reportUntypedNamedTuple]


class Number(enum.IntEnum):
    ONE = 1


class Word(enum.StrEnum):
    GOOD = "good"


@dataclasses.dataclass
class Record:
    score: float


class Floaty:
    def __float__(self) -> float:
        return 0.5


class numpy_float64(float):  # noqa: N801 - stands in for numpy's, which is a float as well
    __module__ = "numpy"


# What each convention makes of each returned value; None stands for bad_return.
TABLE: list[tuple[object, Scored | None, Scored | None, Scored | None, Scored | None]] = [
    # returned, inputs_outputs_trace, variables, trace_object, the legacy two
    (True, Scored(None, True), None, Scored(1.0, True), Scored(1.0, True)),
    (False, Scored(None, False), None, Scored(0.0, False), Scored(0.0, False)),
    (0.5, Scored(0.5, True), None, Scored(0.5, True), Scored(0.5, True)),
    (0, Scored(0.0, False), None, Scored(0.0, False), Scored(0.0, False)),
    (Number.ONE, Scored(1.0, True), None, Scored(1.0, True), Scored(1.0, True)),
    (5, Scored(5.0, None, {}, None, True), None, None, Scored(5.0, None, {}, None, True)),
    (-0.5, Scored(-0.5, None, {}, None, True), None, None, Scored(-0.5, None, {}, None, True)),
    (NAN, None, None, None, None),
    (INFINITY, None, None, None, None),
    (-INFINITY, None, None, None, None),
    (2**63, None, None, None, None),
    (10**400, None, None, None, None),
    (None, None, None, None, None),
    ("", None, None, None, None),
    ("0.8", Scored(metrics={"result": "0.8"}), None, None, Scored(0.8, True)),
    (" 1e-1\n", Scored(metrics={"result": " 1e-1\n"}), None, None, Scored(0.1, False)),
    ("0.8oops", Scored(metrics={"result": "0.8oops"}), None, None, None),
    ("nan", Scored(metrics={"result": "nan"}), None, None, None),
    ("1e999", Scored(metrics={"result": "1e999"}), None, None, None),
    ("1_0", Scored(metrics={"result": "1_0"}), None, None, None),
    ("1-2", Scored(metrics={"result": "1-2"}), None, None, None),
    ("٣", Scored(metrics={"result": "٣"}), None, None, None),
    (Word.GOOD, Scored(metrics={"result": "good"}), None, None, None),
    ({}, None, None, None, None),
    ({"score": 0.8}, Scored(0.8, True), None, Scored(0.8, True), None),
    (
        {"score": 1, "explanation": "why"},
        Scored(1.0, True, {}, "why"),
        Scored(1.0, True, {}, "why"),
        Scored(1.0, True, {}, "why"),
        None,
    ),
    (
        {"score": 0.2, "explanation": "", "success": True},
        Scored(0.2, True, {}, ""),
        Scored(0.2, False, {"success": True}, ""),
        Scored(0.2, False, {"success": True}, ""),
        None,
    ),
    (
        {"score": 0.2, "explanation": "x", "passed": True},
        Scored(0.2, False, {"passed": True}, "x"),
        Scored(0.2, False, {"passed": True}, "x"),
        Scored(0.2, True, {}, "x"),
        None,
    ),
    (
        {"score": 7, "explanation": "x"},
        Scored(7.0, None, {}, "x", True),
        Scored(7.0, None, {}, "x", True),
        None,
        None,
    ),
    (
        {"score": 7, "explanation": "x", "success": True, "passed": True},
        Scored(7.0, True, {"passed": True}, "x", True),
        Scored(7.0, None, {"success": True, "passed": True}, "x", True),
        None,
        None,
    ),
    ({"score": True, "explanation": "x"}, None, None, Scored(1.0, True, {}, "x"), None),
    ({"score": None, "explanation": "x"}, None, None, None, None),
    ({"score": "0.8", "explanation": "x"}, None, None, None, None),
    ({"score": {"value": 1}, "explanation": "x"}, None, None, None, None),
    ({"score": [1], "explanation": "x"}, None, None, None, None),
    ({"score": 0.5, "explanation": None}, Scored(0.5, True), None, Scored(0.5, True), None),
    ({"score": 0.5, "explanation": ["x"]}, None, None, None, None),
    ({"success": True}, Scored(None, True), None, None, None),
    ({"success": None}, None, None, None, None),
    ({"success": 1}, None, None, None, None),
    ({"explanation": "only"}, None, None, None, None),
    ({"a": 1, "b": {"c": False}}, Scored(metrics={"a": 1, "b.c": False}), None, None, None),
    ({1: 0.5}, Scored(metrics={"1": 0.5}), None, None, None),
    (EvalResult(0.8), Scored(0.8, True), None, Scored(0.8, True), None),
    (
        EvalResult(0.2, "why", passed=True),
        Scored(0.2, True, {}, "why"),
        Scored(0.2, True, {}, "why"),
        Scored(0.2, True, {}, "why"),
        None,
    ),
    (
        EvalResult(7, "x"),
        Scored(7.0, None, {}, "x", True),
        Scored(7.0, None, {}, "x", True),
        None,
        None,
    ),
    (EvalResult(10**400, "x"), None, None, None, None),
    ([0.1, 0.9], None, None, None, None),
    ((0.5, "why"), None, None, None, None),
    (Pair(0.5, "why"), None, None, None, None),
    ({1}, None, None, None, None),
    (b"1", None, None, None, None),
    (decimal.Decimal("0.1"), None, None, None, None),
    (fractions.Fraction(1, 3), None, None, None, None),
    (dt.datetime(2026, 1, 1, tzinfo=dt.UTC), None, None, None, None),
    (Record(0.5), None, None, None, None),
    (Floaty(), None, None, None, None),
    (numpy_float64(0.5), None, None, None, None),
    (1j, None, None, None, None),
    (int, None, None, None, None),
    (object(), None, None, None, None),
]


@pytest.mark.parametrize(
    "row", TABLE, ids=lambda row: re.sub(" at 0x[0-9a-f]+", "", repr(row[0]))[:50]
)
def test_every_cell_of_the_table(row: tuple[object, ...]):
    value, *expected = row
    columns = [(IOT,), (VARIABLES,), (TRACE,), (LEGACY, CORRECT_ANSWER)]

    for conventions, wanted in zip(columns, expected, strict=True):
        for convention in conventions:
            outcome = read(value, convention)
            if wanted is None:
                assert isinstance(outcome, Failed), (convention, outcome)
                assert outcome.code is FailureCode.BAD_RETURN
            else:
                assert outcome == wanted, convention


@pytest.mark.parametrize("convention", Convention)
@pytest.mark.parametrize(
    "value",
    [EvalResult.skip("no gold"), {"skip": "no gold"}, {"skip": "no gold", "explanation": None}],
)
def test_a_skip_is_a_skip_in_every_convention(value: object, convention: Convention):
    assert read(value, convention) == Skipped("no gold")


@pytest.mark.parametrize("convention", Convention)
def test_a_skip_may_explain_itself(convention: Convention):
    skipped = Skipped("no gold", "row 7")

    assert read({"explanation": "row 7", "skip": "no gold"}, convention) == skipped
    assert read(EvalResult.skip("no gold", "row 7"), convention) == skipped


@pytest.mark.parametrize("value", [{"skip": ""}, {"skip": True}, {"skip": None}])
def test_a_skip_key_that_says_nothing_is_an_ordinary_metric(value: dict[str, Any]):
    assert read(value, IOT) == Scored(metrics=value)


def test_a_skip_key_beside_others_is_an_ordinary_metric():
    assert read({"skip": "no", "score": 1}, IOT) == Scored(1.0, True, {"skip": "no"})


def test_the_explanation_of_a_skip_must_be_text():
    assert "explanation: 5 is not a text" in bad({"skip": "no", "explanation": 5}, IOT)


@pytest.mark.parametrize("score", [-1e300, 7, 250.5])
def test_without_a_range_any_finite_score_counts_and_there_is_no_verdict(score: float):
    outcome = read({"score": score, "explanation": "x"}, VARIABLES, ranged=False)

    assert outcome == Scored(float(score), None, {}, "x")


def test_a_trace_object_evaluator_without_a_range_has_the_unit_range():
    assert isinstance(read(1.5, TRACE, ranged=False), Failed)


def test_a_trace_object_evaluator_may_declare_another_range():
    reading = Reading(TRACE, (0.0, 100.0), 50.0)

    assert interpret(EvalResult(80), reading) == Scored(80.0, True)
    assert isinstance(interpret(EvalResult(101), reading), Failed)


@pytest.mark.parametrize(
    ("threshold", "score", "passed"),
    [
        (0, 0, True),
        (0.0, -0.0, True),
        (0.5, 0, False),
        (0.5, 0.5, True),
        (1, 0.9999999, False),
        (0.3, 0.1 + 0.2, True),
    ],
)
def test_equality_passes_and_zero_is_a_threshold(threshold: float, score: float, passed: bool):  # noqa: FBT001
    for convention in (IOT, TRACE, LEGACY):
        outcome = interpret(score, Reading(convention, UNIT, threshold))
        assert isinstance(outcome, Scored)
        assert outcome.passed is passed


def test_a_stated_verdict_wins_over_the_threshold():
    assert read({"score": 0.9, "success": False}, IOT) == Scored(0.9, False)


def test_metrics_keep_their_types():
    returned = {"n": 3, "x": 3.0, "ok": True, "word": "a", "none": None, "list": [1, {"a": (1, 2)}]}

    outcome = read(returned, IOT)

    assert isinstance(outcome, Scored)
    assert outcome.metrics == {**returned, "list": [1, {"a": [1, 2]}]}
    assert [type(v) for v in outcome.metrics.values()] == [
        int,
        float,
        bool,
        str,
        types.NoneType,
        list,
    ]


def test_subclasses_become_what_they_are_made_of():
    returned: dict[str, object] = {
        "n": Number.ONE,
        "w": Word.GOOD,
        "c": Counter("aa"),
        "o": OrderedDict(z=1),
        "p": Pair(1, 2),
    }

    outcome = read(returned, IOT)

    assert isinstance(outcome, Scored)
    assert outcome.metrics == {"n": 1, "w": "good", "c.a": 2, "o.z": 1, "p": [1, 2]}
    assert type(outcome.metrics["n"]) is int
    assert type(outcome.metrics["w"]) is str


def test_an_empty_object_inside_is_a_value():
    assert read({"a": {}}, IOT) == Scored(metrics={"a": {}})


def test_dots_in_keys_are_escaped():
    assert read({"a.b": 1, "a": {"b": 2}}, IOT) == Scored(metrics={"a\\.b": 1, "a.b": 2})


def test_keys_become_text_as_json_writes_them():
    outcome = read({True: 1, None: 2, 3: 3, 0.5: 4, Word.GOOD: 5, Number.ONE + 1: 6}, IOT)

    assert outcome == Scored(metrics={"true": 1, "null": 2, "3": 3, "0\\.5": 4, "good": 5, "2": 6})


def test_a_score_key_that_is_an_enum_is_the_score():
    key = enum.StrEnum("Key", {"SCORE": "score"}).SCORE  # type: ignore[attr-defined]

    assert read({key: 0.9}, IOT) == Scored(0.9, True)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {1: 2, "1": 3}}, 'a: two keys read "1" as text; rename one'),
        ({(1, 2): 3}, "evaluate returned a key of type tuple, which is not text; use str(key)"),
        ({"a": {b"k": 3}}, "a: a key of type bytes is not text; use str(key)"),
        (
            {NAN: 1},
            "evaluate returned NaN, which is not JSON; return a finite number, or leave it out",
        ),
        (
            {"a": {2**70: 1}},
            "a: an int of 71 bits does not fit in 64 bits; return a smaller number or str(x)",
        ),
        (
            {"metrics": {"a": {"b": [1, 2, decimal.Decimal(1)]}}},
            "metrics.a.b[2]: decimal.Decimal is not JSON; return float(x) or str(x)",
        ),
        (
            {"a b": {"c": {1}}},
            '["a b"].c: set is not JSON; return len(x), or an object that holds sorted(x)',
        ),
        ({"m": NAN, "ok": 1}, "m: NaN is not JSON; return a finite number, or leave it out"),
        ({"m": -INFINITY}, "m: -inf is not JSON; return a finite number, or leave it out"),
        (
            {"m": numpy_float64(1)},
            "m: numpy.numpy_float64 is not JSON; return x.item() or x.tolist()",
        ),
        ({"score": "N/A"}, 'score: "N/A" is not a number; return a number, a bool, a text or'),
        ({"score": ""}, 'score: "" is not a number'),
        ({"score": None}, "score: null is not a number"),
        ({"score": {"value": 1}}, "score: an object of 1 is not a number"),
        ({"score": [1]}, "score: a list of 1 is not a number"),
        ({"score": True}, "score: true is not a number"),
        ({"success": "yes"}, 'success: "yes" is not a bool; return a bool'),
        ({"explanation": 5, "score": 1}, "explanation: 5 is not a text; return str(x)"),
        ({}, "evaluate returned an object, which measures nothing"),
        ("", "evaluate returned an empty text, which measures nothing"),
        (None, "evaluate returned nothing on this path; return a number"),
        ([1, 2], "evaluate returned a list of 2, which is no result here; return a number"),
        (
            decimal.Decimal(1),
            "evaluate returned decimal.Decimal, which is not JSON; return float(x)",
        ),
    ],
)
def test_a_bad_value_is_named_with_its_place_and_a_way_out(value: object, message: str):
    assert bad(value, IOT).startswith(message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.5, "evaluate returned 0.5, which is no result here; return {"),
        ({"explanation": "x"}, 'evaluate returned an object without "score"; return {'),
        ({"score": 1}, 'evaluate returned an object without "explanation"; return {'),
        (
            {"error": "no gold"},
            'evaluate returned an object without "score" and "explanation"; return {',
        ),
        ({"score": 1, "explanation": None}, "explanation: null is not a text; return {"),
        (EvalResult(1.0), 'evaluate returned an object without "explanation"; return {'),
    ],
)
def test_a_variables_evaluator_learns_what_is_missing(value: object, message: str):
    assert bad(value, VARIABLES).startswith(message)


@pytest.mark.parametrize("value", [{"score": 1.0, "success": True}, EvalResult(1.0)])
def test_a_single_score_evaluator_learns_how_to_migrate(value: object):
    message = bad(value, LEGACY)

    assert "this evaluator returns a single score" in message
    assert "make a new evaluator with evaluate(inputs, outputs, trace)" in message


def test_a_score_outside_a_strict_range_is_named_with_the_range():
    message = bad(EvalResult(1.5), TRACE)

    assert message.startswith(
        "evaluate returned a score of 1.5, which is outside 0 to 1; keep the score inside"
    )


def test_an_int_too_long_to_print_is_named_by_its_size():
    assert bad(10**5_000, IOT).startswith(
        "evaluate returned an int of 16610 bits, which does not fit"
    )


def test_a_coroutine_left_unawaited_is_named():
    async def late() -> float:
        return 1.0

    coroutine = late()

    message = bad(coroutine, IOT)

    coroutine.close()
    assert message == "evaluate returned coroutine, which is not JSON; await it first"


def test_a_generator_is_named_and_not_run():
    def endless() -> Any:
        while True:
            yield 1

    generator = endless()

    assert "generator is not JSON" in bad({"a": generator}, IOT)
    assert inspect.getgeneratorstate(generator) == inspect.GEN_CREATED
