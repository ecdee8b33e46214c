"""What SDKs really send, read back: the conversation that each recipe of `docs/how-to/instrument.md` records."""

from __future__ import annotations

import json
import re

import msgspec
import pytest
from otlp_requests import decoded, span

from recorded_traces import RECORDED, TOLD, told_of
from scorewright.services.traces import document_of, inspect_traces
from scorewright.telemetry.assembly import assemble
from scorewright.telemetry.summary import summarise


@pytest.mark.parametrize("name", TOLD)
def test_every_instrumentation_tells_the_same_conversation(name: str):
    inspected = inspect_traces(RECORDED / f"{name}.otlp.json")

    document = json.loads(msgspec.json.encode(document_of(inspected)))

    assert told_of(document) == TOLD[name]


def test_what_an_application_was_told_to_hide_is_unknown():
    hidden = "__REDACTED__"
    recorded = {"openinference.span.kind": "LLM", "input.value": hidden, "output.value": hidden}
    message = {"role": "user", "content": hidden}
    told = {f"llm.input_messages.0.message.{name}": value for name, value in message.items()}

    (trace,) = assemble(decoded(span(1, attributes={**recorded, **told})))

    summary = summarise(trace)
    assert (summary.input, summary.output, summary.llm_calls) == (None, None, 1)


def test_every_recording_is_read():
    assert {path.name for path in RECORDED.iterdir()} == {f"{name}.otlp.json" for name in TOLD}


@pytest.mark.parametrize("name", TOLD)
def test_a_recording_holds_nothing_of_the_machine_it_was_made_on(name: str):
    text = (RECORDED / f"{name}.otlp.json").read_text(encoding="utf-8")

    assert (
        re.findall(r"127\.0\.0\.1|localhost|host\.name|process\.|[\"/](home|root|tmp|usr)/", text)
        == []
    )
