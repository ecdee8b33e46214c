"""What is to be read from the traces of `examples/instrumentation`: as they are sent, and as they were recorded.

All tell of the same conversation, with the model of `tests/instrumentation/loopback.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

RECORDED: Final = Path(__file__).parent / "fixtures" / "instrumentation"

QUESTION: Final = "Where is order A-17, and may I still return it?"
ANSWER: Final = "Order A-17 was shipped 2 days ago; you may return it within 30 days."
#: Of every trace.
_COMMON: Final = {
    "input": QUESTION,
    "output": ANSWER,
    "llm_calls": 2,
    "models": ["gpt-4.1-mini-2025-04-14"],
    "tokens": {"input": 100, "output": 20, "total": 120},
    "session_id": "conversation-1",
    "notices": [],
}
_ORDER: Final = {
    "name": "order_status",
    "arguments": {"order_id": "A-17"},
    "result": {"order_id": "A-17", "status": "shipped", "days": 2},
    "error": None,
}
_HANDBOOK: Final = {
    "name": "search_handbook",
    "arguments": {"query": "returns"},
    "result": "Returns are accepted for 30 days.",
    "error": None,
}
_FINAL: Final = {
    "name": "final_answer",
    "arguments": {"answer": ANSWER},
    "result": ANSWER,
    "error": None,
}


def _told(
    *,
    tools: tuple[Mapping[str, Any], ...] = (_ORDER,),
    documents: tuple[Mapping[str, Any], ...] = (),
    agents: tuple[str, ...] = ("helpdesk",),
) -> dict[str, Any]:
    return {
        **_COMMON,
        "tool_calls": list(tools),
        "retrieval": {"queries": ["returns"] if documents else [], "documents": list(documents)},
        "agents": list(agents),
    }


def _document(document_id: str | None, score: float | None) -> dict[str, Any]:
    return {"id": document_id, "content": "Returns are accepted for 30 days.", "score": score}


#: By recipe.
TOLD: Final = {
    "otel_sdk": _told(documents=(_document("returns", 0.82),)),
    "openinference_openai": _told(),
    "openllmetry_openai": _told(),
    "openai_v2": _told(),
    "pydantic_ai_agent": _told(),
    "openinference_langchain": _told(
        tools=(_ORDER, _HANDBOOK), documents=(_document("returns", None),)
    ),
    "openllmetry_langchain": _told(tools=(_ORDER, _HANDBOOK), documents=(_document(None, None),)),
    "logfire_openai": _told(),
    # Its runs end by a call as well, and its model is the one that was asked for.
    "openinference_smolagents": {
        **_told(tools=(_FINAL, _ORDER), agents=("helpdesk.run",)),
        "models": ["gpt-4.1-mini"],
    },
    "openinference_openai_agents": _told(agents=("Agent workflow", "helpdesk")),
}


def told_of(document: Any) -> dict[str, Any]:
    """Take what is compared out of what `traces inspect` says of a single trace."""
    (trace,) = document["traces"]
    assert document["rejected_spans"] == 0
    assert document["notices"] == []
    agents = [agent["name"] for agent in trace["agents"]]
    # Costs that were not reported are calculated: the table decides how much, here it is told that there is one.
    assert trace["cost_usd"] > 0
    notices = [
        notice for notice in trace["notices"] if not notice.startswith("cost of 2 model calls")
    ]
    # Tools that are called together may start in either order.
    tools = sorted(trace["tool_calls"], key=lambda call: call["name"])
    told = {**trace, "agents": agents, "tool_calls": tools, "notices": notices}
    return {name: told[name] for name in _told()}
