"""Items read back for tests, as strictly as any reader of JSON might."""

from __future__ import annotations

import json
from typing import Any, cast

from otlp_requests import decoded

from scorewright.telemetry.assembly import Trace, assemble


def strict(data: bytes) -> dict[str, Any]:
    """Decode one object; NaN and infinities are none."""

    def refuse(token: str) -> float:
        raise AssertionError(f"{token} is not JSON")

    found = json.loads(data, parse_constant=refuse)
    assert type(found) is dict
    return cast("dict[str, Any]", found)


def light(item: bytes) -> dict[str, Any]:
    """Decode the light part alone."""
    return strict(item[: int(item[8:18])] + b"}}")


def trace_of(*spans: dict[str, Any]) -> Trace:
    """Put spans written as OTLP/JSON together, which are one trace."""
    (trace,) = assemble(decoded(*spans))
    return trace


def chat(
    asked: list[dict[str, Any]] | None = None,
    answered: dict[str, Any] | None = None,
    **more: object,
) -> dict[str, object]:
    """Write the attributes of a model call; tokens are those of `more`."""
    told: dict[str, object] = {"gen_ai.operation.name": "chat", **more}
    if asked is not None:
        told["gen_ai.input.messages"] = asked
    if answered is not None:
        told["gen_ai.output.messages"] = [answered]
    return told


def usage(tokens_in: int, tokens_out: int) -> dict[str, object]:
    """Write the attributes of tokens."""
    return {"gen_ai.usage.input_tokens": tokens_in, "gen_ai.usage.output_tokens": tokens_out}


def agent(name: str, **more: object) -> dict[str, object]:
    """Write the attributes of an agent's span."""
    return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, **more}


def tool(name: str, call_id: str | None = None, **more: object) -> dict[str, object]:
    """Write the attributes of a tool's span."""
    known = {} if call_id is None else {"gen_ai.tool.call.id": call_id}
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **known, **more}


def said(role: str, content: str | None) -> dict[str, Any]:
    """Write a message."""
    return {"role": role, "content": content}


def called(*calls: tuple[str, str, dict[str, Any]], text: str | None = None) -> dict[str, Any]:
    """Write the message of a model that asks for tools: the id, name and arguments of each."""
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {"id": call_id, "function": {"name": name, "arguments": json.dumps(given)}}
            for call_id, name, given in calls
        ],
    }


def returned(call_id: str, content: str) -> dict[str, Any]:
    """Write the message of a tool's result."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}
