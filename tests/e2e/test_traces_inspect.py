"""`traces inspect`: what it prints, what it refuses, and with which exit code."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from command_line import CommandLine


def line(span_id: int, **attributes: str) -> str:
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    sent: dict[str, Any] = {
        "traceId": "1" * 32,
        "spanId": f"{span_id:016x}",
        "parentSpanId": "" if span_id == 1 else f"{1:016x}",
        "name": f"step {span_id}",
        "startTimeUnixNano": str(span_id * 1_000_000),
        "endTimeUnixNano": str(span_id * 3_000_000),
        "attributes": pairs,
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [sent]}]}]})


ROOT = line(1, **{"input.value": "How warm?", "output.value": "21\x1b[2J degrees"})
TOOL = line(2, **{"openinference.span.kind": "TOOL", "tool.name": "warmth", "input.value": "{}"})


def test_both_forms_tell_the_same_trace(cli: CommandLine):
    cli.write("traces.jsonl", f"{TOOL}\n{ROOT}\n\n")

    told = cli("traces", "inspect", "traces.jsonl", "--format", "json")
    shown = cli("traces", "inspect", "traces.jsonl")

    assert (told.code, told.stderr, shown.code) == (0, "", 0)
    (trace,) = told.document["traces"]
    assert list(told.document) == ["traces", "rejected_spans", "notices"]
    assert (
        list(trace)
        == (
            "trace_id root spans input output llm_calls models tokens cost_usd tool_calls retrieval "
            "agents session_id duration_ms notices"
        ).split()
    )
    assert trace["tool_calls"] == [
        {"name": "warmth", "arguments": {}, "result": None, "error": None}
    ]
    assert (trace["input"], trace["tokens"], trace["duration_ms"]) == ("How warm?", None, 2)
    for text in ("1 trace, 2 spans", "tool  step 2", "How warm?", "warmth({})", "tokens unknown"):
        assert text in shown.stdout
    assert "\x1b" not in shown.stdout


def test_a_bad_line_is_named_and_costs_no_good_one(cli: CommandLine):
    cli.write("traces.jsonl", f'{ROOT}\n{{"cut": \n{{"resourceLogs": []}}\n{TOOL}\n')

    told = cli("traces", "inspect", "traces.jsonl", "--format", "json")

    assert told.code == 0
    assert told.document["traces"][0]["spans"] == 2
    assert [notice.partition(": ")[2][:8] for notice in told.document["notices"]] == [
        "line 2: ",
        "line 3: ",
    ]


def test_a_folder_is_read_as_one_export(cli: CommandLine):
    (cli.folder / "exports" / "deeper").mkdir(parents=True)
    cli.write("exports/a.json", TOOL)
    packed = gzip.compress(ROOT.encode())
    (cli.folder / "exports" / "deeper" / "b.jsonl.gz").write_bytes(packed)
    cli.write("exports/other.json", "[1]")
    cli.write("exports/README.md", "no traces")

    told = cli("traces", "inspect", "exports", "--format", "json")

    (trace,) = told.document["traces"]
    assert (trace["spans"], trace["input"]) == (2, "How warm?")
    (notice,) = told.document["notices"]
    assert notice.startswith("passed over exports/other.json: ")


def test_an_empty_export_holds_no_traces(cli: CommandLine):
    cli.write("empty.jsonl", "")

    told = cli("traces", "inspect", "empty.jsonl", "--format", "json")

    assert (told.code, told.document["traces"]) == (0, [])


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("cut.json", ROOT[:-20], "no line of it can be read; line 1: not JSON: it ends inside"),
        (
            "other.json",
            '{\n "rows": []\n}',
            "an object with resourceSpans is needed, this one has rows",
        ),
        ("list.json", f"[{ROOT}]", "not an object but a list"),
        ("notes.txt", "just some text", "neither OTLP JSON nor a whole OTLP protobuf message"),
        ("damaged.json.gz", "\x1f\x8bno gzip at all", "its gzip data is damaged"),
    ],
)
def test_what_is_no_export_is_refused_by_name(cli: CommandLine, name: str, text: str, reason: str):
    (cli.folder / name).write_bytes(text.encode("latin-1"))

    told = cli("traces", "inspect", name, "--format", "json")

    assert (told.code, told.stdout) == (2, "")
    assert f"error: {name}: " in told.stderr
    assert reason in told.stderr


@pytest.mark.parametrize("name", ["absent.json", "empty folder"])
def test_nothing_to_read_is_the_caller_s_mistake(cli: CommandLine, name: str):
    (cli.folder / "empty folder").mkdir()

    told = cli("traces", "inspect", name)

    assert (told.code, told.stdout) == (2, "")
    assert f"error: {name}: no " in told.stderr
