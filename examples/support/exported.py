"""The order agent's traces as an application sends them: OTLP, one request a line, with OpenTelemetry's names."""

import json
from random import Random

#: 2026-03-02T09:00:00Z.
BEGAN_NS = 1_772_442_000_000_000_000
INSTRUCTIONS = "You help customers of an outdoor shop. Look orders up before you answer."
TOOLS = [
    {
        "type": "function",
        "name": "find_order",
        "description": "Look an order up.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}},
    },
    {
        "type": "function",
        "name": "track_parcel",
        "description": "Find out where a parcel is.",
        "parameters": {"type": "object", "properties": {"parcel": {"type": "string"}}},
    },
]


def requests(rows: list[dict], seed: str) -> list[dict]:
    """One export request for each answered question; two or three questions make a conversation."""
    rng = Random(seed)
    session, turns_left = 0, 0
    found = []
    for number, row in enumerate(rows, 1):
        if turns_left == 0:
            session, turns_left = session + 1, rng.choice((2, 3))
        turns_left -= 1
        spans = trace(rng, row, number, f"talk-{session:02}")
        resource = {
            "service.name": "order-agent",
            "deployment.environment.name": "production" if number % 4 else "staging",
        }
        scope = {"scope": {"name": "outdoor-shop"}, "spans": spans}
        found.append(
            {
                "resourceSpans": [
                    {"resource": {"attributes": attributes(resource)}, "scopeSpans": [scope]}
                ]
            }
        )
    return found


def trace(rng: Random, row: dict, number: int, session: str) -> list[dict]:
    """The agent, its two model calls, and between them the tools it called; one search in nine fails."""
    trace_id = f"{rng.getrandbits(128):032x}"
    start = BEGAN_NS + number * 90 * 10**9
    history = [said("system", INSTRUCTIONS), said("user", row["input"])]
    asked = {
        "role": "assistant",
        "parts": [
            {
                "type": "tool_call",
                "id": f"call-{place}",
                "name": call["tool"],
                "arguments": call["arguments"],
            }
            for place, call in enumerate(row["tool_context"])
        ],
    }
    spans = []

    def add(
        name: str, parent: str, from_ms: int, ms: int, values: dict, failed: bool = False
    ) -> str:
        span_id = f"{rng.getrandbits(64):016x}"
        spans.append(
            {
                "traceId": trace_id,
                "spanId": span_id,
                "parentSpanId": parent,
                "name": name,
                "kind": 1,
                "startTimeUnixNano": str(start + from_ms * 10**6),
                "endTimeUnixNano": str(start + (from_ms + ms) * 10**6),
                "status": {"code": 2, "message": "the parcel service did not answer"}
                if failed
                else {},
                "attributes": attributes(values),
            }
        )
        return span_id

    thinking, writing = rng.randint(300, 2_500), rng.randint(300, 3_500)
    agent = add(
        "invoke_agent order_agent",
        "",
        0,
        thinking + 200 * len(row["tool_context"]) + writing,
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "order_agent",
            "gen_ai.conversation.id": session,
            "gen_ai.input.messages": json.dumps([said("user", row["input"])]),
            "gen_ai.output.messages": json.dumps([said("assistant", row["output"])]),
        },
    )
    add("chat gpt-4.1-mini", agent, 5, thinking - 10, chat(rng, history, asked))
    results = []
    for place, call in enumerate(row["tool_context"]):
        failed = call["tool"] == "track_parcel" and rng.random() < 1 / 9
        values = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call["tool"],
            "gen_ai.tool.call.id": f"call-{place}",
            "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
        }
        if not failed:
            values["gen_ai.tool.call.result"] = json.dumps(call["result"])
        add(f"execute_tool {call['tool']}", agent, thinking + 200 * place, 150, values, failed)
        results.append(
            {
                "role": "tool",
                "parts": [
                    {
                        "type": "tool_call_response",
                        "id": f"call-{place}",
                        "response": "no answer" if failed else json.dumps(call["result"]),
                    }
                ],
            }
        )
    begun = thinking + 200 * len(row["tool_context"])
    told = [*history, asked, *results]
    add(
        "chat gpt-4.1-mini",
        agent,
        begun,
        writing - 5,
        chat(rng, told, said("assistant", row["output"])),
    )
    return spans


def chat(rng: Random, history: list[dict], answer: dict) -> dict:
    """The attributes of a model call."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4.1-mini",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.tool.definitions": json.dumps(TOOLS),
        "gen_ai.input.messages": json.dumps(history),
        "gen_ai.output.messages": json.dumps([answer]),
        "gen_ai.usage.input_tokens": rng.randint(180, 900),
        "gen_ai.usage.output_tokens": rng.randint(20, 160),
    }


def said(role: str, text: str) -> dict:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def attributes(values: dict) -> list[dict]:
    kinds = {int: "intValue", float: "doubleValue", str: "stringValue"}
    return [
        {"key": key, "value": {kinds[type(value)]: str(value) if type(value) is int else value}}
        for key, value in values.items()
    ]
