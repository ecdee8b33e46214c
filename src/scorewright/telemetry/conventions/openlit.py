"""OpenLIT: prompt and completion as the text of one event each, a role before each line of the prompt."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from scorewright.telemetry.attribute_values import text
from scorewright.telemetry.messages import Message, message_of
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts

_TURN: Final = re.compile(r"^(system|developer|user|assistant|tool): ", re.MULTILINE)


def read(span: RawSpan) -> SpanFacts | None:
    """Read the environment, and the events `gen_ai.content.prompt` and `gen_ai.content.completion`."""
    if not span.events and "gen_ai.environment" not in span.attributes:
        return None
    environment = text(span.attributes, "gen_ai.environment")
    facts = SpanFacts(environment=environment)
    found = environment is not None
    for event in span.events:
        spoken = text(event.attributes, "gen_ai.prompt", "gen_ai.completion")
        if spoken is None:
            continue
        if event.name == "gen_ai.content.prompt":
            facts.input_messages = partial(_turns, spoken)
        elif event.name == "gen_ai.content.completion":
            facts.output_messages = partial(_said, spoken)
        else:
            continue
        found = True
    return facts if found else None


def _turns(prompt: str) -> tuple[Message, ...]:
    _, *parts = _TURN.split(prompt)
    if not parts:
        return (Message("user", prompt),)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    turns = (message_of({"role": role, "content": said.rstrip("\n")}) for role, said in pairs)
    return tuple(turn for turn in turns if turn is not None)


def _said(completion: str) -> tuple[Message, ...]:
    return (Message("assistant", completion),)


CONVENTION: Final = Convention("openlit", frozenset({"gen_ai"}), read)
