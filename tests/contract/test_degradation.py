"""What the jail does where the machine gives less: contain everything with the layers left, or refuse."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from platforms import WEAKER, prefix
from scorewright.domain.errors import SandboxUnavailableError
from scorewright.runners.jail.layers import is_on
from scorewright.runners.jail.supervisor import JailRunner
from scorewright.runners.probes import SUITES, Probe
from scorewright.runners.selfcheck import SelfCheck
from workbench import limits, run

ALL = SUITES["jail"].probes
PROBES = {probe.name: probe for probe in ALL}
#: The time rings need no layer that is off here: one probe for each of the two is enough, and saves a minute.
RINGS = ("endless loop", "sum of a long range")
DEPENDING_ON_LAYERS = [probe.name for probe in ALL if probe.family != "time" or probe.name in RINGS]
#: Must get through where neither the filter nor Landlock nor namespaces stand in the way.
NEED_ANY_LAYER = (
    "open a file",
    "list the root",
    "stat a file",
    "own mappings by /proc",
    "pipe",
    "memory file",
    "pair of sockets",
    "TCP connection",
    "executable memory",
    "other processes by number",
)
#: Must get through where only the filter is missing: the other layers do not see these.
NEED_THE_FILTER = ("stat a file", "pipe", "memory file", "pair of sockets", "executable memory")


@pytest.fixture(scope="module", params=WEAKER)
def platform(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def weaker_jail(platform: str, request: pytest.FixtureRequest) -> Generator[JailRunner]:
    stays_root = platform == "container, root"
    folder = None if stays_root else request.getfixturevalue("shared_folder")
    runner = JailRunner(prefix=prefix(platform, folder))
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def check(weaker_jail: JailRunner) -> Generator[SelfCheck]:
    check = SelfCheck(weaker_jail)
    yield check
    check.close()


def test_what_is_missing_is_reported(platform: str, check: SelfCheck, weaker_jail: JailRunner):
    layers = weaker_jail.layers()

    off = {name for name, state in layers.items() if not is_on(state)}

    assert check
    assert off >= WEAKER[platform]
    assert "seccomp" not in off
    assert "rlimits" not in off


@pytest.mark.parametrize("name", DEPENDING_ON_LAYERS)
def test_every_probe_is_contained_by_the_layers_left(check: SelfCheck, name: str):
    verdict = check.try_probe(PROBES[name])

    assert verdict.passed, verdict.outcome


def test_without_a_filter_nothing_is_run(shared_folder: Path | None):
    runner = JailRunner(prefix=prefix("without seccomp", shared_folder))

    with pytest.raises(SandboxUnavailableError, match=r"mandatory layer missing: seccomp \(off: "):
        run(runner, 'raise SystemExit("the source was read")\n')

    runner.close()


def test_with_a_second_thread_nothing_is_run():
    runner = JailRunner(prefix=prefix("with a thread", None))

    with pytest.raises(SandboxUnavailableError, match=r"single_thread \(off: 2 threads run"):
        run(runner, 'raise SystemExit("the source was read")\n')

    runner.close()


def test_a_kernel_without_pidfds_is_named():
    runner = JailRunner(prefix=prefix("without pidfds", None))

    with pytest.raises(SandboxUnavailableError, match=r"did not start: .*Function not implemented"):
        runner.spawn(limits())

    runner.close()


def test_a_user_without_processes_left_is_told_so(shared_folder: Path | None):
    runner = JailRunner(prefix=prefix("without processes", shared_folder))

    with pytest.raises(
        SandboxUnavailableError, match=r"sandbox: .*Resource temporarily unavailable"
    ):
        runner.spawn(limits())

    runner.close()


def test_a_layer_that_the_operator_requires_is_mandatory(shared_folder: Path | None):
    runner = JailRunner(
        required=frozenset({"landlock"}), prefix=prefix("container without Landlock", shared_folder)
    )

    with pytest.raises(SandboxUnavailableError, match=r"mandatory layer missing: landlock \(off: "):
        runner.spawn(limits())

    runner.close()


def test_an_interpreter_that_does_not_start_is_told_with_its_last_words():
    runner = JailRunner(prefix=("/bin/sh", "-c", "echo no such luck >&2; exit 9", "sh"))

    with pytest.raises(SandboxUnavailableError, match="did not start: no such luck"):
        runner.spawn(limits())

    runner.close()


@pytest.fixture(scope="module")
def bare() -> Generator[SelfCheck]:
    yield from _checking(frozenset({"user_namespace", "landlock", "seccomp"}))


@pytest.fixture(scope="module")
def unfiltered() -> Generator[SelfCheck]:
    yield from _checking(frozenset({"seccomp"}))


def _checking(omitted: frozenset[str]) -> Generator[SelfCheck]:
    runner = JailRunner(omitted=omitted)
    check = SelfCheck(runner)
    yield check
    check.close()
    runner.close()


@pytest.mark.parametrize("name", NEED_ANY_LAYER)
def test_probes_get_through_where_nothing_stands_in_the_way(bare: SelfCheck, name: str):
    verdict = bare.try_probe(PROBES[name])

    assert not verdict.passed
    assert verdict.outcome.startswith("escaped: ")


@pytest.mark.parametrize("name", NEED_THE_FILTER)
def test_probes_get_through_where_the_filter_is_missing(unfiltered: SelfCheck, name: str):
    verdict = unfiltered.try_probe(PROBES[name])

    assert not verdict.passed
    assert verdict.outcome.startswith("escaped: ")


@pytest.mark.parametrize("name", ["open a file", "TCP connection", "list the root"])
def test_the_other_layers_hold_without_the_filter(unfiltered: SelfCheck, name: str):
    """Reaching the kernel is an escape for the probes; what they are after stays out of reach."""
    probe = PROBES[name]
    verdict = unfiltered.try_probe(
        Probe(
            probe.name,
            probe.family,
            probe.source.replace("errno.ENOSYS", "*range(1, 200)"),
            probe.expect,
        )
    )

    assert verdict.passed, verdict.outcome
