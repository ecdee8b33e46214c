"""What the three seeds promise, done over HTTP by a client that knows only openapi.json.

| Promise | Operations |
|---|---|
| write code in three languages, reset to a template, ask an AI assistant | list_evaluator_templates, get_copilot_prompt |
| variables, required or not, and config params are found in the code | parse_evaluator, check_evaluator |
| name, display name, description, tags; found by them | create_evaluator, list_evaluators |
| data sources: datasets, traces, trajectories, conversations, logs | upload_dataset, create_dataset, export_traces, export_logs |
| preview data, switch sample, fields to map | sample_source, list_source_fields |
| run test, several evaluators at once | preview_evaluators |
| create and run; mapping, params, filter, sample | create_task, start_run |
| run records: counts, duration, mean | list_runs, get_run, watch_run, summarise_run |
| results in detail and by item; filters by status, evaluator, range, time | list_run_results, list_run_items |
| distribution, export | list_run_distributions, export_run_results |
| a failure is a record, not a score; done again | list_run_results, repeat_run |
| edit without losing what was; copy | edit_evaluator, list_evaluator_versions, duplicate_evaluator |
| soft delete, usage | delete_evaluator, restore_evaluator, get_evaluator_usage |

LLM judges and monitors are not there yet.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi_client import Client, RefusedError
from seed_samples import AGENTLOOP_LEVELS, SEEDS, agenta_samples, agentloop_sample, amp_sample
from served import server

EXAMPLES = Path(__file__).parents[2] / "examples"
HERE = {"project": "default"}
TYPESCRIPT = """
function evaluate(inputs: Record<string, any>, outputs: any, trace: Record<string, any>) {
  const success = outputs === inputs.correct_answer
  return {score: success ? 1.0 : 0.0, success, tone: {polite: 0.5}}
}
"""
JAVASCRIPT = """
function evaluate(input, output, context = null) {
  return { score: Math.min(100, output.length), explanation: `${output.length} characters` }
}
module.exports = evaluate
"""
TRACE_OBJECT = '''
def evaluate(trace: Trace, min_words: int = 1) -> EvalResult:
    """Count words."""
    if not trace.output:
        return EvalResult.skip("No output to evaluate")
    return EvalResult(score=float(len(trace.output.split()) >= min_words), explanation="counted")
'''
FRAGILE = """
def evaluate(output, expected, tolerance=0.001):
    close = abs(float(output) - float(expected)) <= tolerance
    return {"score": int(close), "explanation": f"{output} against {expected}"}
