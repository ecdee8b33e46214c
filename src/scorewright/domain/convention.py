"""How an author's function is called, and what it looks at."""

from __future__ import annotations

from enum import StrEnum


class Convention(StrEnum):
    """How `evaluate` is called and how its returned value is read."""

    VARIABLES = "variables"
    """Any parameter names; returns an object with `score` and `explanation`. Source: agentloop seed."""

    INPUTS_OUTPUTS_TRACE = "inputs_outputs_trace"
    """`evaluate(inputs, outputs, trace)`, positional; returns a number, a bool or a dict. Source: agenta seed."""

    LEGACY_SCORE = "legacy_score"
    """The same three parameters, one number only. Source: agenta seed, "Legacy interfaces"."""

    LEGACY_CORRECT_ANSWER = "legacy_correct_answer"
    """`evaluate(app_params, inputs, output, correct_answer)`, one number only. Source: as above."""

    TRACE_OBJECT = "trace_object"
    """A `Trace`, `AgentTrace` or `LLMSpan` first, config params after it. Source: amp seed."""


class Level(StrEnum):
    """What one call of an evaluator sees."""

    RECORD = "record"
    TRACE = "trace"
    AGENT = "agent"
    LLM = "llm"
