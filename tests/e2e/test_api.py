"""`scorewright.evaluate`, as a program or a notebook calls it."""

from __future__ import annotations

import gc
import inspect
import json
import os.path
import re
import statistics as stats
import subprocess
import sys
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date
from math import sqrt
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import scorewright
from scorewright import CallerError, EvalResult, Results, Trace, evaluate
from scorewright.domain.errors import EvaluatorError, MappingError, ParamError, UsageError
from scorewright.domain.json_value import JsonObject

ROWS = [{"output": "ab", "expected": "ab"}, {"output": "abc", "expected": "xyz"}]
OFFSET = 1


def matches(output: str, expected: str) -> dict[str, Any]:
    return {"score": int(output == expected), "explanation": f"{output} or {expected}"}


SOURCE = """\
def evaluate(output, expected):
    return {"score": int(output == expected), "explanation": f"{output} or {expected}"}
"""


def only_summary(results: Results) -> JsonObject:
    (summary,) = results.summary()
    return summary


# ── Data ─────────────────────────────────────────────────────────────────────────────────────────


def as_path(folder: Path) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    return path


DATA: dict[str, Callable[[Path], Any]] = {
    "list": lambda _: ROWS,
    "generator": lambda _: (row for row in ROWS),
    "path": as_path,
    "text path": lambda folder: str(as_path(folder)),
    "polars": lambda _: pl.DataFrame(ROWS),
    "pandas": lambda _: pd.DataFrame(ROWS),
}


@pytest.mark.parametrize("kind", DATA)
def test_every_kind_of_data_gives_the_same_results(tmp_path: Path, kind: str):
    results = evaluate(DATA[kind](tmp_path), matches)

    assert [(r.item_id, r.evaluator, r.score, r.explanation) for r in results] == [
        ("1", "matches", 1, "ab or ab"),
        ("2", "matches", 0, "abc or xyz"),
    ]
    assert only_summary(results)["mean_score"] == 0.5


# ── Evaluators ───────────────────────────────────────────────────────────────────────────────────


def test_every_kind_of_evaluator_runs_in_one_call(tmp_path: Path):
    path = tmp_path / "file-one.py"
    path.write_text(SOURCE, encoding="utf-8")

    results = evaluate(ROWS, [path, str(path), SOURCE, matches])

    assert [(r.evaluator, r.score) for r in results] == [
        (name, score)
        for score in (1, 0)
        for name in ("file-one", "file-one-2", "evaluator", "matches")
    ]


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


# ── Options ──────────────────────────────────────────────────────────────────────────────────────


def test_mapping_and_params_address_one_evaluator_or_all():
    source = (
        "def evaluate(given, *, twice: bool = Param(False)):\n"
        '    return {"score": len(given) * (1 + twice), "explanation": ""}\n'
    )
    plain = source.replace(", *, twice: bool = Param(False)", "").replace(" * (1 + twice)", "")
    rows = [{"a": "1", "b": "22"}]

    results = evaluate(rows, [plain, plain], mapping={"given": "a", "evaluator-2.given": "b"})
    constant = evaluate(rows, plain, mapping={"given": ["any", "json"]})

    assert [r.score for r in results] == [1, 2]
    assert [r.score for r in constant] == [2]


def test_workers_timeout_memory_and_limit_are_taken():
    slow = "def evaluate(output):\n    while True: pass\n"
    large = "def evaluate(output):\n    bytearray(40 << 20)\n"

    results = evaluate(ROWS, [slow, large, matches], workers=3, timeout_s=1, memory_mb=32, limit=1)

    codes = [r.failure.code if r.failure else None for r in results]
    assert codes == ["timeout", "out_of_memory", None]


@pytest.mark.parametrize(
    ("options", "kind", "part"),
    [
        ({"mapping": {"expected": "expectd"}}, MappingError, 'did you mean "expected"?'),
        ({"mapping": {"nothing": "output"}}, MappingError, '"nothing"'),
        ({"params": {"k": 1}}, ParamError, '"k"'),
        ({"convention": "variable"}, UsageError, 'did you mean "variables"?'),
        ({"runner": "moat"}, UsageError, "moat"),
        ({"workers": 0}, UsageError, "workers is 0"),
        ({"timeout_s": float("nan")}, UsageError, "timeout_s is nan"),
        ({"timeout_s": -1}, UsageError, "timeout_s is -1"),
        ({"memory_mb": 1}, UsageError, "memory_mb is 1"),
        ({"limit": -1}, UsageError, "limit is -1"),
    ],
)
def test_a_bad_option_is_refused_before_anything_runs(
    options: dict[str, Any], kind: type[CallerError], part: str
):
    with pytest.raises(kind) as refused:
        evaluate(ROWS, matches, **options)

    assert part in str(refused.value)


