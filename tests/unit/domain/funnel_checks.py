"""Checks that the tests of the funnel share."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from scorewright.domain.convention import Convention
from scorewright.domain.json_copy import MAX_EXPLANATION_BYTES
from scorewright.domain.result import Failed, FailureCode, Outcome, Scored, Skipped
from scorewright.domain.returned import Reading, interpret, make_interpreter

UNIT = (0.0, 1.0)


def read(value: object, convention: Convention, *, ranged: bool = True) -> Outcome:
    """Interpret with the defaults of an evaluator, by both ways."""
    reading = Reading(convention, UNIT, 0.5) if ranged else Reading(convention)
    outcome = interpret(value, reading)
    assert make_interpreter(reading)(value) == outcome
    return outcome


def bad(value: object, convention: Convention) -> str:
    """Give the message of a value that must be refused."""
    outcome = read(value, convention)
    assert isinstance(outcome, Failed)
    assert outcome.code is FailureCode.BAD_RETURN
    return outcome.message


def nested_list(levels: int) -> Any:
    """Put 0 into that many lists."""
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def assert_sound(outcome: Outcome) -> None:
    """Check what every outcome promises, whatever was returned."""
    decoded = msgspec.json.decode(msgspec.json.encode(outcome), type=Scored | Skipped | Failed)
    assert decoded == outcome
    match outcome:
        case Scored(score, passed, metrics, explanation):
            assert score is not None or passed is not None or metrics
            assert score is None or (type(score) is float and math.isfinite(score))
            assert all(type(name) is str and len(name) <= 256 for name in metrics)
            assert explanation is None or len(explanation.encode()) <= MAX_EXPLANATION_BYTES
        case Skipped(reason):
            assert reason
        case Failed(code, message):
            assert code in {FailureCode.BAD_RETURN, FailureCode.OUTPUT_LIMIT}
            assert message.isprintable()
            assert len(message) < 600
