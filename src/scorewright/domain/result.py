"""What one evaluator made of one item: a closed union, never nullable columns.

The three outcomes are also the wire form of the sandbox's answers: `msgspec` checks their types while
decoding, so a hostile worker cannot smuggle in anything else.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec

from scorewright.domain.json_value import JsonValue


class FailureCode(StrEnum):
    """Why an item has no result."""  # Source: contracts §3.

    AUTHOR_ERROR = "author_error"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_LIMIT = "output_limit"
    BAD_RETURN = "bad_return"
    MAPPING_ERROR = "mapping_error"
    SANDBOX_UNAVAILABLE = "sandbox_unavailable"
    JUDGE_ERROR = "judge_error"
    CANCELLED = "cancelled"


#: The bounds refuse NaN and infinity while decoding.
FiniteFloat = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]


class Scored(msgspec.Struct, frozen=True, array_like=True, tag_field="status", tag="scored"):
    """The evaluator measured the item."""

    #: Raw; None when only a verdict or metrics were returned.
    score: FiniteFloat | None = None
    #: The verdict; None without a threshold, and for a score outside its range.
    passed: bool | None = None
    #: Further values by dotted name.
    metrics: dict[str, JsonValue] = {}
    explanation: str | None = None
    #: The score lies outside the declared range: shown as it is, left out of every mean.
    out_of_range: bool = False


class Skipped(msgspec.Struct, frozen=True, array_like=True, tag_field="status", tag="skipped"):
    """The evaluator does not apply to the item: outside every mean, counted on its own."""

    reason: str
    explanation: str | None = None


class Failed(msgspec.Struct, frozen=True, array_like=True, tag_field="status", tag="failed"):
    """No result: the author's code, the mapping or we did not get to the end."""

    code: FailureCode
    #: Bounded text for people.
    message: str
    #: The exception's class name where there was one.
    type: str | None = None
    #: Line in the author's file, from 1.
    line: int | None = None
    #: Frames of the author's file only.
    traceback: str | None = None


Outcome: TypeAlias = Scored | Skipped | Failed


#: Up to twelve days: no limit lets an item take longer.
DurationUs = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]


class ItemOutcome(msgspec.Struct, frozen=True, array_like=True):
    """An outcome with what was seen around it; the unit a worker answers with."""

    outcome: Outcome
    #: Captured prints, bounded.
    output: str = ""
    #: Wall time inside the sandbox.
    duration_us: DurationUs = 0


class JudgeUse(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked of a model for one result, and what that took."""

    #: As it was asked for: connection and name.
    model: str
    #: The model that answered, by its own account.
    answered_by: str | None = None
    #: Of all requests together; None where the model told none.
    tokens_in: int | None = None
    tokens_out: int | None = None
    #: In US dollars; None where the model's price is not known.
    cost_usd: float | None = None
    #: Of the requests alone, without what they waited for their turn.
    latency_ms: float = 0.0
    #: Requests that were answered.
    requests: int = 0
    #: The prompt as it was sent: what we say, and what the author's prompt became.
    instructions: str = ""
    prompt: str = ""


class JudgedOutcome(ItemOutcome, frozen=True, array_like=True):
    """What a judge answers with."""

    judge: JudgeUse | None = None
