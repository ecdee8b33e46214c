"""The page on the sandbox against the code: its layers, its probes, its numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scorewright.runners.jail.kernel.seccomp import ALLOWED
from scorewright.runners.jail.layers import MANDATORY, PURPOSES
from scorewright.runners.probes import ALL

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "sandbox.md").read_text(encoding="utf-8")
#: First two cells of each row of the table of layers.
ROWS = re.findall(r"^\| (`[^|]+`) \| (yes|no) \|", PAGE, re.MULTILINE)
LISTED = {name: answer for names, answer in ROWS for name in re.findall(r"`(\w+)`", names)}


def test_every_layer_is_listed():
    assert LISTED.keys() == PURPOSES.keys()


def test_the_mandatory_layers_are_those_of_the_code():
    assert {name for name, answer in LISTED.items() if answer == "yes"} == MANDATORY


def test_the_number_of_system_calls_is_that_of_the_filter():
    assert len(ALLOWED) == 30
    assert PAGE.count("thirty") == 3


@pytest.mark.parametrize("family", sorted({probe.family for probe in ALL}))
def test_every_family_of_probes_is_named(family: str):
    assert re.search(rf"`runners/probes`: [^)]*\b{family}\b", PAGE)


def test_every_test_module_that_is_named_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)`", PAGE)

    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
