"""Every probe in Python against the jail of this machine, and how probes are judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator

import pytest

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.result import Failed, FailureCode, Scored
from scorewright.runners.jail.layers import MANDATORY, PURPOSES, is_on
from scorewright.runners.jail.supervisor import JailRunner
from scorewright.runners.local import LocalRunner
from scorewright.runners.probes import SUITES
from scorewright.runners.probes.probe import CANARY, Expect, Probe, judge
from scorewright.runners.selfcheck import SelfCheck
from workbench import run

SUITE = SUITES["jail"]
PROBES = {probe.name: probe for probe in SUITE.probes}
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
    assert len(PROBES) == len(SUITE.probes)
    assert len(PROBES) > 200


@pytest.mark.parametrize("name", sorted(PROBES.keys() - BROKEN_SOURCES))
def test_every_probe_is_python_that_is_refused_for_what_it_does(name: str):
    assert compile(PROBES[name].source, name, "exec")


def test_the_families_are_whole():
    families = list(dict.fromkeys(probe.family for probe in SUITE.probes))

    assert families == [
        *("time", "memory", "process", "files", "network"),
        *("kernel", "protocol", "isolation", "oddities"),
    ]


def test_the_quick_probes_hold_one_of_each_dangerous_kind():
    families = {probe.family for probe in SUITE.quick}

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
    assert sum(probe.expect is Expect.TIMES_OUT for probe in SUITE.quick) == 1


def test_verdicts_come_one_by_one(check: SelfCheck):
    verdicts = check.try_all(SUITE.quick)

    first = next(verdicts)
    others = list(verdicts)

    assert first.probe == SUITE.quick[0]
    assert [verdict.probe for verdict in others] == list(SUITE.quick[1:])
    assert all(verdict.passed for verdict in (first, *others))


def test_probes_tried_side_by_side_get_verdicts_of_their_own(check: SelfCheck):
    escaping = Probe("leak", "files", HARMLESS_SOURCE, Expect.KILLED)

    verdicts = list(check.try_all([*SUITE.quick, escaping], at_once=len(SUITE.quick) + 1))

    assert [verdict.probe.name for verdict in verdicts if not verdict.passed] == ["leak"]
    assert len(verdicts) == len(SUITE.quick) + 1


def test_a_probe_that_needs_a_layer_is_not_tried_without_it(check: SelfCheck):
    of_the_future = Probe("x", "files", HARMLESS_SOURCE, Expect.CLEAN, needs="a_layer_to_come")
    of_today = Probe("y", "files", HARMLESS_SOURCE, Expect.CLEAN, needs="seccomp")

    verdicts = list(check.try_all([of_the_future, of_today]))

    assert [verdict.probe for verdict in verdicts] == [of_today]


def test_a_probe_that_does_not_end_is_ended_and_has_failed(
    check: SelfCheck, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patched:
        patched.setattr(check, "suite", dataclasses.replace(check.suite, patience_s=-4.0))
        endless = Probe("x", "time", "while True: pass", Expect.TIMES_OUT, timeout_s=4.1)
        verdict = check.try_probe(endless)

    assert (verdict.passed, verdict.outcome) == (False, "it was still not ended when patience was")
    assert check.try_probe(PROBES["fork"]).passed


def test_no_probe_is_ever_run_without_a_sandbox():
    with pytest.raises(SandboxUnavailableError, match="local is no sandbox"):
        SelfCheck(LocalRunner())


def test_a_tier_with_a_policy_of_its_own_is_judged_by_escape_alone():
    restricted = SUITES["restricted"]

    assert [probe.name for probe in restricted.probes] == list(PROBES)
    assert {probe.expect for probe in (*restricted.probes, *restricted.quick)} == {Expect.HARMLESS}


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
    runner = JailRunner()
    check = SelfCheck(runner)

    verdicts = list(check.try_all(p for p in SUITE.probes if p.family == "isolation"))
    check.close()
    runner.close()

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
