"""The page about trace objects names what there is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from scorewright import authoring
from scorewright.authoring.evidence import (
    MAX_CHARS,
    MAX_DOCUMENTS,
    MAX_RETRIEVALS,
    MAX_STEPS,
    MAX_TOOLS,
)
from scorewright.authoring.trace_dict import trace_dict
from scorewright.authoring.value import field_names
from trace_items import CAPITAL, an_item

PAGE = (Path(__file__).parents[2] / "docs/reference/trace-objects.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \|(.*)\|$", PAGE.partition("## The trace")[0], re.MULTILINE))


@pytest.mark.parametrize("name", ROWS)
def test_the_table_names_every_field_and_method(name: str):
    kind = getattr(authoring, name)
    fields = set(field_names(kind))
    if "as any span" in ROWS[name]:
        fields -= set(field_names(authoring.Span))

    named = set(re.findall(r"`(\w+)(?:\(\))?`", ROWS[name]))

    assert named == fields | {n for n in dir(kind) if n.startswith(("get_", "format_"))}


def test_the_bounds_of_text_are_those_of_the_code():
    bounds = f"{MAX_STEPS} steps, {MAX_TOOLS} tools, {MAX_RETRIEVALS} retrievals of {MAX_DOCUMENTS} documents, {MAX_CHARS} characters"  # fmt: skip

    assert bounds in PAGE


def test_the_shown_trace_has_the_members_that_a_trace_has():
    (text,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    shown = ast.literal_eval(text)
    made = trace_dict(an_item(CAPITAL)) or {}

    for have, want in zip(made["spans"].values(), shown["spans"].values(), strict=True):
        assert set(want) <= set(have)
        assert (
            have["attributes"]["ag"]["metrics"]["unit"]
            == want["attributes"]["ag"]["metrics"]["unit"]
        )
        assert have["attributes"]["ag"]["type"] == want["attributes"]["ag"]["type"]
