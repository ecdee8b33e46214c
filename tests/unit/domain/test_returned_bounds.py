"""The funnel's bounds: depth, size, names and messages."""

from __future__ import annotations

import decimal
from typing import Any

import pytest
from funnel_checks import bad, nested_list, read

from scorewright.domain.convention import Convention
from scorewright.domain.json_copy import CUT_MARK, MAX_EXPLANATION_BYTES
from scorewright.domain.result import Failed, FailureCode, Scored, Skipped

VARIABLES = Convention.VARIABLES
IOT = Convention.INPUTS_OUTPUTS_TRACE
TRACE = Convention.TRACE_OBJECT


def test_sixty_four_levels_are_read_and_more_are_refused():
    assert isinstance(read({"a": nested_list(63)}, IOT), Scored)
    assert "64 levels deep" in bad({"a": nested_list(64)}, IOT)


def test_a_hundred_thousand_levels_are_refused_like_any_other():
    assert "64 levels deep" in bad({"a": nested_list(100_000)}, IOT)


def test_a_value_inside_itself_is_refused():
    knot: dict[str, Any] = {}
    knot["again"] = knot

    assert "or inside itself" in bad(knot, IOT)


def test_a_value_that_doubles_with_every_level_is_too_much():
    doubled: list[Any] = []
    for _ in range(60):
        doubled = [doubled, doubled]

    assert read({"a": doubled}, IOT) == too_much()


def too_much() -> Failed:
    return Failed(
        FailureCode.OUTPUT_LIMIT,
        "evaluate returned more than 256 KiB; return less, e.g. only the start of long texts",
    )


@pytest.mark.parametrize(
    "value",
    [
        {"a": "x" * 262_144},
        {"a": "é" * 131_072},
        {"a": list(range(32_768))},
        {"x" * 262_145: 1},
        {str(n): n for n in range(32_769)},
        "x" * 262_145,
    ],
    ids=["text", "two-byte text", "numbers", "key", "keys", "bare text"],
)
def test_more_than_256_kib_is_too_much(value: object):
    assert read(value, IOT) == too_much()


def test_just_under_256_kib_is_taken():
    assert isinstance(read({"a": "x" * 262_000}, IOT), Scored)


def test_a_thousand_metrics_are_the_most():
    assert isinstance(read({f"m{n}": n for n in range(1_000)}, IOT), Scored)
    assert "1001 metrics, which are more than the 1000" in bad(
        {f"m{n}": n for n in range(1_001)}, IOT
    )


def test_a_metric_name_is_bounded_after_flattening():
    assert isinstance(read({"x" * 256: 1}, IOT), Scored)
    assert "longer than 256 characters" in bad({"x" * 200: {"y" * 56: 1}}, IOT)


@pytest.mark.parametrize("character", ["x", "é", "漢", "🙂"])
@pytest.mark.parametrize("convention", [VARIABLES, IOT, TRACE])
def test_a_long_explanation_is_cut_at_a_character_and_says_so(
    convention: Convention, character: str
):
    outcome = read({"score": 1, "explanation": character * 400_000}, convention)

    assert isinstance(outcome, Scored)
    assert outcome.explanation is not None
    assert outcome.explanation.endswith(CUT_MARK)
    assert outcome.explanation.removesuffix(CUT_MARK).strip(character) == ""
    assert MAX_EXPLANATION_BYTES - 4 < len(outcome.explanation.encode()) <= MAX_EXPLANATION_BYTES


@pytest.mark.parametrize("character", ["x", "é", "漢", "🙂"])
def test_an_explanation_of_just_16_kib_is_left_alone(character: str):
    text = character * (MAX_EXPLANATION_BYTES // len(character.encode()))

    outcome = read({"score": 1, "explanation": text}, VARIABLES)

    assert outcome == Scored(1.0, True, {}, text)


def test_a_long_skip_reason_is_cut_too():
    outcome = read({"skip": "x" * 100_000}, IOT)

    assert isinstance(outcome, Skipped)
    assert outcome.reason.endswith(CUT_MARK)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("\ud83d\ude42", "🙂"),
        ("é\udfff", "é\ufffd"),
    ],
)
def test_lone_surrogates_are_replaced_wherever_there_is_text(text: str, clean: str):
    outcome = read({"score": 1, "explanation": text, text: [text]}, IOT)

    assert outcome == Scored(1.0, True, {clean: [clean]}, clean)


def test_messages_are_bounded_whatever_was_returned():
    long = "k" * 10_000
    values: list[object] = [
        {"score": long},
        {long: {long: {long: {1}}}},
        {f"\n{long}": decimal.Decimal(1)},
        {"a": {long * 2: 1}},
        type(long, (), {})(),
        long,
    ]

    for convention in Convention:
        for value in values:
            outcome = read(value, convention)
            assert not isinstance(outcome, Failed) or len(outcome.message) < 600


def test_control_characters_in_a_message_are_shown_as_escapes():
    assert 'score: "a\\x1b[31m\\n" is not a number' in bad({"score": "a\x1b[31m\n"}, IOT)
