"""The check that a server makes when it starts: what it says of each tier, and that it can tell."""

from __future__ import annotations

import sys

import msgspec
import pytest

from platforms import prefix
from scorewright.runners.deno.layers import MANDATORY as DENO_MANDATORY
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.jail.layers import MANDATORY, is_on
from scorewright.runners.jail.supervisor import JailRunner
from scorewright.runners.probes import SUITES
from scorewright.services.self_check import (
    TIERS,
    Available,
    Breached,
    TierCheck,
    Unavailable,
    check_runner,
    check_tiers,
)
from workbench import children, open_descriptors


def test_every_tier_of_this_machine_is_available():
    checks = check_tiers()

    assert [check.tier for check in checks] == list(TIERS)
    assert [check.state for check in checks] == [Available()] * len(TIERS)
    assert [check.probes_tried for check in checks] == [len(SUITES[t].quick) for t in TIERS]


@pytest.mark.parametrize(
    ("tier", "mandatory", "engine"),
    [("jail", MANDATORY, "cpython "), ("deno", DENO_MANDATORY, "deno ")],
)
def test_a_check_tells_the_layers_and_what_runs_behind_them(
    tier: str, mandatory: frozenset[str], engine: str
):
    (check,) = check_tiers({tier: TIERS[tier]})

    assert {name for name, state in check.layers.items() if is_on(state)} >= mandatory
    assert check.engine is not None
    assert check.engine.startswith(engine)


@pytest.mark.parametrize(
    ("omitted", "names"),
    [
        ({"seccomp"}, {"stat a file", "executable memory"}),
        ({"seccomp", "landlock", "user_namespace"}, {"open a file", "TCP connection"}),
    ],
)
def test_a_jail_that_lacks_layers_is_breached(omitted: set[str], names: set[str]):
    (check,) = check_tiers({"jail": lambda: JailRunner(omitted=frozenset(omitted))})

    assert isinstance(check.state, Breached)
    assert set(check.state.probes) >= names


@pytest.mark.parametrize(
    ("omitted", "names"),
    [
        ({"seccomp"}, {"ptrace"}),
        ({"seccomp", "landlock", "user_namespace", "files"}, {"open a file", "ptrace"}),
    ],
)
def test_a_deno_that_lacks_layers_is_breached(omitted: set[str], names: set[str]):
    (check,) = check_tiers({"deno": lambda: DenoRunner(omitted=frozenset(omitted))})

    assert isinstance(check.state, Breached)
    assert set(check.state.probes) >= names


def test_what_a_machine_cannot_give_is_unavailable_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(sys.modules, "deno", None)

    jail, deno = check_tiers(
        {"jail": lambda: JailRunner(prefix=prefix("with a thread", None)), "deno": DenoRunner}
    )

    assert isinstance(jail.state, Unavailable)
    assert "single_thread" in jail.state.reason
    assert isinstance(deno.state, Unavailable)
    assert "pip install deno" in deno.state.reason
    assert (deno.layers, deno.engine, deno.probes_tried) == ({}, None, 0)


def test_a_runner_at_work_can_be_checked_and_goes_on():
    runner = JailRunner()

    checks = [check_runner(runner), check_runner(runner)]
    runner.close()

    assert [check.state for check in checks] == [Available(), Available()]


def test_nothing_is_left_behind():
    before, descriptors = children(), open_descriptors()

    check_tiers()

    assert children() == before
    assert open_descriptors() == descriptors


def test_no_tier_is_no_check():
    assert check_tiers({}) == []


def test_a_check_can_be_told_as_json():
    check = TierCheck("jail", Breached(("ptrace",)), {"seccomp": "on"}, "cpython 3", 1, 0.5)

    told = msgspec.json.decode(msgspec.json.encode(check))

    assert told["state"] == {"type": "breached", "probes": ["ptrace"]}
    assert msgspec.convert(told, TierCheck) == check


def test_every_tier_has_probes():
    assert TIERS.keys() <= SUITES.keys()
    assert all(suite.quick for suite in SUITES.values())
