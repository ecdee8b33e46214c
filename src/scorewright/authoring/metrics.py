"""What was measured around a trace, a span or an agent. Unknown is None, never 0."""

# ruff: noqa: PLR0913 - a constructor takes one keyword a field

from __future__ import annotations

from scorewright.authoring.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class TokenUsage(Value):
    """Tokens a model read and wrote; cached ones are part of the input, not extra."""

    __slots__ = ("cache_read_tokens", "input_tokens", "output_tokens", "total_tokens")

    def __init__(
        self,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        *,
        total_tokens: int | None = None,
        cache_read_tokens: int | None = None,
    ) -> None:
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens
        #: As reported; otherwise the sum when both sides are known.
        self.total_tokens = (
            _sum(input_tokens, output_tokens) if total_tokens is None else total_tokens
        )
        self.cache_read_tokens = cache_read_tokens


class SpanMetrics(Value):
    """What is known of any span."""

    __slots__ = ("duration_ms", "error", "error_message", "error_type")

    def __init__(
        self,
        duration_ms: float | None = None,
        *,
        error: bool | None = None,
        error_type: str | None = None,
        error_message: str | None = None,
    ) -> None:
        self.duration_ms = duration_ms
        self.error = error
        self.error_type = error_type
        self.error_message = error_message


class LLMMetrics(SpanMetrics):
    """What is known of one model call."""

    __slots__ = ("cost_usd", "time_to_first_token_ms", "token_usage")

    def __init__(
        self,
        duration_ms: float | None = None,
        *,
        error: bool | None = None,
        error_type: str | None = None,
        error_message: str | None = None,
        token_usage: TokenUsage | None = None,
        time_to_first_token_ms: float | None = None,
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(
            duration_ms, error=error, error_type=error_type, error_message=error_message
        )
        self.token_usage = token_usage
        self.time_to_first_token_ms = time_to_first_token_ms
        self.cost_usd = cost_usd


class AgentMetrics(SpanMetrics):
    """What is known of one agent: its span, and the tokens and cost of the calls below it."""

    __slots__ = ("cost_usd", "token_usage")

    def __init__(
        self,
        duration_ms: float | None = None,
        *,
        error: bool | None = None,
        error_type: str | None = None,
        error_message: str | None = None,
        token_usage: TokenUsage | None = None,
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(
            duration_ms, error=error, error_type=error_type, error_message=error_message
        )
        self.token_usage = token_usage
        self.cost_usd = cost_usd


class TraceMetrics(Value):
    """What is known of a whole trace."""

    __slots__ = ("cost_usd", "error_count", "token_usage", "total_duration_ms")

    def __init__(
        self,
        total_duration_ms: float | None = None,
        *,
        token_usage: TokenUsage | None = None,
        error_count: int | None = None,
        cost_usd: float | None = None,
    ) -> None:
        self.total_duration_ms = total_duration_ms
        #: Summed over the leaf-most spans that carry usage, so that no call counts twice.
        self.token_usage = token_usage
        #: Spans that ended in an error.
        self.error_count = error_count
        self.cost_usd = cost_usd

    @property
    def has_errors(self) -> bool | None:
        """Whether any span ended in an error; None when no span was recorded."""
        return None if self.error_count is None else self.error_count > 0


# ── As an item of a trace source has them ────────────────────────────────────────────────────────

# What evaluators look at most: with the fields put in place it takes half as long as by way of the constructors.
_new = object.__new__


def make_trace_metrics(recorded: dict[str, Any]) -> TraceMetrics:
    """Make the metrics of a trace."""
    metrics = _new(TraceMetrics)
    metrics.total_duration_ms = recorded["total_duration_ms"]
    metrics.token_usage = make_usage(recorded["token_usage"])
    metrics.error_count = recorded["error_count"]
    metrics.cost_usd = recorded["cost_usd"]
    return metrics


def make_usage(recorded: dict[str, Any] | None) -> TokenUsage | None:
    """Make a token usage; None where nothing is known."""
    if recorded is None:
        return None
    usage = _new(TokenUsage)
    usage.input_tokens = tokens_in = recorded["input_tokens"]
    usage.output_tokens = tokens_out = recorded["output_tokens"]
    usage.cache_read_tokens = recorded["cache_read_tokens"]
    total = recorded["total_tokens"]
    usage.total_tokens = _sum(tokens_in, tokens_out) if total is None else total
    return usage


def _sum(tokens_in: int | None, tokens_out: int | None) -> int | None:
    return None if tokens_in is None or tokens_out is None else tokens_in + tokens_out
