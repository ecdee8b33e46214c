"""Tokens and costs as messages and rows report them, in the words of several libraries."""

from __future__ import annotations

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import amount, count, usage_of
from scorewright.telemetry.trajectories.model import Spent

_INPUT = ("prompt_tokens", "input_tokens", "total_prompt_tokens", "promptTokens", "inputTokens")
_OUTPUT = (
    "completion_tokens",
    "output_tokens",
    "total_completion_tokens",
    "completionTokens",
    "outputTokens",
)
_TOTAL = ("total_tokens", "totalTokens")
_CACHED = ("cached_tokens", "total_cached_tokens", "cache_read", "cache_read_tokens")
_DETAILS = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_COST = ("cost_usd", "total_cost_usd", "cost")
#: Anthropic counts these beside the input tokens, not among them.
_ANTHROPIC_READ, _ANTHROPIC_WRITTEN = "cache_read_input_tokens", "cache_creation_input_tokens"


def spent_of(body: JsonObject) -> Spent:
    """Read what the body of a message says, or else what its model's response said."""
    response = object_in(body, "response_metadata")
    for raw in (
        object_in(body, "usage_metadata"),
        object_in(body, "usage"),
        object_in(response, "token_usage"),
        object_in(response, "usage"),
        object_in(response, "tokenUsage"),
    ):
        if (spent := amounts_of(raw)).usage is not None:
            return with_cost(spent, body)
    return with_cost(Spent(), body)


def amounts_of(raw: JsonObject) -> Spent:
    """Read an object that counts tokens, and perhaps costs."""
    tokens_in, cached = count(raw, *_INPUT), count(raw, *_CACHED, _ANTHROPIC_READ)
    for name in _DETAILS:
        if cached is None:
            cached = count(object_in(raw, name), *_CACHED)
    beside = [count(raw, name) or 0 for name in (_ANTHROPIC_READ, _ANTHROPIC_WRITTEN)]
    if tokens_in is not None:
        tokens_in += sum(beside)
    usage = usage_of(tokens_in, count(raw, *_OUTPUT), count(raw, *_TOTAL))
    return Spent(usage, cached, amount(raw, *_COST))


def with_cost(spent: Spent, body: JsonObject) -> Spent:
    """Add the cost that stands beside the usage, where that has none."""
    if spent.cost_usd is not None:
        return spent
    return Spent(spent.usage, spent.cached_tokens, amount(body, "cost_usd", "total_cost_usd"))


def object_in(body: JsonObject, name: str) -> JsonObject:
    """Return a member that is an object, or else an empty one."""
    found: JsonValue = body.get(name)
    return found if isinstance(found, dict) else {}
