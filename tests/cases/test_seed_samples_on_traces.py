"""The documents' samples about traces give what their text promises, whatever instrumentation wrote the trace.

The traces are those that the real SDKs sent (`tests/fixtures/instrumentation`), also made slower, longer and silent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recorded_traces import RECORDED
from scorewright import evaluate
from seed_samples import SEEDS, agenta_samples, agentloop_sample, amp_sample

pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason="needs the seeds beside the repository")

NAMES = sorted(path.name.partition(".")[0] for path in RECORDED.glob("*.otlp.json"))
CASES = SEEDS.parent / "cases"
#: Attributes that count tokens, by any instrumentation.
TOKENS = re.compile(r"token_count|usage\..*tokens|usage\.total|aggregated_usage")


def changed(name: str, folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Write a recorded trace with each of its spans changed."""
    request = json.loads((RECORDED / f"{name}.otlp.json").read_text())
    for block in request["resourceSpans"]:
        for scope in block["scopeSpans"]:
            for span in scope["spans"]:
                change(span)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(request))
    return path


def lasting(seconds: float) -> Callable[[dict[str, Any]], None]:
    """Let every span last this long."""

    def change(span: dict[str, Any]) -> None:
        span["endTimeUnixNano"] = str(int(span["startTimeUnixNano"]) + int(seconds * 1e9))

    return change


def counting(factor: int) -> Callable[[dict[str, Any]], None]:
    """Multiply every count of tokens."""

    def change(span: dict[str, Any]) -> None:
        for attribute in span["attributes"]:
            if TOKENS.search(attribute["key"]) and "intValue" in attribute["value"]:
                attribute["value"]["intValue"] = str(int(attribute["value"]["intValue"]) * factor)

    return change


def judged(path: Path, sample: str, **options: Any) -> Any:
    (record,) = evaluate(path, sample, **options)
    assert record.failure is None
    return record


def test_there_are_more_than_enough_instrumentations():
    assert len(NAMES) >= 8


@pytest.mark.parametrize(("seconds", "score"), [(0.5, 1.0), (5.0, 1.0), (5.001, 0.0), (60, 0.0)])
@pytest.mark.parametrize("name", NAMES)
def test_the_latency_check_reads_the_seconds_of_the_root(
    name: str, seconds: float, score: float, tmp_path: Path
):
    path = changed(name, tmp_path, lasting(seconds))

    record = judged(path, agenta_samples()[2])

    assert (record.score, record.passed) == (score, score == 1.0)


@pytest.mark.parametrize(("factor", "score"), [(1, 1.0), (4, 1.0), (5, 0.5), (6, 0.5), (7, 0.0)])
@pytest.mark.parametrize("name", NAMES)
def test_the_token_budget_has_three_grades_over_all_calls_each_once(
    name: str, factor: int, score: float, tmp_path: Path
):
    """Each trace took 120 tokens; the sample's budget is 500, and half as much again for half a point."""
    path = changed(name, tmp_path, counting(factor))

    assert judged(path, agenta_samples()[3]).score == score


@pytest.mark.parametrize("name", NAMES)
def test_tool_calls_are_found_in_the_tool_context_by_name_alone(name: str):
    path, sample = RECORDED / f"{name}.otlp.json", agentloop_sample("tool calling")
    mapping = {"context": "trace.tool_context"}

    found = judged(path, sample, mapping=mapping | {"required_tools": '"order_status"'})
    half = judged(path, sample, mapping=mapping | {"required_tools": '"order_status, refund"'})
    unmapped = judged(path, sample, mapping={"required_tools": '"order_status"'})

    assert (found.score, found.explanation) == (1, "All required tools were called: order_status")
    assert (half.score, half.explanation) == (0.5, "Missing tool calls: refund (1 of 2 matched)")
    assert unmapped.score == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_that_is_no_json_is_scored_0_and_not_skipped(name: str):
    record = judged(RECORDED / f"{name}.otlp.json", amp_sample())

    assert (record.status, record.score) == ("scored", 0.0)
    assert record.explanation.startswith("Invalid JSON: ")


@pytest.mark.parametrize("case", [12, 28, 32, 38])
def test_a_trace_without_an_output_is_skipped(case: int):
    """Of web requests, LiteLLM, the Vercel AI SDK and OpenLLMetry."""
    record = judged(CASES / f"case_{case:03}.otlp.json", amp_sample())

    assert (record.status, record.reason) == ("skipped", "No output to evaluate")
