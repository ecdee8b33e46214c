"""Scorewright: write evaluators, run them sandboxed and fast.

    from scorewright import evaluate

    results = evaluate("answers.jsonl", "exact.py", mapping={"expected": "answer"})
    print(results.summary())

Names are imported when they are first used: the sandbox imports this package too, and needs only `authoring`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorewright._version import __version__

if TYPE_CHECKING:
    from scorewright.authoring import AgentTrace, EvalResult, LLMSpan, Param, Trace
    from scorewright.domain.errors import (
        CallerError,
        SandboxUnavailableError,
        ScorewrightError,
    )
    from scorewright.domain.result_record import ResultRecord
    from scorewright.services.evaluate import Results, evaluate

_HOMES = {
    "AgentTrace": "scorewright.authoring",
    "CallerError": "scorewright.domain.errors",
    "EvalResult": "scorewright.authoring",
    "LLMSpan": "scorewright.authoring",
    "Param": "scorewright.authoring",
    "ResultRecord": "scorewright.domain.result_record",
    "Results": "scorewright.services.evaluate",
    "SandboxUnavailableError": "scorewright.domain.errors",
    "ScorewrightError": "scorewright.domain.errors",
    "Trace": "scorewright.authoring",
    "evaluate": "scorewright.services.evaluate",
}

__all__ = [
    "AgentTrace",
    "CallerError",
    "EvalResult",
    "LLMSpan",
    "Param",
    "ResultRecord",
    "Results",
    "SandboxUnavailableError",
    "ScorewrightError",
    "Trace",
    "__version__",
    "evaluate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
