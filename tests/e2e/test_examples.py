"""Every command of examples/README.md, run as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from command_line import CommandLine

ROOT = Path(__file__).parents[2]
README = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"`scorewright (run [^`]+)`", README)

# 24 traces, of which 18 are of production, have two model calls each; they make 11 conversations.
# Four of the 240 answers have lost their reference, twelve have none, and 28 are for programs; 24 answers have a trace.
COUNTS = {
    "answer-given": (240, 0, 0),
    "amount-within-tolerance": (107, 129, 4),
    "order-record": (28, 212, 0),
    "required-tools": (24, 0, 0),
    "exact-answer": (224, 16, 0),
    "reply-profile": (212, 28, 0),
    "latency-budget": (24, 0, 0),
    "token-budget": (24, 0, 0),
    "required-facts": (228, 12, 0),
    "json-output": (235, 5, 0),
    "careful-promises": (235, 5, 0),
    "tool-results-used": (24, 0, 0),
    "parcel-known": (16, 8, 0),
    "looks-first": (24, 0, 0),
    "keeps-instructions": (36, 0, 0),
    "never-asks-twice": (11, 0, 0),
    "reference-overlap": (240, 0, 0),
    "contains-answer": (236, 0, 4),
    "reply-deductions": (240, 0, 0),
}


def test_every_evaluator_of_the_readme_has_its_counts_here():
    assert len(COMMANDS) == len(COUNTS)


@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda command: Path(shlex.split(command)[1]).stem
)
def test_an_example_gives_the_counts_its_readme_tells_of(command: str):
    run = CommandLine(ROOT)(*shlex.split(command), "--format", "json")

    assert run.code == 0, run.stderr
    summary = run.summary
    counts = (summary["scored"], summary["skipped"], summary["failed"])
    assert counts == COUNTS[summary["evaluator"]]
    assert {failure["code"] for failure in summary["failures"]} <= {"mapping_error"}
    assert 0 < summary["mean_score"] < 100
