"""A trajectory as a file tells it, in the same words whatever wrote it."""

from __future__ import annotations

import msgspec

from scorewright.domain.json_value import JsonObject
from scorewright.telemetry.messages import Message
from scorewright.telemetry.span_facts import ToolDefinition, Usage

#: Members of an item that no other member of a row can take the place of.
ITEM_MEMBERS = frozenset("head traceId session agent trace trajectory spans_left_out spans".split())


class Spent(msgspec.Struct, frozen=True):
    """What a model's answer, or a whole trajectory, took; None is unknown."""

    usage: Usage | None = None
    #: Of the input tokens: what the provider had read before.
    cached_tokens: int | None = None
    cost_usd: float | None = None


#: Where nothing is known.
NOTHING = Spent()


class Turn(msgspec.Struct, frozen=True):
    """One message, and what is known of how it came about."""

    message: Message
    model: str | None = None
    spent: Spent = NOTHING
    #: Nanoseconds since 1970.
    at_ns: int | None = None


class Trajectory(msgspec.Struct, frozen=True):
    """What an agent was asked, what it did and answered; None is unknown."""

    turns: tuple[Turn, ...]
    trace_id: str | None = None
    session_id: str | None = None
    agent_name: str | None = None
    #: That of turns which name none.
    model: str | None = None
    tools: tuple[ToolDefinition, ...] | None = None
    #: Counts where the turns tell none.
    spent: Spent = NOTHING
    #: The row's other members, which an item keeps.
    others: JsonObject = {}
