"""What JavaScript in Deno cannot do: run for ever, eat the machine, reach anything, or leave something behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import deno
import pytest

from platforms import WEAKER, is_readable_for_all, prefix
from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.result import Failed, FailureCode, Outcome
from scorewright.runners.deno.attempt_runner import AttemptRunner
from scorewright.runners.deno.attempts import ATTEMPTS, PREFIX
from scorewright.runners.deno.import_map import NODE_MODULES
from scorewright.runners.deno.launcher import TYPESCRIPT, further_arguments
from scorewright.runners.deno.layers import MANDATORY
from scorewright.runners.deno.root import ATTEMPT_SCRIPT
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.jail.launch import launch_deno
from scorewright.runners.session import Session
from workbench import children, explanation, item, limits, load, open_descriptors, run, scores

NUMBERS = list(range(1, 10))
ECHO = 'function evaluate(x) { return {score: x, explanation: "here"}; }'
#: Gives what an expression comes to, as text.
SHOW = "function evaluate(x) {{ return {{score: 1, explanation: String({})}}; }}"


@pytest.fixture(scope="module")
def runner() -> Generator[DenoRunner]:
    """Deno on this machine, as this user has it."""
    runner = DenoRunner()
    yield runner
    runner.close()


def failed(outcome: Outcome) -> Failed:
    assert isinstance(outcome, Failed), outcome
    return outcome


def shown(runner: DenoRunner, expression: str, numbers: list[int] | None = None) -> list[str]:
    return [explanation(o) for o in run(runner, SHOW.format(expression), numbers or [1])]


# ---- what costs time or memory -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "codes"),
    [
        ("for (;;);", {FailureCode.TIMEOUT}),
        ("return (async () => { for (;;) await 0; })()", {FailureCode.TIMEOUT}),
        ("(async () => { for (;;) await 0; })()", {FailureCode.TIMEOUT}),
        ('return /^(a+)+$/.test("a".repeat(50) + "b")', {FailureCode.TIMEOUT}),
        ("for (;;) try { for (;;); } finally { continue; }", {FailureCode.TIMEOUT}),
        ("return evaluate(x)", {FailureCode.AUTHOR_ERROR}),
        (
            "const a = []; for (;;) a.push(new Array(1000).fill(1.5))",
            {FailureCode.OUT_OF_MEMORY, FailureCode.TIMEOUT},
        ),
        (
            "const a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(1))",
            {FailureCode.OUT_OF_MEMORY},
        ),
        (
            "return new Array(1e9).fill(0).length",
            {FailureCode.OUT_OF_MEMORY, FailureCode.TIMEOUT},
        ),
        (
            'let s = "x"; for (;;) s += s',
            {FailureCode.AUTHOR_ERROR, FailureCode.OUT_OF_MEMORY},
        ),
        (
            'return {score: 1, explanation: "", m: "x".repeat(1e6)}',
            {FailureCode.OUTPUT_LIMIT},
        ),
        (
            'return {score: 1, explanation: "", m: new Array(1e6).fill(1)}',
            {FailureCode.OUTPUT_LIMIT},
        ),
        ('throw new Error("x".repeat(1e7))', {FailureCode.AUTHOR_ERROR}),
    ],
)
def test_the_items_around_one_that_goes_too_far_keep_their_results(
    runner: DenoRunner, statement: str, codes: set[FailureCode]
):
    source = f'function evaluate(x) {{ if (x === 5) {{ {statement} }} return {{score: x, explanation: ""}}; }}'

    outcomes = run(runner, source, NUMBERS, timeout_s=0.5, memory_mb=64)

    assert failed(outcomes[4]).code in codes, outcomes[4]
    assert scores(outcomes) == [None if n == 5 else n for n in NUMBERS]


def test_an_endless_top_level_is_ended(runner: DenoRunner):
    outcomes = run(runner, f"{ECHO}\nfor (;;);", [1, 2])

    assert {failed(each).code for each in outcomes} == {FailureCode.TIMEOUT}


def test_a_promise_that_is_left_rejected_harms_nothing(runner: DenoRunner):
    source = 'async function evaluate(x) { Promise.reject(new Error("x")); await 0; return {score: x, explanation: ""}; }'

    assert scores(run(runner, source, NUMBERS)) == NUMBERS


def test_promises_that_are_left_rejected_do_not_pile_up(runner: DenoRunner):
    source = """
    function evaluate(x) {
      Promise.reject(Array.from({ length: 20_000 }, (_, i) => i));
      return { score: x, explanation: "" };
    }"""
    numbers = list(range(1, 1001))  # 160 MB in all

    assert scores(run(runner, source, numbers, memory_mb=64, timeout_s=5)) == numbers


@pytest.mark.parametrize("name", ["fetch", "process", "require", "Worker", "Deno"])
def test_what_is_missing_is_said_to_be_no_part_of_the_language(runner: DenoRunner, name: str):
    outcome = run(runner, f"function evaluate(x) {{ return {name}(x); }}", [1])[0]

    assert failed(outcome).message.startswith(
        f"{name} is not defined; the sandbox has the language"
    )
    assert failed(outcome).line == 1


# ---- what is out of reach ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    "Deno fetch process require Worker WebAssembly SharedArrayBuffer Atomics WebSocket crypto localStorage "
    "navigator performance addEventListener XMLHttpRequest EventSource BroadcastChannel __dirname Buffer".split(),
)
def test_nothing_but_the_language_is_there(runner: DenoRunner, name: str):
    assert shown(runner, f"[typeof {name}, (0, eval)('typeof {name}')]") == ["undefined,undefined"]


@pytest.mark.parametrize(
    "module",
    [
        *("node:fs", "node:sqlite", "node:async_hooks", "node:worker_threads", "fs", "npm:lodash"),
        *("jsr:@std/assert", "https://example.com/x.js", "data:text/javascript,export default 1"),
        *("file:///etc/passwd", "ext:core/ops"),
    ],
)
def test_no_module_can_be_had(runner: DenoRunner, module: str):
    source = f'async function evaluate(x) {{ const m = await (0, eval)("import(\'{module}\')"); return {{score: 1, explanation: ""}}; }}'

    outcome = run(runner, source, timeout_s=2.0)[0]

    assert failed(outcome).code == FailureCode.AUTHOR_ERROR


def test_the_map_of_modules_knows_all_that_deno_has(tmp_path: Path):
    program = tmp_path / "modules.mjs"
    program.write_text(
        'import { builtinModules } from "node:module"; console.log(JSON.stringify(builtinModules));',
        encoding="utf-8",
    )
    command = [deno.find_deno_bin(), "run", "--quiet", "--no-config", str(program)]

    done = subprocess.run(command, capture_output=True, check=True)

    known = {name.removeprefix("node:") for name in json.loads(done.stdout)}
    assert known <= set(NODE_MODULES)


@pytest.mark.parametrize("escape", ["evaluate", "console.log", "setTimeout", "Date", "[].map"])
def test_a_constructor_of_functions_gives_no_more_than_eval(runner: DenoRunner, escape: str):
    expression = f'{escape}.constructor("return typeof Deno + typeof fetch")()'

    assert shown(runner, expression) == ["undefinedundefined"]


def test_stack_frames_give_no_object_of_ours(runner: DenoRunner):
    expression = "(() => { Error.prepareStackTrace = (e, frames) => frames; const s = new Error('x').stack; return typeof s; })()"

    assert shown(runner, expression) == ["string"]


# ---- the process ---------------------------------------------------------------------------------------


def test_every_layer_is_reported_and_the_mandatory_ones_hold(runner: DenoRunner):
    run(runner, ECHO)

    report = runner.report()

    assert report is not None
    assert report.tier == "deno"
    assert re.fullmatch(r"deno \d+\.\d+\.\d+ / v8 \S+", report.engine)
    assert set(report.layers) >= MANDATORY


@pytest.mark.parametrize("layer", ["seccomp", "capabilities", "rlimits"])
def test_without_a_mandatory_layer_nothing_is_run(layer: str):
    runner = DenoRunner(launched=launch_deno(omitted=frozenset({layer})))
    try:
        with pytest.raises(SandboxUnavailableError, match=layer):
            runner.spawn(limits())
    finally:
        runner.close()


@pytest.mark.parametrize("layers", [{"own_root"}, {"landlock"}, {"mount_namespace", "own_root"}])
def test_one_of_root_and_landlock_is_enough(layers: set[str]):
    runner = DenoRunner(omitted=frozenset(layers))
    try:
        outcomes = run(runner, ECHO, [1])
        assert scores(outcomes) == [1]
    finally:
        runner.close()


def test_with_neither_root_nor_landlock_nothing_is_run():
    runner = DenoRunner(omitted=frozenset({"own_root", "landlock"}))
    try:
        with pytest.raises(SandboxUnavailableError, match="files"):
            runner.spawn(limits())
    finally:
        runner.close()


@pytest.mark.parametrize("platform", WEAKER)
def test_weaker_machines_run_it_with_what_they_have(platform: str, shared_folder: Path | None):
    if os.getuid() == 0 and not is_readable_for_all(Path(deno.find_deno_bin())):
        pytest.skip("the binary lies where other users cannot get to it")
    runner = DenoRunner(prefix=prefix(platform, shared_folder))
    without_files = {"container without Landlock"}
    try:
        if platform in without_files:
            with pytest.raises(SandboxUnavailableError, match="files"):
                runner.spawn(limits())
        else:
            assert scores(run(runner, ECHO, [1])) == [1]
    finally:
        runner.close()


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "deno", None)

    with pytest.raises(SandboxUnavailableError, match="pip install deno"):
        DenoRunner().spawn(limits())


@pytest.mark.parametrize("program", ["", TYPESCRIPT, "anything else"])
def test_no_program_that_reads_what_the_host_sends_has_a_permission(program: str):
    arguments = further_arguments(program, str, "{}")

    assert [each for each in arguments if each.startswith(("-A", "--allow"))] == []


def test_an_attempt_is_a_text_of_the_package_and_none_of_the_host():
    name = next(iter(ATTEMPTS))

    arguments = further_arguments(f"{PREFIX}{name}", str, "{}")

    assert arguments == ["--allow-all", ATTEMPT_SCRIPT, "{}", ATTEMPTS[name]]
    with pytest.raises(KeyError):
        further_arguments(f"{PREFIX}return Deno.readTextFileSync('/etc/passwd')", str, "{}")


def test_what_is_loaded_is_never_run_with_permissions(runner: DenoRunner):
    outcome = run(AttemptRunner(runner, "open a file"), "throw new Error('it was run')")[0]

    assert explanation(outcome).startswith("refused: NotFound")


def test_a_layer_that_is_insisted_on_is_insisted_on():
    runner = DenoRunner(required=frozenset({"a_layer_of_the_future"}))
    try:
        with pytest.raises(SandboxUnavailableError, match="a_layer_of_the_future"):
            runner.spawn(limits())
    finally:
        runner.close()


def test_neighbours_stay_healthy_and_nothing_is_left_behind():
    before, descriptors = children(), open_descriptors()
    runner = DenoRunner()
    neighbour = Session(runner, load(ECHO), limits())
    neighbour.start()
    try:
        for statement in (
            "for (;;);",
            "const a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(1))",
        ):
            run(runner, f"function evaluate(x) {{ {statement} }}", [1, 2])
        answered = neighbour.submit(0, ["1"], [item(7).data])
        while not answered:
            answered = neighbour.receive()
        assert scores([answered[0][1][0].outcome]) == [7]
    finally:
        neighbour.close()
        runner.close()

    assert children() == before
    assert open_descriptors() == descriptors


@pytest.mark.skipif(os.getuid() != 0, reason="only root keeps files where nobody may walk to")
def test_roots_own_binary_may_lie_where_only_root_can_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tmp_path.chmod(0o700)
    binary = tmp_path / "deno"
    shutil.copy2(deno.find_deno_bin(), binary)
    monkeypatch.setattr(deno, "find_deno_bin", lambda: str(binary))
    runner = DenoRunner()

    outcomes = run(runner, ECHO, [1])
    runner.close()

    assert scores(outcomes) == [1]
