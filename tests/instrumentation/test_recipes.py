"""Every recipe of `docs/how-to/instrument.md`, run with the SDK it is about; the model and the receiver are ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from recipe import RECIPES, run

from command_line import CommandLine
from recorded_traces import RECORDED, TOLD, told_of

pytestmark = [
    pytest.mark.skipif(
        find_spec("openinference") is None,
        reason="the SDKs are not installed: make test-instrumentation",
    ),
    pytest.mark.timeout(60),
]


@pytest.mark.parametrize("name", TOLD)
def test_a_recipe_sends_what_scorewright_reads(name: str, cli: CommandLine):
    ran = run(RECIPES / f"{name}.py", cli.folder)

    assert (ran.code, ran.strays) == (0, []), ran.stderr
    told = cli("traces", "inspect", "traces", "--format", "json")
    assert told_of(told.document) == TOLD[name]
    assert shape(received(cli.folder / "traces")) == shape(recorded(name)), "record.py again"


def test_a_recipe_writes_the_same_into_a_file(cli: CommandLine):
    source = (RECIPES / "otel_sdk.py").read_text(encoding="utf-8")
    sent = "from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter"
    written = "from file_exporter import FileSpanExporter"
    assert source.count(sent) == source.count("OTLPSpanExporter()") == 1
    program = cli.write(
        "to_file.py",
        source.replace(sent, written).replace(
            "OTLPSpanExporter()", 'FileSpanExporter("traces.jsonl")'
        ),
    )

    ran = run(program, cli.folder)

    assert (ran.code, ran.strays, [*(cli.folder / "traces").iterdir()]) == (0, [], []), ran.stderr
    told = cli("traces", "inspect", "traces.jsonl", "--format", "json")
    assert told_of(told.document) == TOLD["otel_sdk"]


HIDDEN = {"OPENINFERENCE_HIDE_INPUTS": "true", "OPENINFERENCE_HIDE_OUTPUTS": "true"}
UNTRACED = {"TRACELOOP_TRACE_CONTENT": "false"}
WITHOUT = "from pydantic_ai.models.instrumented import InstrumentationSettings\nAgent.instrument_all(InstrumentationSettings(include_content=False))"


@pytest.mark.parametrize(
    ("name", "settings", "said", "instead"),
    [
        ("openinference_openai", HIDDEN, "", ""),
        ("openinference_langchain", HIDDEN, "", ""),
        ("openinference_openai_agents", HIDDEN, "", ""),
        ("openllmetry_openai", UNTRACED, "", ""),
        ("openllmetry_langchain", UNTRACED, "", ""),
        ("openai_v2", {}, '= "span_only"', '= "no_content"'),
        ("pydantic_ai_agent", {}, "Agent.instrument_all()", WITHOUT),
    ],
)
def test_a_recipe_keeps_contents_to_itself_as_the_page_says(
    name: str, settings: dict[str, str], said: str, instead: str, cli: CommandLine
):
    source = (RECIPES / f"{name}.py").read_text(encoding="utf-8")
    assert said in source
    program = cli.write("silent.py", source.replace(said, instead) if said else source)

    ran = run(program, cli.folder, settings)

    assert (ran.code, ran.strays) == (0, []), ran.stderr
    sent = b"".join(file.read_bytes() for file in (cli.folder / "traces").iterdir())
    assert sent
    assert b"A-17" not in sent
    (trace,) = cli("traces", "inspect", "traces", "--format", "json").document["traces"]
    assert (trace["input"], trace["output"], trace["tokens"]) == (None, None, TOLD[name]["tokens"])


# ── Shapes ───────────────────────────────────────────────────────────────────────────────────────


def recorded(name: str) -> Any:
    return json.loads((RECORDED / f"{name}.otlp.json").read_text(encoding="utf-8"))


def received(folder: Path) -> Any:
    from record import neutral

    return neutral(folder)


def shape(request: Any) -> list[tuple[str, str, list[str]]]:
    """Say what spans there are, and which attributes they have."""
    return sorted(
        (scope["scope"]["name"], span["name"], sorted(named(span)))
        for scope, span in spans(request)
    )


def spans(request: Any) -> Iterator[tuple[Any, Any]]:
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                yield scope, span


def named(span: Any) -> Iterator[str]:
    for attribute in span.get("attributes", ()):
        yield attribute["key"]
