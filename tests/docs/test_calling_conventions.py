"""The reference page on calling conventions says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scorewright.domain.convention import Convention
from scorewright.domain.definition import parse_definition
from scorewright.domain.evaluator_name import slug
from scorewright.domain.field_path import parse_path
from scorewright.domain.param import PARAM_TYPES
from scorewright.domain.refused_modules import REFUSED_MODULES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/calling-conventions.md").read_text(encoding="utf-8")
DOMAIN = ROOT / "src/scorewright/domain"


def test_every_convention_and_type_is_described():
    missing = [
        word
        for word in [*Convention, *PARAM_TYPES]
        if not re.search(rf"^\| `{word}` \|", PAGE, re.MULTILINE)
    ]

    assert missing == []


def test_every_code_of_a_diagnostic_is_listed():
    sources = [path.read_text(encoding="utf-8") for path in DOMAIN.glob("*.py")]
    codes = {
        "bad_definition",
        *re.findall(r'_error\("(\w+)"', "".join(sources)),
        *re.findall(r'code="(\w+)"', "".join(sources)),
        *re.findall(r'_at\(parameter, "\w+", "(\w+)"', "".join(sources)),
        *re.findall(r'return "(\w+_\w+)", ', "".join(sources)),
        *re.findall(r'problem\(\s*[^,]+, "(\w+)"', "".join(sources)),
    }

    assert len(codes) > 18
    assert [code for code in sorted(codes) if f"`{code}`" not in PAGE] == []


def test_every_refused_module_is_named():
    public = [module for module in REFUSED_MODULES if not module.startswith("_")]

    assert [module for module in public if f"`{module}`" not in PAGE] == []


def test_the_example_definition_is_one():
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)

    definitions = [parse_definition(block) for block in blocks]

    assert [d.name for d in definitions] == ["polite-reply"]


def test_the_example_path_is_one():
    assert parse_path('trace.output.items[0]["unit price"]') == (
        "trace",
        "output",
        "items",
        0,
        "unit price",
    )
    assert 'trace.output.items[0]["unit price"]' in PAGE


@pytest.mark.parametrize(
    ("stem", "name"),
    [("Exact_Match", "exact-match"), ("ab", "ab-evaluator"), ("2nd", "evaluator-2nd")],
)
def test_the_example_names_are_proposed(stem: str, name: str):
    assert slug(stem) == name
    assert f"`{stem}" in PAGE
    assert f"`{name}`" in PAGE
