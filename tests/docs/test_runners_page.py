"""The page about runners is what the code says."""

from __future__ import annotations

import re

import pytest
from runners_page import PAGE, render

from scorewright.cli import main
from scorewright.domain.source_language import LANGUAGES
from scorewright.runners.capabilities import BY_TIER
from scorewright.services.runner_choice import RUNNERS, Runners


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == render(), "run: make docs"


def test_the_command_line_knows_the_same_runners():
    assert main.RUNNERS == RUNNERS


def test_every_runner_stands_on_the_page():
    page = render()

    assert all(f"| `{tier}` |" in page for tier in BY_TIER)


@pytest.mark.parametrize("name", ["auto", "jail", "restricted", "deno", "local"])
def test_the_table_says_what_the_runners_are(name: str):
    for language in LANGUAGES:
        runners = Runners(name)
        if name != "auto" and language not in BY_TIER[name].languages:
            continue
        runner = runners.of(language)
        assert runner.jailed is BY_TIER[runner.tier].contains
        assert name in ("auto", runner.tier)


def test_auto_never_takes_what_is_no_sandbox_or_no_boundary():
    taken = {one.tier for one in BY_TIER.values() if one.automatic_for}

    assert taken == {"jail", "deno"}


def test_every_link_of_the_page_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", render()):
        assert (PAGE.parent / target).exists(), target