"""

LOGS: Any = {
    "resourceLogs": [
        {
            "scopeLogs": [
                {
                    "logRecords": [
                        {
                            "timeUnixNano": "1780000000000000000",
                            "severityNumber": 13,
                            "body": {"stringValue": "late"},
                        }
                    ]
                }
            ]
        }
    ]
}
LOUD = "def evaluate(body):\n    return {'score': 1, 'explanation': body}\n"


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Generator[Client]:
    """A client of a server that runs, over an empty database."""
    with server(tmp_path / "home", "--migrate", "--database", database_url) as running:
        headers = {"Authorization": f"Bearer {running.token}"}
        with httpx.Client(base_url=running.address, headers=headers, timeout=60) as http:
            yield Client(http)


def run_to_its_end(api: Client, task: str) -> Any:
    run = api("start_run", **HERE, task=task)
    return follow(api, run)


def follow(api: Client, run: Any) -> Any:
    """Watch a run by its events, as they are described."""
    events = api("watch_run", **HERE, run=run["id"]).decode().split("\n\n")
    told = [event for event in events if "\nevent: run\n" in event]
    last = json.loads(told[-1].rpartition("\ndata: ")[2])
    assert last == api("get_run", **HERE, run=run["id"])
    assert last["status"] == "completed"
    return last


def test_evaluators_in_each_language_are_written_tried_saved_and_run_over_a_dataset(api: Client):
    rows = [
        {"input": "2+2", "output": "4", "outputs": "4", "correct_answer": "4", "truth": 4},
        {"input": "pi", "output": "3.2", "outputs": "3.2", "correct_answer": "3.1", "truth": 3.1},
        {"input": "e", "output": "?", "outputs": "?", "correct_answer": "2.7", "truth": 2.7},
    ]
    file = ("numbers.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    made = api("upload_dataset", {"file": file, "name": "numbers"}, **HERE)
    assert made["latest_version"]["rows"] == 3
    source = {"kind": "dataset", "dataset": "numbers"}
    assert len(api("list_evaluator_templates", **HERE)["items"]) >= 5
    assert "evaluate" in api("get_copilot_prompt", **HERE, language="javascript")["text"]

    parsed = api("parse_evaluator", {"source": FRAGILE}, **HERE)
    required = {one["name"]: one["required"] for one in parsed["variables"]}
    assert required == {"output": True, "expected": True, "tolerance": False}
    wrong = {"source": "def evaluate(:"}
    assert api("check_evaluator", wrong, **HERE)["diagnostics"][0]["severity"] == "error"

    fields = api("list_source_fields", **HERE, source=json.dumps(source))
    assert "truth" in {field["name"] for field in fields["fields"]}
    sample = api("sample_source", {"source": source, "n": 1}, **HERE)
    assert sample["items"][0]["data"] == rows[0]
    tried = api(
        "preview_evaluators",
        {
            "source": source,
            "evaluators": [
                {"source": FRAGILE, "mapping": {"expected": "truth"}},
                {"source": JAVASCRIPT, "language": "javascript"},
                {"source": TYPESCRIPT, "language": "typescript"},
            ],
        },
        **HERE,
    )
    assert [one["error"] for one in tried["evaluators"]] == [None] * 3
    found = [[one["status"] for one in trial["results"]] for trial in tried["evaluators"]]
    assert found[0] == ["scored", "scored", "failed"]

    for name, language, code in (
        ("close", "python", FRAGILE),
        ("length", "javascript", JAVASCRIPT),
        ("same", "typescript", TYPESCRIPT),
    ):
        body = {"name": name, "source": code, "language": language, "tags": ["numbers"]}
        more = {"score_range": [0, 100]} if name == "length" else {}
        _, headers = api.send("create_evaluator", {**body, **more}, **HERE, idempotency_key=name)
        assert headers["Location"].endswith(f"/{name}")
    assert len(api.pages("list_evaluators", **HERE, tag=["numbers"], limit=1)) == 3
    uses = [
        {"evaluator": "close", "mapping": {"expected": "truth", "tolerance": 0.2}},
        {"evaluator": "length"},
        {"evaluator": "same"},
    ]
    api("create_task", {"name": "all", "source": source, "evaluators": uses}, **HERE)
    run = run_to_its_end(api, "all")

    failed = api.pages("list_run_results", **HERE, run=run["id"], status=["failed"], limit=1)
    assert [(one["evaluator"], one["item_no"]) for one in failed] == [("close", 3)]
    assert failed[0]["failure"]["code"] == "author_error"
    low = api(
        "list_run_results",
        **HERE,
        run=run["id"],
        evaluator=["length"],
        max_score=0.02,
        normalised=True,
    )
    assert {one["score"] for one in low["items"]} == {1.0}
    items = api("list_run_items", **HERE, run=run["id"])["items"]
    assert [len(item["results"]) for item in items] == [3, 3, 3]
    assert items[0]["results"][2]["metrics"] == {"tone.polite": 0.5}
    report = api("summarise_run", **HERE, run=run["id"])
    assert [(one["scored"], one["failed"]) for one in report["summary"]] == [(2, 1), (3, 0), (3, 0)]
    assert len(api("list_run_distributions", **HERE, run=run["id"])) == 3
    for form in ("jsonl", "csv", "parquet"):
        assert api("export_run_results", **HERE, run=run["id"], format=form)
    again = api("repeat_run", {"mode": "failed"}, **HERE, run=run["id"])
    assert follow(api, again)["parent_run_id"] == run["id"]
    assert len(api.pages("list_runs", **HERE, task="all")) == 2


def test_evaluators_are_edited_copied_found_deleted_and_restored(api: Client):
    _, headers = api.send(
        "create_evaluator", {"display_name": "My Words", "source": TRACE_OBJECT}, **HERE
    )
    name = {**HERE, "evaluator": "my-words"}
    with pytest.raises(RefusedError, match="412"):
        api("edit_evaluator", {"tags": ["x"]}, **name, if_match='"99"')
    changed = {"source": TRACE_OBJECT.replace("= 1", "= 2"), "tags": ["format"]}
    _, headers = api.send("edit_evaluator", changed, **name, if_match=headers["ETag"])
    assert [one["number"] for one in api.pages("list_evaluator_versions", **name)] == [2, 1]
    old = api("get_evaluator_version", **name, number="1")
    assert old["params"][0]["default"] == 1
    api("duplicate_evaluator", {"version": 1}, **name)
    api("create_dataset", {"name": "none", "rows": [{"output": "a"}]}, **HERE)
    assert api("get_evaluator_usage", **name) == {"tasks": [], "active_monitors": []}
    api("delete_evaluator", **name, if_match=headers["ETag"])
    assert [one["name"] for one in api.pages("list_evaluators", **HERE)] == ["my-words-copy"]
    api("restore_evaluator", **name)
    found = api.pages("list_evaluators", **HERE, search="WORDS", level="trace")
    assert {one["name"] for one in found} == {"my-words", "my-words-copy"}
    with pytest.raises(RefusedError, match="404"):
        api("get_evaluator", **HERE, evaluator="other")


def test_traces_that_are_sent_are_found_and_judged(api: Client):
    lines = (EXAMPLES / "support/traces.otlp.jsonl").read_text().splitlines()
    for line in lines:
        assert "partialSuccess" not in api("export_traces", json.loads(line))
    first = api("list_traces", **HERE, filter="trace.output exists", limit=1)["items"][0]
    assert api("get_trace", **HERE, trace_id=first["trace_id"])["spans"]
    api("create_evaluator", {"name": "words", "source": TRACE_OBJECT}, **HERE)
    api(
        "create_evaluator",
        {"name": "length", "source": JAVASCRIPT, "language": "javascript"},
        **HERE,
    )
    uses = [
        {"evaluator": "words", "params": {"min_words": 2}},
        {
            "evaluator": "length",
            "mapping": {"input": "trace.input", "output": "trace.output", "context": "traceId"},
        },
    ]
    api("export_logs", LOGS)
    assert api("list_logs", **HERE, severity="WARN")["items"][0]["body"] == "late"
    for kind in ("traces", "conversations"):
        api(
            "create_task",
            {
                "name": kind,
                "source": {"kind": kind},
                "evaluators": uses[1:] if kind == "conversations" else uses,
            },
            **HERE,
        )
        run = run_to_its_end(api, kind)
        assert run["total"] > 0
    for kind in ("logs", "trajectories"):
        sample = api("sample_source", {"source": {"kind": kind}, "n": 1}, **HERE)
        assert len(sample["items"]) == 1
        (field, *_) = api("list_source_fields", **HERE, source=json.dumps({"kind": kind}))["fields"]
        mapped = {"source": LOUD, "mapping": {"body": field["name"]}}
        body = {"source": {"kind": kind}, "evaluators": [mapped], "n": 1}
        (trial,) = api("preview_evaluators", body, **HERE)["evaluators"]
        assert len(trial["results"]) == 1
    api("duplicate_task", {"name": "more"}, **HERE, task="traces")
    _, headers = api.send("get_task", **HERE, task="more")
    api("delete_task", **HERE, task="more", if_match=headers["ETag"])
    api("restore_task", **HERE, task="more")
    usage = api("get_evaluator_usage", **HERE, evaluator="words")
    assert {one["name"] for one in usage["tasks"]} == {"traces", "more"}


@pytest.mark.skipif(not SEEDS.is_dir(), reason="needs the seeds beside the repository")
def test_the_printed_samples_are_saved_and_judge(api: Client):
    rows = [
        {
            "input": "q",
            "output": '{"title": 1, "items": [1]}',
            "expected": "1",
            "correct_answer": "x",
        }
    ]
    sources = agenta_samples() + [agentloop_sample(name) for name in AGENTLOOP_LEVELS]
    sources.append(amp_sample())
    for at, code in enumerate(sources):
        api("create_evaluator", {"name": f"sample-{at}", "source": code}, **HERE)
    uses = [{"evaluator": f"sample-{at}"} for at in range(len(sources))]
    asked = {"items": rows, "evaluators": uses}

    trials = api("preview_evaluators", asked, **HERE)["evaluators"]
    source = {"kind": "items", "items": rows}
    tabular = [use for use, one in zip(uses, trials, strict=True) if one["level"] == "record"]
    api("create_task", {"name": "printed", "source": source, "evaluators": tabular}, **HERE)
    run = run_to_its_end(api, "printed")

    assert len(tabular) >= 8
    results = api.pages("list_run_results", **HERE, run=run["id"])
    assert {one["status"] for one in results} == {"scored"}