@pytest.mark.parametrize(
    ("data", "evaluators"),
    [
        ("absent.jsonl", matches),
        (ROWS, "absent.py"),
        (ROWS, "def evalute(output): pass\n"),
        (ROWS, []),
        ([1, 2], matches),
    ],
    ids=["no data", "no file", "no evaluate", "no evaluator", "rows that are none"],
)
def test_what_cannot_be_used_is_the_callers_mistake(data: Any, evaluators: Any):
    with pytest.raises(CallerError):
        evaluate(data, evaluators)


# ── Results ──────────────────────────────────────────────────────────────────────────────────────


def mixed(output: str) -> dict[str, Any]:
    if output == "fails":
        raise RuntimeError("größer 値")
    return {
        "score": len(output),
        "explanation": output,
        "deep": {"list": [1, None], "big": 2**53 + 1},
    }


@pytest.fixture(scope="module")
def results() -> Results:
    return evaluate([{"output": "ab"}, {"output": "fails"}], mixed)


def test_results_have_a_length_and_can_be_walked_through_again_and_at_once(results: Results):
    first = list(results)

    assert len(results) == 2
    assert list(results) == first
    assert list(zip(results, results, strict=True)) == [(r, r) for r in first]


def test_the_report_is_what_the_command_line_prints(results: Results):
    report, summary = results.report(), only_summary(results)

    assert report["summary"] == [summary]
    assert report["items"] == 2
    assert (summary["scored"], summary["failed"], summary["mean_n"]) == (1, 1, 1)
    assert json.loads(json.dumps(report)) == report


def test_frames_hold_the_records(results: Results):
    polars_frame = results.to_polars()
    pandas_frame: Any = results.to_pandas()

    assert polars_frame.schema["score"] == pl.Float64
    assert polars_frame["score"].to_list() == [2.0, None]
    assert polars_frame["status"].to_list() == ["scored", "failed"]
    assert json.loads(polars_frame["metrics"][0]) == {"deep.list": [1, None], "deep.big": 2**53 + 1}
    assert polars_frame["failure_message"].to_list() == [None, "größer 値"]
    assert list(pandas_frame.columns) == polars_frame.columns
    assert pandas_frame["score"].mean() == 2.0
    assert pandas_frame["item_id"].tolist() == ["1", "2"]


def test_results_of_no_rows_are_empty_frames():
    results = evaluate([{"output": "a"}], mixed, limit=0)

    assert len(results) == 0
    assert results.to_polars().shape[0] == 0
    assert results.to_polars().schema["score"] == pl.Float64
    assert list(results.to_pandas().columns) == results.to_polars().columns


def test_many_results_go_to_a_file_that_nobody_has_to_close():
    rows: Iterable[dict[str, str]] = ({"output": "x" * 3000} for _ in range(8000))

    results = evaluate(rows, mixed)
    lengths = {len(r.explanation or "") for r in results}
    count = len(results)
    del results
    gc.collect()

    assert (count, lengths) == (8000, {3000})


def test_only_what_failed_runs_again_and_the_rest_is_kept():
    rows = [{"output": "ab"}, {"output": "cd"}]
    returned = '{"score": 1, "explanation": "first time"} if output == "ab" else None'
    first = evaluate(rows, f"def evaluate(output):\n    return {returned}\n")
    mended = 'def evaluate(output):\n    return {"score": 10, "explanation": "second time"}\n'

    second = evaluate(rows, mended, previous=first)

    assert [r.status for r in first] == ["scored", "failed"]
    assert [r.explanation for r in second] == ["first time", "second time"]
    assert (second.report()["kept"], second.report()["kept_of_other_version"]) == (1, 1)
    assert only_summary(second)["mean_score"] == 5.5


# ── The module ───────────────────────────────────────────────────────────────────────────────────


def test_the_public_names_are_these():
    assert scorewright.__all__ == [
        "AgentTrace",
        "CallerError",
        "EvalResult",
        "LLMSpan",
        "Param",
        "ResultRecord",
        "Results",
        "SandboxUnavailableError",
        "ScorewrightError",
        "Trace",
        "__version__",
        "evaluate",
    ]
    assert [name for name in scorewright.__all__ if not hasattr(scorewright, name)] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="evalute"):
        _ = scorewright.evalute  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        (
            "import scorewright",
            ["msgspec", "polars", "scorewright.domain", "scorewright.authoring"],
        ),
        (
            "import scorewright.authoring",
            ["msgspec", "polars", "scorewright.domain", "json", "inspect"],
        ),
        ("from scorewright import evaluate", ["polars", "pandas", "yaml", "rich", "asyncio"]),
        ("from scorewright.cli import run", ["polars", "pandas", "yaml", "rich", "asyncio", "csv"]),
    ],
)
def test_an_import_loads_nothing_it_does_not_need(statement: str, absent: list[str]):
    program = f"import sys\n{statement}\nprint(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-P", "-c", program], check=True, capture_output=True, text=True
    )

    assert sorted(set(absent) & set(done.stdout.split())) == []
