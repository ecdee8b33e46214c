"""The table of members is what items hold, neither more nor less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from item_reading import agent, chat, light, said, strict, trace_of, usage
from otlp_requests import span

from scorewright.telemetry.items import agent_items, conversation_item, llm_items, trace_item
from scorewright.telemetry.items.members import MEMBERS, Subject

#: Objects whose members have names of their own.
OPENED = {
    "session", "agent", "agent.metrics", "agent.metrics.token_usage", "llm", "llm.metrics",
    "llm.metrics.token_usage", "trace", "trace.metrics", "trace.metrics.token_usage", "trajectory",
    "conversation",
}  # fmt: skip


def item_about(subject: Subject) -> bytes:
    call = chat([said("user", "q")], said("assistant", "a"), **usage(3, 2))
    trace = trace_of(span(1, attributes=agent("a")), span(2, 1, attributes=call))
    match subject:
        case "trace":
            return trace_item(trace)
        case "agent":
            return next(agent_items(trace))[1]
        case "llm":
            return next(llm_items(trace))[1]
        case "conversation":
            return conversation_item([trace], with_previous=False)


def names_in(body: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in body.items():
        if prefix + name in OPENED:
            yield from names_in(value, f"{prefix}{name}.")
        elif prefix + name != "head":
            yield prefix + name


@pytest.mark.parametrize("subject", ["trace", "agent", "llm", "conversation"])
def test_items_hold_the_members_of_the_table_in_its_order(subject: Subject):
    item = item_about(subject)

    named = [member.name for member in MEMBERS if subject in member.subjects]
    assert list(names_in(strict(item))) == named


@pytest.mark.parametrize("subject", ["trace", "agent", "llm", "conversation"])
def test_the_light_members_of_the_table_are_those_of_the_head(subject: Subject):
    named = [member.name for member in MEMBERS if member.light and subject in member.subjects]

    assert list(names_in(light(item_about(subject)))) == named


def test_every_member_is_described_once():
    assert len({member.name for member in MEMBERS}) == len(MEMBERS)
    assert all(member.description[:1].isupper() for member in MEMBERS)
