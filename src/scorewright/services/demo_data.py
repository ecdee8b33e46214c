"""The help desk of a library that does not exist: the same answers and traces whenever they are made."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue

ANSWERS: Final = 40
TRACES: Final = 12
_SEED: Final = "library help desk"
_BOOKS: Final = (
    "The Tin Lighthouse",
    "Forty Winters",
    "A Map of Small Rivers",
    "The Beekeeper's Ledger",
    "Salt and Slate",
    "Night Ferry to Aln",
)
_MONTHS: Final = ("March", "April", "May", "June")
#: 2026-03-02T09:00:00Z.
_BEGAN_S: Final = 1_772_442_000


def answers() -> list[JsonObject]:
    """Return what was asked and answered; about one answer in five is not as it should be."""
    chance = Random(_SEED)  # noqa: S311 - a demo is no secret
    return [_answer(chance, number) for number in range(1, ANSWERS + 1)]


def trace_requests() -> list[JsonObject]:
    """Return the export requests of the agent's traces, one a trace."""
    chance = Random(f"{_SEED}, traces")  # noqa: S311 - a demo is no secret
    return [_request(chance, _answer(chance, at), at) for at in range(1, TRACES + 1)]


def _answer(chance: Random, number: int) -> JsonObject:
    book = chance.choice(_BOOKS)
    due = f"{chance.randint(1, 28)} {chance.choice(_MONTHS)}"
    kind = chance.choices(("right", "wrong", "long", "empty"), (32, 4, 3, 1))[0]
    sentence = f"Please bring back “{book}” by {due}."
    if kind == "wrong":
        sentence = f"Please bring back “{book}” by {chance.randint(1, 28)} July."
    elif kind == "long":
        sentence += " We are happy that you asked, and hope that you enjoy it." * 6
    elif kind == "empty":
        sentence = ""
    return {
        "id": f"desk-{number:03}",
        "input": f"When do I have to return “{book}”?",
        "expected": due,
        "output": sentence,
        "book": book,
        "channel": chance.choice(("counter", "mail", "chat")),
    }


def _request(chance: Random, row: JsonObject, number: int) -> JsonObject:
    resource = {
        "service.name": "library-help-desk",
        "deployment.environment.name": "demo",
    }
    spans: list[JsonValue] = list(_spans(chance, row, number))
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [{"scope": {"name": "help-desk"}, "spans": spans}],
            }
        ]
    }


def _spans(chance: Random, row: JsonObject, number: int) -> list[JsonObject]:
    trace_id, root = f"{chance.getrandbits(128):032x}", f"{chance.getrandbits(64):016x}"
    start_ms = (_BEGAN_S + number * 60) * 1000
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "desk",
        "gen_ai.conversation.id": f"visitor-{(number + 1) // 2}",
        "gen_ai.input.messages": _said("user", row["input"]),
        "gen_ai.output.messages": _said("assistant", row["output"]),
    }
    found = [_span((trace_id, root, ""), "invoke_agent desk", (start_ms, 1_400), agent)]
    if number % 5:  # else it answers without looking
        tool = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "find_loan",
            "gen_ai.tool.call.arguments": msgspec.json.encode({"book": row["book"]}).decode(),
            "gen_ai.tool.call.result": msgspec.json.encode({"due": row["expected"]}).decode(),
        }
        span = _span(
            (trace_id, f"{number:016x}", root), "execute_tool find_loan", (start_ms, 60), tool
        )
        if number % 7 == 0:
            span["status"] = {"code": 2, "message": "the catalogue does not answer"}
        found.append(span)
    model = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4.1-mini",
        "gen_ai.usage.input_tokens": chance.randint(200, 400),
        "gen_ai.usage.output_tokens": chance.randint(20, 90),
        "gen_ai.input.messages": _said("user", row["input"]),
        "gen_ai.output.messages": _said("assistant", row["output"]),
    }
    chat = _span(
        (trace_id, f"{number + 1_000:016x}", root),
        "chat gpt-4.1-mini",
        (start_ms + 80, 1_200),
        model,
    )
    return [*found, chat]


def _said(role: str, text: JsonValue) -> str:
    parts = [{"type": "text", "content": text}]
    return msgspec.json.encode([{"role": role, "parts": parts}]).decode()


def _span(
    ids: tuple[str, str, str],
    name: str,
    time_ms: tuple[int, int],
    attributes: Mapping[str, str | int],
) -> JsonObject:
    """Write a span; its ids are the trace's, its own, and its parent's."""
    trace_id, span_id, parent_id = ids
    start_ms, took_ms = time_ms
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "parentSpanId": parent_id,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": f"{start_ms}000000",
        "endTimeUnixNano": f"{start_ms + took_ms}000000",
        "status": {},
        "attributes": _attributes(attributes),
    }


def _attributes(values: Mapping[str, str | int]) -> list[JsonValue]:
    found: list[JsonValue] = []
    for key, value in values.items():
        is_number = isinstance(value, int)
        wire: JsonObject = {"intValue": str(value)} if is_number else {"stringValue": value}
        found.append({"key": key, "value": wire})
    return found
