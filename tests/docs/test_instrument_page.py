"""The page about instrumentation: its programs are the files that are run, none is left out."""

from __future__ import annotations

import re
from pathlib import Path

from recorded_traces import TOLD

ROOT = Path(__file__).parents[2]
PAGE = ROOT.joinpath("docs/how-to/instrument.md").read_text(encoding="utf-8")
RECIPES = ROOT / "examples" / "instrumentation"
PROJECT = ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8")


def test_every_program_stands_there_word_for_word_and_no_other():
    shown = re.findall(r"^```python\n([\s\S]*?)^```$", PAGE, re.MULTILINE)

    assert sorted(shown) == sorted(path.read_text("utf-8") for path in RECIPES.glob("*.py"))


def test_every_program_that_sends_traces_is_run():
    sending = {
        path.stem
        for path in RECIPES.glob("*.py")
        if "OTLPSpanExporter()" in path.read_text(encoding="utf-8")
    }

    assert sending == set(TOLD)


def test_what_is_to_be_installed_is_what_the_programs_are_run_with():
    lines = re.findall(r"^pip install (.*)$", PAGE, re.MULTILINE)
    wanted = {
        re.split(r"[<>=\[]", name)[0] for line in lines for name in line.replace("'", "").split()
    }
    (extra,) = re.findall(r"^instrumentation = \[([\s\S]*?)^\]", PROJECT, re.MULTILINE)
    declared = {
        re.split(r"[<>=\[]", name)[0] for name in re.findall(r'^    "(.*?)"', extra, re.MULTILINE)
    }

    assert len(lines) == len(TOLD)
    assert wanted == declared
