"""Functions and other callables as evaluators of `scorewright.evaluate`."""

from __future__ import annotations

import inspect
import json
import os.path
import re
import statistics as stats
import urllib.parse
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date
from functools import partial
from math import pi, sqrt
from math import tau as whole_turn
from pathlib import Path
from typing import Any

import pytest

from scorewright import EvalResult, Param, Trace, evaluate
from scorewright.domain.errors import EvaluatorError, ParamError

ROWS = [{"output": "ab", "expected": "ab"}, {"output": "abc", "expected": "xyz"}]
OFFSET = 1
sum = 3  # noqa: A001 - shadows a builtin, as careless modules do


def uses_the_standard_library(output: str, now: date | None = None) -> dict[str, Any]:
    day = date(2024, 2, 29)
    parts = [
        os.path.commonpath(["a/b", "a/c"]),
        str(stats.mean([1, 3])),
        urllib.parse.quote(" "),
        str(Counter(output).most_common(1)),
        re.sub("a", "A", output),
        Path("x/y").name,
        str(day.year),
        str(now),
    ]
    return {"score": sqrt(4), "explanation": json.dumps(parts)}


def test_what_a_function_uses_of_the_standard_library_goes_along():
    results = evaluate(ROWS[:1], uses_the_standard_library)

    (result,) = results
    assert result.failure is None
    assert result.score == 2
    assert json.loads(result.explanation or "") == [
        *("a", "2", "%20", "[('a', 1)]", "Ab", "y", "2024", "None")
    ]
    assert result.runner == "jail"


def judges_a_trace(trace: Trace, least: int = 2) -> EvalResult:
    if trace.output == "abc":
        return EvalResult.skip("not this one")
    return EvalResult(score=float(len(str(trace.output)) >= least))


async def waits(output: str) -> dict[str, Any]:
    return {"score": len(output), "explanation": ""}


def test_a_function_may_use_any_convention():
    results = evaluate(ROWS, [judges_a_trace, waits], params={"least": "3"})

    assert [(r.status, r.score) for r in results] == [
        ("scored", 0.0),
        ("scored", 2.0),
        ("skipped", None),
        ("scored", 3.0),
    ]
    conventions = [e["convention"] for e in documents(results.report()["evaluators"])]
    assert conventions == ["trace_object", "variables"]


def documents(value: Any) -> list[dict[str, Any]]:
    return value


def refers_to_a_global(output: str) -> dict[str, Any]:
    return {"score": len(output) + OFFSET, "explanation": ""}


def refers_to_a_function(output: str) -> dict[str, Any]:
    return {"score": len(documents(output)), "explanation": ""}


def has_a_default_from_outside(output: str, offset: int = OFFSET) -> dict[str, Any]:
    return {"score": len(output) + offset, "explanation": ""}


def make_closure() -> Callable[..., Any]:
    weight = 3

    def closes_over(output: str) -> dict[str, Any]:
        return {"score": weight * len(output), "explanation": ""}

    return closes_over


STATEFUL = {
    "OFFSET": (refers_to_a_global, [3, 4]),
    "documents": (refers_to_a_function, [2, 3]),
    "weight": (make_closure(), [6, 9]),
}


@pytest.mark.parametrize("name", STATEFUL)
def test_a_function_with_state_is_refused_by_the_sandbox_and_runs_without(name: str):
    function, scores = STATEFUL[name]

    with pytest.raises(EvaluatorError) as refused:
        evaluate(ROWS, function)
    results = evaluate(ROWS, function, runner="local")

    assert name in str(refused.value)
    assert function.__name__ in str(refused.value)
    assert 'runner="local"' in str(refused.value)
    assert [r.score for r in results] == scores
    assert {r.runner for r in results} == {"local: no sandbox"}


def test_a_default_from_outside_is_state_as_well():
    with pytest.raises(EvaluatorError, match="OFFSET"):
        evaluate(ROWS, has_a_default_from_outside)


def uses_constants_of_the_standard_library(output: str) -> dict[str, Any]:
    return {"score": round(pi + whole_turn), "explanation": f"{output} {UTC}"}


def test_a_constant_imported_from_the_standard_library_goes_along():
    jailed = evaluate(ROWS[:1], uses_constants_of_the_standard_library)
    local = evaluate(ROWS[:1], uses_constants_of_the_standard_library, runner="local")

    assert [(r.score, r.explanation) for r in jailed] == [(9, "ab UTC")]
    assert [(r.score, r.explanation) for r in local] == [(9, "ab UTC")]


