"""`scorewright.evaluate`, as a program or a notebook calls it."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import scorewright
from scorewright import CallerError, Results, evaluate
from scorewright.domain.errors import MappingError, ParamError, UsageError
from scorewright.domain.json_value import JsonObject

ROWS = [{"output": "ab", "expected": "ab"}, {"output": "abc", "expected": "xyz"}]


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


def test_a_source_of_one_line_is_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source = 'evaluate = lambda output: {"score": len(output), "explanation": ""}'
    monkeypatch.chdir(tmp_path)
    Path("evaluate=1.py").write_text(SOURCE, encoding="utf-8")

    results = evaluate(ROWS, [source, "evaluate=1.py"])

    assert [(r.evaluator, r.score) for r in results] == [
        *(("evaluator", 2), ("evaluate-1", 1)),
        *(("evaluator", 3), ("evaluate-1", 0)),
    ]


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
        ({"convention": 3}, UsageError, "convention is 3"),
        ({"runner": "moat"}, UsageError, "moat"),
        ({"required_layers": "landlock"}, UsageError, 'required_layers is "landlock"'),
        ({"required_layers": [1]}, UsageError, "required_layers is"),
        ({"required_layers": ["landlok"]}, UsageError, "landlok"),
        ({"required_layers": ["landlock"], "runner": "local"}, UsageError, "landlock"),
        ({"mapping": ["output"]}, UsageError, "mapping is"),
        ({"mapping": {1: "output"}}, UsageError, "mapping: a key is 1"),
        ({"params": {"k": object()}}, UsageError, 'params: "k": a object is no JSON value'),
        ({"previous": [1]}, UsageError, "previous is"),
        ({"timeout_s": "5"}, UsageError, 'timeout_s is "5"'),
        ({"timeout_s": True}, UsageError, "timeout_s is true"),
        ({"workers": 1.5}, UsageError, "workers is 1.5"),
        ({"memory_mb": None}, UsageError, "memory_mb is null"),
        ({"limit": "all"}, UsageError, 'limit is "all"'),
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
    if kind is UsageError:
        assert "--" not in str(refused.value)


@pytest.mark.parametrize(
    ("data", "evaluators"),
    [
        ("absent.jsonl", matches),
        (ROWS, "absent.py"),
        (ROWS, "def evalute(output): pass\n"),
        (ROWS, []),
        (ROWS, None),
        (ROWS, [matches, 1]),
        ([1, 2], matches),
        (None, matches),
    ],
    ids=[
        *("no data", "no file", "no evaluate", "no evaluator", "none", "no function"),
        *("rows that are none", "no rows"),
    ],
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
