"""`scorewright runner check`: what it prints, and what its exit code says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import CommandLine
from platforms import prefix
from scorewright.cli import runner
from scorewright.cli.runner import check_command
from scorewright.domain.errors import UsageError
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.jail.supervisor import JailRunner, KernelRunner
from scorewright.runners.probes import SUITES, Suite
from scorewright.runners.probes.probe import Expect, Probe

KEYS = {"runner", "layers", "probes", "passed", "failed", "unavailable"}
ESCAPING = Probe(
    "leak", "files", 'def evaluate(x): return {"score": 0, "explanation": ""}', Expect.KILLED
)


def quickly(capsys: pytest.CaptureFixture[str], name: str | None) -> tuple[int, Any]:
    """The exit code and the document of a quick check."""
    code = check_command(name, quick=True, as_json=True)
    return code, json.loads(capsys.readouterr().out)


def put(monkeypatch: pytest.MonkeyPatch, tier: str, make: Callable[[], KernelRunner]) -> None:
    """Have a tier's runner made in another way."""
    monkeypatch.setattr("scorewright.cli.runner.TIERS", {**runner.TIERS, tier: make})


def lacking_a_filter(folder: Path | None) -> KernelRunner:
    return JailRunner(prefix=prefix("without seccomp", folder))


@pytest.mark.parametrize("tier", runner.TIERS)
def test_the_document_of_one_holds_the_layers_and_a_verdict_for_every_probe(
    capsys: pytest.CaptureFixture[str], tier: str
):
    code, document = quickly(capsys, tier)

    quick = SUITES[tier].quick
    assert code == 0
    assert document.keys() == KEYS
    assert document["runner"] == tier
    assert document["layers"]["seccomp"] == "on"
    assert (document["passed"], document["failed"]) == (len(quick), 0)
    assert [probe["name"] for probe in document["probes"]] == [probe.name for probe in quick]
    assert document["probes"][0].keys() == {"name", "family", "passed", "outcome", "duration_ms"}


def test_the_document_of_all_holds_one_for_each(capsys: pytest.CaptureFixture[str]):
    code, document = quickly(capsys, None)

    assert code == 0
    assert document.keys() == {"runners", "passed", "failed"}
    assert [each["runner"] for each in document["runners"]] == list(runner.TIERS)
    assert all(each.keys() == KEYS for each in document["runners"])
    assert document["passed"] == sum(each["passed"] for each in document["runners"])


def test_the_tables_begin_with_the_layers_and_end_with_a_line_for_each(
    capsys: pytest.CaptureFixture[str],
):
    code = check_command(None, quick=True)

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0] == "runner jail"
    assert lines[1].split() == ["layer", "state", "what", "it", "takes", "away"]
    assert "runner deno" in lines
    assert [line.split()[0] for line in lines[-3:]] == list(runner.TIERS)
    assert " probes contained; " in lines[-1]


def test_the_tables_of_one_end_with_its_sum(capsys: pytest.CaptureFixture[str]):
    check_command("deno", quick=True)

    lines = capsys.readouterr().out.splitlines()
    count = len(SUITES["deno"].quick)
    assert lines[-1].startswith(f"{count} of {count} probes contained; ")


def test_without_quick_every_probe_is_tried(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    three = SUITES["jail"].quick[:3]
    monkeypatch.setattr("scorewright.cli.runner.SUITES", {"jail": Suite("python", three, ())})

    check_command("jail", as_json=True)

    document = json.loads(capsys.readouterr().out)
    assert [probe["name"] for probe in document["probes"]] == [probe.name for probe in three]


def test_a_probe_that_gets_through_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    leaking = Suite("python", (ESCAPING,), ())
    monkeypatch.setattr("scorewright.cli.runner.SUITES", {"jail": leaking})

    code = check_command("jail")

    printed = capsys.readouterr().out
    assert code == 1
    assert "FAILED leak" in printed
    assert "0 of 1 probes contained" in printed


def test_a_machine_without_a_filter_is_exit_code_3(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    shared_folder: Path | None,
):
    put(monkeypatch, "jail", lambda: lacking_a_filter(shared_folder))

    code, document = quickly(capsys, "jail")

    assert code == 3
    assert "mandatory layer missing: seccomp" in document["unavailable"]
    assert document["layers"]["seccomp"].startswith("off: ")


def test_one_that_is_not_to_be_had_does_not_keep_the_others_from_being_checked(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    shared_folder: Path | None,
):
    put(monkeypatch, "jail", lambda: lacking_a_filter(shared_folder))

    code = check_command(None, quick=True)

    lines = capsys.readouterr().out.splitlines()
    jail = next(n for n, line in enumerate(lines) if re.match(r"jail +unavailable: sandbox:", line))
    assert code == 3
    assert lines[-1].startswith("deno")
    assert "probes contained" in lines[-1]
    assert jail > lines.index("runner deno")


def test_a_leak_weighs_more_than_a_sandbox_that_is_missing(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    shared_folder: Path | None,
):
    put(monkeypatch, "jail", lambda: lacking_a_filter(shared_folder))
    put(monkeypatch, "deno", lambda: DenoRunner(omitted=frozenset({"seccomp"})))

    code, document = quickly(capsys, None)

    assert code == 1
    assert document["failed"] > 0
    assert document["runners"][0]["unavailable"] is not None


def test_the_local_runner_is_named_for_what_it_is(cli: CommandLine):
    done = cli("runner", "check", "local")

    assert done.code == 3
    assert "local is no sandbox" in done.stdout
    assert "No probe was run" in done.stdout


def test_a_runner_that_is_not_there_is_the_callers_mistake():
    with pytest.raises(UsageError, match="use one of jail, restricted, deno, remote, local"):
        check_command("prison")
