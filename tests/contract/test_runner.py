"""Every probe against the jail of this machine, and the check that ships with the product."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from command_line import CommandLine
from platforms import prefix
from scorewright.cli.runner import check_command
from scorewright.domain.errors import SandboxUnavailableError, UsageError
from scorewright.domain.result import Failed, FailureCode, Scored
from scorewright.runners.jail.layers import MANDATORY, PURPOSES, is_on
from scorewright.runners.jail.supervisor import JailRunner
from scorewright.runners.local import LocalRunner
from scorewright.runners.probes import ALL, QUICK, Expect, Probe
from scorewright.runners.probes.isolation import CANARY
from scorewright.runners.probes.probe import judge
from scorewright.runners.selfcheck import SelfCheck, run_probes
from workbench import run

PROBES = {probe.name: probe for probe in ALL}
#: Sources that are not Python, which is what these probes are about.
BROKEN_SOURCES = {"deep source", "zero byte in the source"}
HARMLESS_SOURCE = 'def evaluate(x): return {"score": 0, "explanation": ""}'


@pytest.fixture(scope="module")
def check(jail: JailRunner) -> Generator[SelfCheck]:
    check = SelfCheck(jail)
    yield check
    check.close()


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_is_contained(check: SelfCheck, name: str):
    verdict = check.try_probe(PROBES[name])

    assert verdict.passed, verdict.outcome


def test_every_layer_is_on_or_says_why_not(check: SelfCheck, jail: JailRunner):
    layers = jail.layers()

    unexplained = [name for name, state in layers.items() if not is_on(state) and state == "off: "]

    assert check
    assert set(layers) >= MANDATORY
    assert set(layers) <= set(PURPOSES)
    assert unexplained == []


def test_every_probe_has_a_name_of_its_own():
    assert len(PROBES) == len(ALL)
    assert len(ALL) > 200


@pytest.mark.parametrize("name", sorted(PROBES.keys() - BROKEN_SOURCES))
def test_every_probe_is_python_that_is_refused_for_what_it_does(name: str):
    assert compile(PROBES[name].source, name, "exec")


def test_the_families_are_whole():
    families = list(dict.fromkeys(probe.family for probe in ALL))

    assert families == [
        *("time", "memory", "process", "files", "network"),
        *("kernel", "protocol", "isolation", "oddities"),
    ]


def test_the_quick_probes_hold_one_of_each_dangerous_kind():
    families = {probe.family for probe in QUICK}

    assert families == {
        "time",
        "memory",
        "process",
        "files",
        "network",
        "kernel",
        "protocol",
        "isolation",
    }
    assert sum(probe.expect is Expect.TIMES_OUT for probe in QUICK) == 1


def test_verdicts_come_one_by_one():
    verdicts = run_probes(JailRunner, QUICK)

    first = next(verdicts)
    others = list(verdicts)

    assert first.probe == QUICK[0]
    assert [verdict.probe for verdict in others] == list(QUICK[1:])
    assert all(verdict.passed for verdict in (first, *others))


def test_no_probe_is_ever_run_without_a_sandbox():
    with pytest.raises(SandboxUnavailableError, match="local is no sandbox"):
        next(run_probes(LocalRunner))


def test_the_hunt_for_secrets_finds_one_that_is_there(check: SelfCheck):
    hunt = PROBES["secrets among all objects"]
    holding = f"KEPT = {CANARY!r}\n{hunt.source}"
    verdict = check.try_probe(Probe(hunt.name, hunt.family, holding, hunt.expect, timeout_s=5.0))

    assert not verdict.passed
    assert verdict.outcome.startswith("escaped: ")


def test_a_probe_that_escapes_has_failed_whatever_was_expected():
    escaped = Scored(1.0, explanation="escaped: with all")
    probes = [Probe("name", "family", "source", expect) for expect in Expect]

    verdicts = [judge(probe, [escaped]) for probe in probes]

    assert [passed for passed, _ in verdicts] == [False] * len(Expect)


def test_a_probe_without_an_outcome_has_failed():
    assert judge(Probe("name", "family", "source", Expect.HARMLESS), []) == (False, "no outcome")


def test_a_neighbour_that_suffers_fails_the_probe(check: SelfCheck):
    harmless = Probe("name", "family", HARMLESS_SOURCE, Expect.CLEAN)
    neighbour = check._neighbour  # pyright: ignore[reportPrivateUsage] - who else could harm it
    answer = neighbour.submit(0, ["0"], [b'{"x": 0}'])
    neighbour.worker.kill()  # type: ignore[union-attr] - it was started

    suffering = check.try_probe(harmless)
    recovered = check.try_probe(harmless)

    assert answer == []
    assert not suffering.passed
    assert suffering.outcome.startswith("its neighbour answered ")
    assert recovered.passed


def test_a_secret_of_the_hosts_environment_is_not_in_the_jail(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET_OF_THE_HOST", CANARY)

    verdicts = list(run_probes(JailRunner, [p for p in ALL if p.family == "isolation"]))

    assert len(verdicts) > 5
    assert [verdict.outcome for verdict in verdicts if not verdict.passed] == []


def test_the_local_runner_bounds_time_and_memory():
    outcomes = [
        *run(LocalRunner(), "def evaluate(x):\n    while True: pass"),
        *run(LocalRunner(), "def evaluate(x): return [bytearray(1 << 40)]"),
        *run(LocalRunner(), "import os\ndef evaluate(x): os._exit(3)"),
    ]

    codes = [outcome.code for outcome in outcomes if isinstance(outcome, Failed)]

    assert codes == [FailureCode.TIMEOUT, FailureCode.OUT_OF_MEMORY, FailureCode.AUTHOR_ERROR]


def test_the_document_holds_the_layers_and_a_verdict_for_every_probe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("scorewright.cli.runner.ALL", QUICK)

    code = check_command("jail", as_json=True)

    document = json.loads(capsys.readouterr().out)
    assert code == 0
    assert document["layers"]["seccomp"] == "on"
    assert (document["passed"], document["failed"]) == (len(QUICK), 0)
    assert [probe["name"] for probe in document["probes"]] == [probe.name for probe in QUICK]
    assert document["probes"][0].keys() == {"name", "family", "passed", "outcome", "duration_ms"}


def test_the_tables_start_with_the_layers_and_end_with_the_sum(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("scorewright.cli.runner.ALL", QUICK)

    code = check_command("jail", as_json=False)

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0].split() == ["layer", "state", "what", "it", "takes", "away"]
    assert lines[-1].startswith(f"{len(QUICK)} of {len(QUICK)} probes contained; ")


def test_a_probe_that_gets_through_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    escaping = Probe("leak", "files", HARMLESS_SOURCE, Expect.KILLED)
    monkeypatch.setattr("scorewright.cli.runner.ALL", (escaping,))

    code = check_command("jail", as_json=False)

    printed = capsys.readouterr().out
    assert code == 1
    assert "FAILED leak" in printed
    assert "0 of 1 probes contained" in printed


def test_a_machine_without_a_filter_is_exit_code_3(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    shared_folder: Path | None,
):
    unfiltered = JailRunner(prefix=prefix("without seccomp", shared_folder))
    monkeypatch.setattr("scorewright.cli.runner.JailRunner", lambda: unfiltered)

    code = check_command("jail", as_json=True)

    document = json.loads(capsys.readouterr().out)
    assert code == 3
    assert "mandatory layer missing: seccomp" in document["unavailable"]
    assert document["layers"]["seccomp"].startswith("off: ")


def test_the_local_runner_is_named_for_what_it_is(cli: CommandLine):
    done = cli("runner", "check", "local")

    assert done.code == 3
    assert "local is no sandbox" in done.stdout
    assert "No probe was run" in done.stdout


def test_a_runner_that_is_not_there_is_the_callers_mistake():
    with pytest.raises(UsageError, match="use one of jail, local"):
        check_command("prison", as_json=False)
