"""The funnel: what an author's `evaluate` returned, turned into an outcome.

One function for every path and convention. It runs inside the sandbox, once an item, so the shapes
that nearly every evaluator returns are read first and by identity; everything else goes through the
table below. No value makes it raise, and it never calls a method an author could have overridden.

| returned          | inputs_outputs_trace | variables         | trace_object     | the two legacy ones |
|-------------------|----------------------|-------------------|------------------|---------------------|
| skip              | skipped              | skipped           | skipped          | skipped             |
| EvalResult        | score, verdict, why  | same, why needed  | same             | bad_return          |
| bool              | verdict              | bad_return        | score 1 or 0     | score 1 or 0        |
| number            | score                | bad_return        | score            | score               |
| number off range  | flagged              | flagged           | bad_return       | flagged             |
| object            | metrics              | score, why needed | score needed     | bad_return          |
| text              | metric `result`      | bad_return        | bad_return       | score, if a number  |
| None              | bad_return           | bad_return        | bad_return       | bad_return          |
| anything else     | bad_return           | bad_return        | bad_return       | bad_return          |

Source: contracts §3; the three seeds' sections on return values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

import msgspec

from scorewright.authoring.eval_result import EvalResult, lay_open
from scorewright.domain.convention import Convention
from scorewright.domain.excerpt import base_of, excerpt
from scorewright.domain.json_copy import (
    BadReturnError,
    JsonCopy,
    TooLargeError,
    cut_text,
    is_clean,
    no_result,
    not_json,
    too_deep,
)
from scorewright.domain.json_value import JsonObject
from scorewright.domain.metrics import flatten
from scorewright.domain.result import Failed, FailureCode, Outcome, Scored, Skipped

MAX_METRICS: Final = 1_000
MAX_METRIC_NAME_CHARS: Final = 256

ScoreRange: TypeAlias = tuple[float, float]
Interpreter: TypeAlias = Callable[[object], Outcome]

#: The range the amp seed states and `trace_object` therefore enforces.
_UNIT_RANGE: Final = (0.0, 1.0)
#: Up to here an int is the same number as a float, so one comparison serves both.
_EXACT: Final = 2**53
_NUMBER_CHARS: Final = frozenset("0123456789+-.eE")
#: The key texts as the compiler interns them, so that a key can be compared by identity alone.
_SCORE: Final = "score"
_EXPLANATION: Final = "explanation"


class Reading(msgspec.Struct, frozen=True):
    """What decides how a returned value is read."""

    convention: Convention
    #: Smallest and largest score; None where the author's code alone knows.
    score_range: ScoreRange | None = None
    #: Least score that passes, in the score's own units; None for no verdict.
    threshold: float | None = None


class _Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What a convention expects to be returned: one column of the table."""

    #: Built-in types that may be returned; `float` stands for both kinds of number.
    takes: tuple[type, ...]
    #: What to return instead of a bad value.
    wanted: str
    #: Keys that a returned object must have.
    needs: tuple[str, ...] = ()
    #: The key that states the verdict; None where no key does.
    verdict_key: str | None = None
    #: Whether a bool is a score of 1 or 0; otherwise it is a verdict.
    counts_bool: bool = True
    #: Whether a text is a number; otherwise it is a metric.
    counts_text: bool = True


_LEGACY: Final = _Shape(
    takes=(bool, float, str),
    wanted="this evaluator returns a single score: return a number; to return metrics, make a new evaluator with evaluate(inputs, outputs, trace)",
)
_SHAPES: Final = {
    Convention.VARIABLES: _Shape(
        takes=(dict,),
        wanted='return {"score": a number, "explanation": a text}',
        needs=(_SCORE, _EXPLANATION),
        counts_bool=False,
    ),
    Convention.INPUTS_OUTPUTS_TRACE: _Shape(
        takes=(bool, float, str, dict),
        wanted="return a number, a bool, a text or an object of metrics",
        verdict_key="success",
        counts_bool=False,
        counts_text=False,
    ),
    Convention.TRACE_OBJECT: _Shape(
        takes=(bool, float, dict),
        wanted='return EvalResult(score=a number, explanation="why") or EvalResult.skip("why")',
        needs=(_SCORE,),
        verdict_key="passed",
    ),
    Convention.LEGACY_SCORE: _LEGACY,
    Convention.LEGACY_CORRECT_ANSWER: _LEGACY,
}


