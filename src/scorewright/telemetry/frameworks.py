"""What an application is built with, known by the instrumentation that made its spans."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

#: Frameworks by the names that instrumentations and vendors' fields call them.
_FRAMEWORKS: Final = {
    "agent-framework": "agent-framework",
    "agno": "agno",
    "ai": "vercel-ai",
    "autogen": "autogen",
    "autogen-agentchat": "autogen",
    "autogen-core": "autogen",
    "beeai": "beeai",
    "crewai": "crewai",
    "crewai.telemetry": "crewai",
    "dspy": "dspy",
    "gcp.vertex.agent": "google-adk",
    "google-adk": "google-adk",
    "haystack": "haystack",
    "langchain": "langchain",
    "langgraph": "langgraph",
    "llama-index": "llama-index",
    "llamaindex": "llama-index",
    "microsoft.agent-framework": "agent-framework",
    "microsoft.semantickernel": "semantic-kernel",
    "openai-agents": "openai-agents",
    "pydantic-ai": "pydantic-ai",
    "semantic-kernel": "semantic-kernel",
    "smolagents": "smolagents",
    "strands": "strands",
    "strands-agents": "strands",
    "strands.telemetry.tracer": "strands",
}
_BEFORE: Final = (
    "openinference.instrumentation.",
    "opentelemetry.instrumentation.",
    "loongsuite.instrumentation.",
    "@arizeai/openinference-instrumentation-",
    "@traceloop/instrumentation-",
)


@lru_cache(maxsize=1024)
def framework_of(scope: str, vendor: str | None) -> str | None:
    """Tell a framework by the name of an instrumentation, or else by what stands in a vendor's place.

    Returns:
        The framework; None when it is none that is known for certain.
    """
    return _framework(scope) or (_framework(vendor) if vendor else None)


def _framework(name: str) -> str | None:
    name = name.lower()
    for before in _BEFORE:
        name = name.removeprefix(before)
    return _FRAMEWORKS.get(name.replace("_", "-"))
