"""The page on the sandbox against the code: its layers, its probes, its numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scorewright.runners.deno.layers import MANDATORY as DENO_MANDATORY
from scorewright.runners.deno.layers import PROFILE
from scorewright.runners.deno.layers import PURPOSES as DENO_PURPOSES
from scorewright.runners.jail.kernel.seccomp import ALLOWED
from scorewright.runners.jail.layers import MANDATORY, PURPOSES
from scorewright.runners.probes import SUITES

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


def test_the_layers_of_deno_are_those_of_the_code():
    mandatory = re.search(r"^Mandatory are (.*)", PAGE, re.MULTILINE)

    assert mandatory
    assert set(re.findall(r"`(\w+)`", mandatory[1].partition(". `")[0])) == DENO_MANDATORY
    assert [name for name in DENO_PURPOSES if f"| `{name}` |" not in PAGE] == []
    assert 70 < len(PROFILE.allowed) < 85, "the page says: about eighty"


@pytest.mark.parametrize(
    "family", sorted({probe.family for suite in SUITES.values() for probe in suite.probes})
)
def test_every_family_of_probes_is_named(family: str):
    assert re.search(rf"`runners/probes`: [^)]*\b{family}\b", PAGE)


def test_every_test_module_that_is_named_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)`", PAGE)

    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