def interpret(value: object, reading: Reading) -> Outcome:
    """Turn a returned value into an outcome.

    Args:
        value: Anything an author's function can return.
        reading: The evaluator's convention, score range and threshold.

    Returns:
        `Scored`, whose numbers are finite and whose metrics are JSON; `Skipped`; or `Failed` with
        `bad_return` or `output_limit`, the author's fault, and a text that says what to return.
    """
    return _interpret(value, reading, _SHAPES[reading.convention])


def _interpret(value: object, reading: Reading, shape: _Shape) -> Outcome:
    try:
        return _read(value, reading, shape)
    except BadReturnError as bad:
        return Failed(FailureCode.BAD_RETURN, bad.message)
    except TooLargeError:
        return Failed(FailureCode.OUTPUT_LIMIT, TooLargeError.message)
    except RecursionError:  # the author lowered the interpreter's limit
        return Failed(FailureCode.BAD_RETURN, too_deep().message)


def expected_of(convention: Convention) -> tuple[list[str], str]:
    """Return the names of the built-in types that may be returned, and what to return instead of others.

    For a harness that has to tell before the funnel sees the value, as JSON has no word for NaN, say. `float` stands
    for both kinds of number.
    """
    shape = _SHAPES[convention]
    return [kind.__name__ for kind in shape.takes], shape.wanted


def make_interpreter(reading: Reading) -> Interpreter:
    """Make `interpret` for one evaluator, quick on what its convention usually returns.

    Args:
        reading: The evaluator's convention, score range and threshold.

    Returns:
        A function of the returned value alone, equal to `interpret` on every value.
    """
    if reading.convention is Convention.VARIABLES:
        return _variables_interpreter(reading)
    if reading.convention is Convention.INPUTS_OUTPUTS_TRACE:
        return _number_interpreter(reading)
    shape = _SHAPES[reading.convention]
    return lambda value: _interpret(value, reading, shape)


def _variables_interpreter(reading: Reading) -> Interpreter:
    """Read `{"score": number, "explanation": text}` at once; leave the rest to `interpret`."""
    low, high = _quick_range(reading)
    threshold, shape = reading.threshold, _SHAPES[reading.convention]

    def read(value: object) -> Outcome:
        kind = type(value)
        returned: Any = value
        if kind is dict and len(returned) == 2:
            (first, score), (second, explanation) = returned.items()
            if first is _EXPLANATION:
                first, score, second, explanation = second, explanation, first, score
            if (
                first is _SCORE
                and second is _EXPLANATION
                and (type(score) is float or type(score) is int)
                and low <= score <= high
                and type(explanation) is str
                and is_clean(explanation)
            ):
                passed = None if threshold is None else score >= threshold
                return Scored(float(score), passed, {}, explanation)
        return _interpret(value, reading, shape)

    return read


def _number_interpreter(reading: Reading) -> Interpreter:
    """Read a bare number or bool at once; leave the rest to `interpret`."""
    low, high = _quick_range(reading)
    threshold, shape = reading.threshold, _SHAPES[reading.convention]

    def read(value: object) -> Outcome:
        if value is True or value is False:
            return Scored(None, value)
        if (type(value) is float or type(value) is int) and low <= value <= high:
            return Scored(float(value), None if threshold is None else value >= threshold)
        return _interpret(value, reading, shape)

    return read


def _quick_range(reading: Reading) -> ScoreRange:
    low, high = reading.score_range or (-_EXACT, _EXACT)
    return max(low, -_EXACT), min(high, _EXACT)


def _read(value: object, reading: Reading, shape: _Shape) -> Outcome:
    # The real class: `isinstance` would also ask an author's `__class__` property.
    if issubclass(type(value), EvalResult):
        fields = lay_open(cast("EvalResult", value))
        shape = msgspec.structs.replace(shape, verdict_key="passed")
        return _read_object(JsonCopy().object(fields, cut=_EXPLANATION), reading, shape)
    if base_of(value) is dict:
        return _read_object(JsonCopy().object(value, cut=_EXPLANATION), reading, shape)
    return _judge(_read_scalar(value, shape), reading)