def test_a_constant_that_no_longer_is_what_was_imported_is_state(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(globals(), "pi", 3)

    with pytest.raises(EvaluatorError, match="refers to pi outside"):
        evaluate(ROWS, uses_constants_of_the_standard_library)


def uses_what_shadows_a_builtin(output: str) -> dict[str, Any]:
    return {"score": sum, "explanation": output}


def test_a_global_that_shadows_a_builtin_is_state():
    with pytest.raises(EvaluatorError, match="refers to sum outside"):
        evaluate(ROWS, uses_what_shadows_a_builtin)


def make_function_with_texts() -> Callable[..., Any]:
    if OFFSET:

        def shows_its_texts(output: str) -> dict[str, Any]:
            text = """
        as deep as the function
  less deep
none at all"""
            if output == "abc":
                raise ValueError(text)
            return {"score": 1, "explanation": text}

        return shows_its_texts
    raise AssertionError


def test_an_indented_function_keeps_its_texts_and_its_lines():
    function = make_function_with_texts()
    lines, first = inspect.getsourcelines(function)

    jailed, local = (list(evaluate(ROWS, function, runner=name)) for name in ("jail", "local"))

    raised_at = first + next(at for at, line in enumerate(lines) if "raise" in line)
    for scored, failed in (jailed, local):
        assert scored.explanation == "\n        as deep as the function\n  less deep\nnone at all"
        assert failed.failure is not None
        assert failed.failure.line == raised_at


def looks_like_it_refers_to_a_global(output: str) -> dict[str, Any]:
    class Holder:
        OFFSET = 5

    return {"score": Holder.OFFSET, "explanation": output}


def test_an_attribute_of_the_name_of_a_global_is_no_state():
    results = evaluate(ROWS, looks_like_it_refers_to_a_global)

    assert [r.score for r in results] == [5, 5]


def fails_in_its_last_line(output: str) -> dict[str, Any]:
    """Fail, after a few lines, some of them blank."""
    text = output

    raise ValueError(f"not {text}")


@pytest.mark.parametrize("runner", ["jail", "local"])
def test_a_failure_names_the_line_of_the_functions_own_file(runner: str):
    lines, first = inspect.getsourcelines(fails_in_its_last_line)

    results = evaluate(ROWS[:1], fails_in_its_last_line, runner=runner)

    (result,) = results
    assert result.failure is not None
    assert result.failure.line == first + len(lines) - 1
    assert result.failure.message.endswith("not ab")


NO_FUNCTIONS: dict[str, Any] = {
    "lambda": dict,
    "built-in": print,
    "class": Counter,
    "method": "".join,
}


@pytest.mark.parametrize("function", NO_FUNCTIONS.values(), ids=NO_FUNCTIONS)
def test_what_has_no_source_of_its_own_is_refused(function: Callable[..., Any]):
    with pytest.raises(EvaluatorError, match="def"):
        evaluate(ROWS, function)


class Threshold:
    def __init__(self, least: int) -> None:
        self.least = least

    def __call__(self, output: str) -> dict[str, Any]:
        return {"score": int(len(output) >= self.least), "explanation": output}

    async def wait(self, output: str) -> dict[str, Any]:
        return self(output)


class AsyncThreshold(Threshold):
    async def __call__(self, output: str) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return await self.wait(output) if not output else {"score": 7, "explanation": output}


def longer(least: int, output: str, *, weight: float = 1.0) -> dict[str, Any]:
    return {"score": weight * (len(output) >= least), "explanation": output}


def make_lambda() -> Callable[[str], dict[str, Any]]:
    return lambda output: longer(3, output)


CALLABLES: dict[str, tuple[Callable[..., Any], str, list[float]]] = {
    "lambda": (make_lambda(), "lambda", [0, 1]),
    "partial": (partial(longer, 3), "longer", [0, 1]),
    "partial by name": (partial(longer, 3, weight=0.5), "longer", [0, 0.5]),
    "object": (Threshold(3), "threshold", [0, 1]),
    "async object": (AsyncThreshold(3), "asyncthreshold", [7, 7]),
    "method": (Threshold(3).__call__, "threshold", [0, 1]),
    "async method": (Threshold(3).wait, "wait", [0, 1]),
}


@pytest.mark.parametrize("kind", CALLABLES)
def test_a_callable_without_a_source_runs_without_the_sandbox_only(kind: str):
    function, name, scores = CALLABLES[kind]

    with pytest.raises(EvaluatorError, match='runner="local"'):
        evaluate(ROWS, function)
    results = evaluate(ROWS, function, runner="local")

    assert [(r.evaluator, r.score) for r in results] == [(name, score) for score in scores]


def test_a_callables_parameters_are_mapped_and_set_like_those_of_a_function():
    marker, limited = object(), Param(0.5, min=0, max=1)

    def judge(trace: Trace, weight: Any = limited, other: Any = marker) -> Any:
        return EvalResult(score=weight if other is marker and trace.output else 0.0)

    function = partial(judge)

    results = evaluate(ROWS, function, runner="local", params={"weight": 0.75})

    assert [r.score for r in results] == [0.75, 0.75]
    with pytest.raises(ParamError, match="weight"):
        evaluate(ROWS, function, runner="local", params={"weight": 3})


def test_a_callable_whose_parameters_cannot_be_told_is_refused():
    with pytest.raises(EvaluatorError, match="dict: its parameters cannot be told"):
        evaluate(ROWS, dict, runner="local")


def test_a_callables_version_is_told_by_its_name_and_parameters():
    functions = [partial(longer, 3), partial(longer, 4), partial(longer, 3, weight=2), Threshold(3)]

    report = evaluate(ROWS, functions, runner="local").report()

    digests = [one["digest"] for one in documents(report["evaluators"])]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3
