"""Every probe in JavaScript and TypeScript against Deno on this machine, on weaker ones, and where nothing stands in the way."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import deno
import pytest

from platforms import WEAKER, is_readable_for_all, prefix
from scorewright.domain.result import Failed
from scorewright.domain.script_module import as_factory_body
from scorewright.runners.deno import attempts
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.probes import SUITES
from scorewright.runners.probes.probe import CANARY, Expect, Probe
from scorewright.runners.selfcheck import SelfCheck
from workbench import run

SUITE = SUITES["deno"]
PROBES = {probe.name: probe for probe in SUITE.probes}
#: What layers keep out that some machines cannot give; the language is the same everywhere.
ESSENTIAL = [
    *(probe for probe in SUITE.quick if not probe.is_attempt),
    *(probe for probe in SUITE.probes if probe.is_attempt and probe.name not in attempts.KILLED),
    *(PROBES[name] for name in ("ptrace", "mount", "unshare")),
]
AT_ONCE = 8
#: These are refused because the language, as it is spoken here, has no such words.
NO_SYNTAX = ("import's own data", "system calls by V8's own syntax")
#: Must get through where neither the filter nor Landlock nor namespaces stand in the way.
NEED_ANY_LAYER = (
    *("open a file", "list a folder", "file by node:fs", "file by the C library", "stat a file"),
    *("own mappings by /proc", "shell by the C library", "TCP listener", "UDP socket", "host name"),
    *("socket by the C library", "network devices", "signals to others by a socket", "memory file"),
    *("signal everybody", "every other system call", "ptrace"),
)
#: Must get through where only the filter is missing: the other layers do not see these.
NEED_THE_FILTER = (
    *("spawn", "socket by the C library", "signals to others by a socket", "memory file"),
    *("UDP socket", "network devices by a socket", "every other system call", "ptrace"),
)
#: The other layers hold these without the filter.
NEED_NO_FILTER = (
    "open a file",
    "list a folder",
    "stat a file",
    "write the harness",
    "TCP listener",
)
#: Harmless ones that get through in a Deno whose globals nobody has removed or frozen.
NEED_THE_HARNESS = (
    *("Deno", "process", "Worker", "WebAssembly", "names that the language does not have"),
    *("import of node:fs", "import by eval", "fetch of data"),
    *("constructor of a generator", "constructor of an asynchronous generator", "eval from afar"),
    *("constructor of the console", "runtime behind the global object's symbols", "real clock"),
    *("everything that can be reached", "state kept in a prototype"),
    *("state kept in the last match", "state kept in the global object", "state kept in Intl"),
    *("state kept in an object that is thrown", "state kept in the depth of stacks"),
)
#: Runs each text as the harness would, but in Deno as it is.
UNGUARDED = """
const probes = JSON.parse(new TextDecoder().decode(await new Response(Deno.stdin.readable).arrayBuffer()));
const factory = new Function("module", "exports", probes);
let score = 0;
for (let n = 1; n <= 2; n++) {
  const module = { exports: {} };
  factory(module, module.exports);
  score = Math.max(score, (await module.exports(n)).score);
}
console.info(score);
"""


@pytest.fixture(scope="module")
def runner() -> Generator[DenoRunner]:
    """Deno on this machine, as this user has it."""
    runner = DenoRunner()
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def check(runner: DenoRunner) -> Generator[SelfCheck]:
    check = SelfCheck(runner)
    yield check
    check.close()


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_is_contained(check: SelfCheck, name: str):
    verdict = check.try_probe(PROBES[name])

    assert verdict.passed, verdict.outcome
    # A text with a slip in it would look contained, whatever it is about.
    assert verdict.probe.expect is not Expect.REFUSED or is_meant(name, verdict.outcome)


def is_meant(name: str, outcome: str) -> bool:
    return name in NO_SYNTAX or "SyntaxError" not in outcome


def test_every_probe_has_a_name_of_its_own():
    assert len(PROBES) == len(SUITE.probes)
    assert len(PROBES) > 400


def test_the_families_are_those_of_the_jail():
    families = {
        tier: list(dict.fromkeys(probe.family for probe in suite.probes))
        for tier, suite in SUITES.items()
    }

    assert families["deno"] == families["restricted"] == families["jail"]
    assert set(families["remote"]) < set(families["jail"])


def test_every_attempt_is_a_probe():
    assert [probe.name for probe in SUITE.probes if probe.is_attempt] != []
    assert {probe.name for probe in SUITE.probes if probe.is_attempt} == attempts.ATTEMPTS.keys()


def test_the_quick_probes_hold_one_of_each_dangerous_kind():
    families = {probe.family for probe in SUITE.quick}

    assert families == {"time", "memory", "process", "kernel", "protocol", "isolation"}
    assert {probe.name for probe in SUITE.quick} >= {"open a file", "TCP connection"}
    assert sum(probe.expect is Expect.TIMES_OUT for probe in SUITE.quick) == 1


#: Without Landlock as well nothing is run, as `test_deno_jail` proves.
@pytest.mark.parametrize("platform", [one for one, off in WEAKER.items() if "landlock" not in off])
def test_the_layers_left_contain_what_is_essential(platform: str, shared_folder: Path | None):
    if os.getuid() == 0 and not is_readable_for_all(Path(deno.find_deno_bin())):
        pytest.skip("the binary lies where other users cannot get to it")
    folder = None if platform == "container, root" else shared_folder
    runner = DenoRunner(prefix=prefix(platform, folder))
    check = SelfCheck(runner)

    verdicts = list(check.try_all(ESSENTIAL, at_once=AT_ONCE))
    check.close()
    runner.close()

    assert len(verdicts) > 70
    assert {v.probe.name: v.outcome for v in verdicts if not v.passed} == {}


def tried(omitted: set[str], *names: str) -> dict[str, bool]:
    """Try probes where layers are left out; returns which of them were contained."""
    runner = DenoRunner(omitted=frozenset(omitted))
    check = SelfCheck(runner)
    verdicts = [check.try_probe(PROBES[name]) for name in names]
    check.close()
    runner.close()
    return {verdict.probe.name: verdict.passed for verdict in verdicts}


def test_attempts_get_through_where_nothing_stands_in_the_way():
    contained = tried({"user_namespace", "landlock", "files", "seccomp"}, *NEED_ANY_LAYER)

    assert contained == dict.fromkeys(NEED_ANY_LAYER, False)


def test_attempts_get_through_where_the_filter_is_missing():
    contained = tried({"seccomp"}, *NEED_THE_FILTER, *NEED_NO_FILTER)

    assert contained == {
        **dict.fromkeys(NEED_THE_FILTER, False),
        **dict.fromkeys(NEED_NO_FILTER, True),
    }


@pytest.mark.parametrize("name", NEED_THE_HARNESS)
def test_probes_get_through_where_the_language_is_not_alone(name: str, tmp_path: Path):
    script = tmp_path / "unguarded.mjs"
    script.write_text(UNGUARDED, encoding="utf-8")
    command = [deno.find_deno_bin(), "run", "--quiet", "--no-prompt", "--no-config", str(script)]
    body = json.dumps(as_factory_body(PROBES[name].source))

    done = subprocess.run(command, input=body.encode(), capture_output=True, check=True)

    assert done.stdout.strip() == b"1", done.stdout


def test_a_secret_that_is_there_is_found(check: SelfCheck):
    hunt = PROBES["secrets among all texts"]
    holding = f"{hunt.source}\nevaluate.kept = '{CANARY}';\n"

    verdict = check.try_probe(
        Probe(hunt.name, hunt.family, holding, hunt.expect, language="javascript", timeout_s=5.0)
    )

    assert not verdict.passed
    assert verdict.outcome.startswith("escaped: scorewright-canary")


def test_the_host_s_secrets_are_nowhere(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET_OF_THE_HOST", CANARY)
    runner = DenoRunner()
    check = SelfCheck(runner)

    names = ("secrets among all texts", "secrets in the text of functions", "environment")
    verdicts = [check.try_probe(PROBES[name]) for name in names]
    check.close()
    runner.close()

    assert [verdict.outcome for verdict in verdicts if not verdict.passed] == []


def test_the_harness_s_own_listener_cannot_be_called(runner: DenoRunner):
    source = """
        function evaluate(x) {
          for (const key of Object.getOwnPropertySymbols(globalThis)) globalThis[key].listeners?.load[0].callback();
          throw new Error("there is none");
        }
    """

    outcome = run(runner, source)[0]

    assert isinstance(outcome, Failed)
    assert outcome.message == "there is none"