def _read_object(returned: JsonObject, reading: Reading, shape: _Shape) -> Outcome:
    reason = returned.get("skip")
    if isinstance(reason, str) and reason and returned.keys() <= {"skip", _EXPLANATION}:
        return Skipped(cut_text(reason), _text_at(returned, _EXPLANATION))
    if dict not in shape.takes:
        what = f"an object of {len(returned)} keys"
        raise BadReturnError(what, "is not a single score", fix=shape.wanted)
    absent = [key for key in shape.needs if key not in returned]
    if absent:
        what = f"an object without {' and '.join(map(excerpt, absent))}"
        raise BadReturnError(what, "", fix=shape.wanted)
    explanation = _text_at(returned, _EXPLANATION)
    if explanation is None and _EXPLANATION in shape.needs:
        raise BadReturnError("null", "is not a text", fix=shape.wanted, at=_EXPLANATION)
    verdict_key = shape.verdict_key
    score = _score_in(returned, shape)
    passed = None if verdict_key is None else _verdict_in(returned, verdict_key)
    own = (_SCORE, _EXPLANATION, verdict_key)
    metrics = _named({key: part for key, part in returned.items() if key not in own})
    if score is None and passed is None and not metrics:
        raise BadReturnError("an object", "measures nothing", fix=shape.wanted)
    return _judge(Scored(score, passed, metrics, explanation), reading)


def _score_in(returned: JsonObject, shape: _Shape) -> float | None:
    if _SCORE not in returned:
        return None
    score = returned[_SCORE]
    if isinstance(score, int | float) and (shape.counts_bool or not isinstance(score, bool)):
        return float(score)
    raise BadReturnError(excerpt(score), "is not a number", fix=shape.wanted, at=_SCORE)


def _verdict_in(returned: JsonObject, key: str) -> bool | None:
    verdict = returned.get(key)
    if verdict is None or isinstance(verdict, bool):
        return verdict
    raise BadReturnError(excerpt(verdict), "is not a bool", fix="return a bool", at=key)


def _text_at(returned: JsonObject, key: str) -> str | None:
    text = returned.get(key)
    if text is None or isinstance(text, str):
        return text
    raise BadReturnError(excerpt(text), "is not a text", fix="return str(x)", at=key)


def _named(nested: JsonObject) -> JsonObject:
    """Flatten what is left of a returned object into metrics, within bounds."""
    metrics = flatten(nested)
    if len(metrics) > MAX_METRICS:
        what, limit = f"{len(metrics)} metrics", f"are more than the {MAX_METRICS} an item may have"
        raise BadReturnError(what, limit, fix="return a list under one name")
    for name in metrics:
        if len(name) > MAX_METRIC_NAME_CHARS:
            limit = f"is longer than {MAX_METRIC_NAME_CHARS} characters"
            raise BadReturnError(f"the metric name {excerpt(name)}", limit, fix="shorten it")
    return metrics


def _read_scalar(value: Any, shape: _Shape) -> Scored:
    base = base_of(value)
    if base is None:
        raise not_json(value)
    if value is None:
        raise BadReturnError("nothing on this path", "", fix=shape.wanted)
    if (float if base is int else base) not in shape.takes:
        raise no_result(value, shape.wanted)
    copied = JsonCopy().value(value)
    if isinstance(copied, str):
        return _read_text(copied, shape)
    if isinstance(copied, bool) and not shape.counts_bool:
        return Scored(passed=copied)
    return Scored(float(cast("float", copied)))


def _read_text(text: str, shape: _Shape) -> Scored:
    if shape.counts_text:
        return Scored(_parse_number(text, shape))
    if not text:
        raise BadReturnError("an empty text", "measures nothing", fix=shape.wanted)
    return Scored(metrics={"result": text})


def _parse_number(text: str, shape: _Shape) -> float:
    """Parse a decimal number and nothing else: no `nan`, no `1_000`, no `0.8 points`."""
    stripped = text.strip()
    if _NUMBER_CHARS.issuperset(stripped):
        try:
            number = float(stripped)
        except ValueError:  # such as `1-2` or an empty text
            number = float("inf")
        if number - number == 0:
            return number
    raise BadReturnError(excerpt(text), "is not a finite number", fix=shape.wanted)


def _judge(measured: Scored, reading: Reading) -> Scored:
    """Apply the score range and the threshold."""
    score, passed = measured.score, measured.passed
    if score is None:
        return measured
    is_strict = reading.convention is Convention.TRACE_OBJECT
    low, high = reading.score_range or (_UNIT_RANGE if is_strict else (score, score))
    out_of_range = not low <= score <= high
    if out_of_range and is_strict:
        fix = "keep the score inside, or declare another score_range"
        raise BadReturnError(f"a score of {score!r}", f"is outside {low:g} to {high:g}", fix=fix)
    if passed is None and reading.threshold is not None and not out_of_range:
        passed = score >= reading.threshold
    return Scored(score, passed, measured.metrics, measured.explanation, out_of_range)
