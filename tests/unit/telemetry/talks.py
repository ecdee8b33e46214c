"""Trajectories for tests: a talk with two tools, and what is looked at in an item."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from scorewright.domain.json_value import JsonValue
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.trajectories import trajectory_item, trajectory_of

Item: TypeAlias = dict[str, Any]

WEATHER: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Oslo?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "find", "arguments": '{"q": "Oslo"}'},
            },
            {"id": "c2", "type": "function", "function": {"name": "sky", "arguments": '{"id": 7}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "c2", "content": "clear"},
    {"role": "tool", "tool_call_id": "c1", "content": '{"id": 7}'},
    {"role": "assistant", "content": "Clear."},
]


def item_of(row: JsonValue, findings: Findings | None = None) -> Item:
    return json.loads(trajectory_item(trajectory_of(row, findings or Findings())))


def tools_in(item: Item) -> list[tuple[str, object, object]]:
    return [
        (step["name"], step["arguments"], step["result"])
        for step in item["trajectory"]["steps"]
        if step["type"] == "tool"
    ]


def kinds_in(item: Item) -> list[str]:
    return [step["type"] for step in item["trajectory"]["steps"]]


def call(name: str, call_id: str | None = None) -> dict[str, Any]:
    return {"id": call_id, "function": {"name": name, "arguments": "{}"}}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls)}


def told(content: str, call_id: str | None = None, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": call_id, **more}
