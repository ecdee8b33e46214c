"""The page about items lists the fields that there are."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from scorewright.telemetry.items.members import MEMBERS, Member, Subject
from scorewright.telemetry.span_facts import SpanKind

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "items.md"
SUBJECTS: tuple[Subject, ...] = get_args(Subject)


def row(member: Member) -> str:
    named = ", ".join(subject for subject in SUBJECTS if subject in member.subjects)
    subjects = "all" if len(member.subjects) == len(SUBJECTS) else named
    return (
        f"| `{member.name}` | {member.description} | {subjects} | {'yes' if member.light else ''} |"
    )


@pytest.mark.parametrize("member", MEMBERS, ids=[member.name for member in MEMBERS])
def test_every_field_stands_on_the_page_as_it_is(member: Member):
    assert row(member) in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_page_lists_no_other_field():
    fields = PAGE.read_text(encoding="utf-8").split("## Fields")[1].split("\n## ")[0]

    assert fields.count("\n| `") == len(MEMBERS)


def test_the_page_lists_every_kind_of_span():
    text = PAGE.read_text(encoding="utf-8")

    assert all(f"`{kind}`" in text for kind in get_args(SpanKind))
