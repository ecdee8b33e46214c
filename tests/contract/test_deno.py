"""JavaScript in Deno: what authors may write, what becomes of what they should not, and what stays out of reach."""

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
import msgspec
import pytest

from command_line import CommandLine
from platforms import WEAKER, is_readable_for_all, prefix
from scorewright.domain.binding import Argument
from scorewright.domain.convention import Convention
from scorewright.domain.errors import EvaluatorError, SandboxUnavailableError
from scorewright.domain.result import Failed, FailureCode, Outcome, Scored, Skipped
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.deno.import_map import NODE_MODULES
from scorewright.runners.deno.layers import MANDATORY
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.jail import launch
from scorewright.runners.jail.launch import launch_deno
from scorewright.runners.session import Session
from workbench import children, explanation, item, limits, load, open_descriptors, run, scores

NUMBERS = list(range(1, 10))
SHARED = Path(__file__).parents[2].parent / "shared"
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


def returned(runner: DenoRunner, body: str) -> Outcome:
    """What becomes of a value in the convention that takes the most."""
    three = msgspec.structs.replace(
        load(f"function evaluate(x) {{ {body} }}"),
        convention=Convention.INPUTS_OUTPUTS_TRACE,
        score_range=(0.0, 1.0),
        threshold=0.5,
    )
    groups = execute([item(1)], [Job(three, runner)], limits=limits(), workers=1)
    return next(groups).outcomes[0][0].outcome


# ---- what authors write ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        ECHO,
        f"{ECHO}\nmodule.exports = evaluate",
        f"{ECHO}\nmodule.exports = {{ evaluate }}",
        f"{ECHO}\nmodule.exports.evaluate = evaluate",
        f"{ECHO}\nexports.evaluate = evaluate",
        f"export {ECHO}",
        f"export default {ECHO}",
        f"{ECHO}\nexport default evaluate;",
        f"{ECHO}\nexport {{ evaluate }};",
        'export default (x) => ({score: x, explanation: "here"})',
        'const evaluate = (x) => ({score: x, explanation: "here"});',
        'export const evaluate = async (x) => ({score: await x, explanation: "here"});',
        f"async {ECHO}",
        'function evaluate(x) { return Promise.resolve({score: x, explanation: "here"}); }',
        'function evaluate(x) { return new Promise((go) => setTimeout(() => go({score: x, explanation: "here"}), 9e6)); }',
    ],
)
def test_every_form_of_entry_is_found(runner: DenoRunner, source: str):
    outcomes = run(runner, source, NUMBERS)

    assert scores(outcomes) == NUMBERS
    assert explanation(outcomes[0]) == "here"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("return 0.75", Scored(score=0.75, passed=True)),
        ("return true", Scored(passed=True)),
        (
            'return {score: 0.25, a: {b: 1, c: undefined}, l: [1, , "x"]}',
            Scored(score=0.25, passed=False, metrics={"a.b": 1, "l": [1, None, "x"]}),
        ),
        ("return {toJSON: () => ({score: 0.5})}", Scored(score=0.5, passed=True)),
        ("return -0", Scored(score=0.0, passed=False)),
        ('return "\\ud800x"', Scored(metrics={"result": "\ufffdx"})),
        ('return {skip: "not for me"}', Skipped("not for me")),
    ],
)
def test_values_go_through_the_same_funnel_as_those_of_python(
    runner: DenoRunner, body: str, outcome: Outcome
):
    assert returned(runner, body) == outcome


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return", "returned nothing"),
        ("return null", "returned nothing"),
        ("return NaN", "NaN"),
        ("return {score: Infinity}", "score: Infinity"),
        ("return {a: {b: [1n]}}", r"a\.b\[0\]: BigInt"),
        ("return new Map([['score', 1]])", "Map"),
        ("return {when: new Date(0)}", "when: Date"),
        ("return Symbol('s')", "Symbol"),
        ("return () => 1", "function"),
        ("const c = {}; c.me = c; return c", "circular"),
        ("return {p: Promise.resolve(1)}", "p: Promise"),
        ("return [0.5]", "list"),
        ("return {}", "measures nothing"),
    ],
)
def test_values_that_are_no_result_say_what_they_are(runner: DenoRunner, body: str, text: str):
    failure = failed(returned(runner, body))

    assert failure.code == FailureCode.BAD_RETURN
    assert re.search(text, failure.message)


def test_a_failure_names_the_line_and_the_frames_of_the_author(runner: DenoRunner):
    source = (
        "function helper(x) {\n  return x.y.z;\n}\nfunction evaluate(x) {\n  return helper({});\n}"
    )

    failure = failed(run(runner, source)[0])

    assert failure.code == FailureCode.AUTHOR_ERROR
    assert failure.type == "TypeError"
    assert failure.line == 2
    assert failure.traceback is not None
    assert failure.traceback.split("\n")[:4] == [
        "  line 5, in evaluate",
        "    return helper({});",
        "  line 2, in helper",
        "    return x.y.z;",
    ]


@pytest.mark.parametrize(
    ("statement", "kind", "text"),
    [
        ('throw "just a string"', None, "just a string"),
        ('return Promise.reject(new Error("later"))', "Error", "later"),
        ('throw new (class Mine extends Error {})("own")', "Mine", "own"),
        ("throw {code: 7}", None, "{ code: 7 }"),
        ("throw null", None, "null"),
        (
            "throw {get message() { throw 1 }, [Symbol.toPrimitive]() { throw 2 }}",
            None,
            "[Getter]",
        ),
        ("return new Promise(() => {})", "Error", "never comes"),
    ],
)
def test_whatever_is_thrown_is_described(
    runner: DenoRunner, statement: str, kind: str | None, text: str
):
    failure = failed(run(runner, f"function evaluate(x) {{ {statement} }}")[0])

    assert (failure.code, failure.type) == (FailureCode.AUTHOR_ERROR, kind)
    assert text in failure.message


def test_an_error_at_the_top_level_fails_every_item(runner: DenoRunner):
    outcomes = run(runner, f'{ECHO}\nthrow new Error("not today");', [1, 2])

    assert [failed(each).message for each in outcomes] == ["not today"] * 2
    assert failed(outcomes[0]).line == 2


def test_prints_are_kept_apart_from_results_and_bounded(runner: DenoRunner):
    source = 'function evaluate(x) { console.log("n", {a: x}); console.error("y".repeat(9000)); return 1; }'
    groups = execute([item(1)], [Job(load(source), runner)], limits=limits(), workers=1)

    output = next(groups).outcomes[0][0].output

    assert output.startswith("n { a: 1 }\nyyy")
    assert len(output) < 8300
    assert output.endswith("more characters cut")


def test_arguments_are_bound_as_for_python(runner: DenoRunner):
    source = 'function evaluate(a, b = "default", c, d) { return {score: 1, explanation: JSON.stringify([a, b, c, d])}; }'
    plan = (
        Argument(name="a", how="field", paths=(("x", "y", -1),), position=0),
        Argument(name="b", how="field", paths=(("gone",),), required=False, position=1),
        Argument(name="c", how="constant", value={"k": [1]}, position=2),
        Argument(name="d", how="inputs", position=3),
    )
    job = Job(msgspec.structs.replace(load(source), plan=plan), runner)
    items = [Item("1", b'{"x":{"y":[1,2]},"inputs":"{\\"q\\":1}"}'), Item("2", b'{"x":{"y":[]}}')]

    first, second = next(execute(items, [job], limits=limits(), workers=1)).outcomes[0]

    assert json.loads(explanation(first.outcome)) == [2, "default", {"k": [1]}, {"q": 1}]
    failure = failed(second.outcome)
    assert failure.code == FailureCode.MAPPING_ERROR
    assert failure.message == 'field x.y[-1] (variable "a") is not in this item'


# ---- TypeScript ---------------------------------------------------------------------------------------


def typescript(runner: DenoRunner, source: str) -> Outcome:
    job = Job(msgspec.structs.replace(load(source), language="typescript"), runner)
    return next(execute([item(7)], [job], limits=limits(), workers=1)).outcomes[0][0].outcome


@pytest.mark.parametrize(
    "source",
    [
        "interface Row { a: number }\nexport function evaluate(x: number): { score: number; explanation: string } { return { score: x as number, explanation: `${x!}` }; }",
        "export default <T extends number>(x: T) => ({ score: x, explanation: String(x) } satisfies object);",
        "type N = number;\nfunction evaluate(x: N) { return { score: x, explanation: String(x) }; }",
        "enum Grade { Bad, Good = 7 }\nexport function evaluate(x: number) { return { score: Grade.Good, explanation: String(x) }; }",
        "namespace Rules { export const offset: number = 0; }\nexport function evaluate(x: number) { return { score: x + Rules.offset, explanation: String(x) }; }",
        "class Box { constructor(public value: number) {} }\nfunction evaluate(x: number) { return { score: new Box(x).value, explanation: String(x) }; }",
    ],
)
def test_typescript_runs_as_it_is_written(runner: DenoRunner, source: str):
    assert typescript(runner, source) == Scored(score=7.0, explanation="7")


@pytest.mark.parametrize("start", ["type N = number;", "enum Grade { Bad,\nGood }"])
def test_a_failure_names_the_line_of_the_typescript(runner: DenoRunner, start: str):
    source = f"{start}\n\ninterface Row {{\n  a: number\n}}\nfunction evaluate(x: number) {{\n  const row: Row = {{ a: x }};\n  throw new Error(String(row.a));\n}}"
    line = source[: source.index("throw")].count("\n") + 1

    failure = failed(typescript(runner, source))

    assert failure.line == line
    assert failure.traceback is not None
    assert "throw new Error(String(row.a));" in failure.traceback


def test_typescript_that_cannot_be_translated_is_refused(runner: DenoRunner):
    with pytest.raises(EvaluatorError, match="TypeScript: "):
        typescript(runner, "enum Grade { Bad = }\nfunction evaluate(x: number) { return 1; }")


def test_a_long_source_is_translated_whole(runner: DenoRunner):
    padding = "// a line of eighty characters that has to go through the socket as well, and back\n"
    source = (
        padding * 12_000
        + "enum G { A }\nfunction evaluate(x: number) { return { score: x, explanation: String(G.A) }; }"
    )

    assert typescript(runner, source) == Scored(score=7.0, explanation="0")


# ---- the same result every time ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        'let n = 0; function evaluate(x) { n++; return {score: n, explanation: ""}; }',
        'function evaluate(x) { evaluate.n = (evaluate.n ?? 0) + 1; return {score: evaluate.n, explanation: ""}; }',
        # Sloppy code that changes a frozen object is ignored, as the language has it.
        'function evaluate(x) { Array.prototype.n = 2; globalThis.n = 2; return {score: [].n ?? globalThis.n ?? 1, explanation: ""}; }',
        'function evaluate(x) { Object.prototype.n = 2; return {score: ({}).n ?? 1, explanation: ""}; }',
        'function evaluate(x) { (class {}).constructor.prototype.n = 2; return {score: (() => 1).n ?? 1, explanation: ""}; }',
        'function evaluate(x) { Math.random = () => 9; JSON.stringify = () => "9"; return {score: Math.random() < 1 ? 1 : 2, explanation: ""}; }',
        'function evaluate(x) { console.n = (console.n ?? 0) + 1; return {score: console.n ?? 1, explanation: ""}; }',
    ],
)
def test_nothing_of_an_item_is_left_for_the_next_one(runner: DenoRunner, source: str):
    outcomes = run(runner, source, NUMBERS)

    assert len(set(map(str, outcomes))) == 1


def test_code_cannot_get_out_of_its_function(runner: DenoRunner):
    """What stands outside of it would run once for all items, and could count them."""
    outcome = run(runner, "}); var n = 0; (function () {\n" + ECHO)[0]

    assert failed(outcome).type == "SyntaxError"


def test_pollution_is_an_error_where_the_code_is_strict(runner: DenoRunner):
    source = '"use strict"; function evaluate(x) { Array.prototype.n = 2; }'

    assert failed(run(runner, source)[0]).type == "TypeError"


def test_objects_of_the_author_s_own_may_override_what_is_frozen(runner: DenoRunner):
    expression = '(() => { const o = {}; o.toString = () => "mine"; const e = new Error("x"); e.name = "Own"; return o + " " + e; })()'

    assert shown(runner, expression) == ["mine Own: x"]


def test_clock_and_chance_are_those_of_the_run(runner: DenoRunner):
    expression = (
        "[Date.now(), new Date().toISOString(), new Date(0).getTimezoneOffset(), Math.random()]"
    )

    first = shown(runner, expression, [1, 2])
    again = shown(runner, expression, [2, 1])

    assert first == again[::-1]
    assert first[0].startswith("1767225600000,2026-01-01T00:00:00.000Z,0,0.")
    assert first[0] != first[1]
    with_other_seed = run(runner, SHOW.format(expression), [1], seed="other")
    assert explanation(with_other_seed[0]) != first[0]


def test_results_do_not_depend_on_the_number_of_workers(runner: DenoRunner):
    source = 'function evaluate(x) { return {score: x * Math.random(), explanation: ""}; }'

    def outcomes(workers: int) -> list[Outcome]:
        groups = execute(
            map(item, range(100)), [Job(load(source), runner)], limits=limits(), workers=workers
        )
        return [each.outcome for group in groups for each in group.outcomes[0]]

    assert outcomes(1) == outcomes(2)


# ---- what costs time or memory -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "codes"),
    [
        ("for (;;);", {FailureCode.TIMEOUT}),
        ("return (async () => { for (;;) await 0; })()", {FailureCode.AUTHOR_ERROR}),
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


def test_deno_s_own_permissions_are_not_what_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A harness that tries what author code would if it had every permission of Deno's."""
    attempts = {
        "permission": 'Deno.env.get("TZ")',
        "read": 'Deno.readTextFileSync("/etc/passwd")',
        "list": 'Deno.readDirSync("/etc")',
        "write": 'Deno.writeTextFileSync("/written", "x")',
        "spawn": 'new Deno.Command("/deno", {args: ["-V"]}).outputSync()',
        "signal": 'Deno.kill(1, "SIGKILL")',
        "listen": "Deno.listen({port: 0})",
        "datagram": 'Deno.listenDatagram({port: 0, transport: "udp"})',
        "library": 'Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {socket: {parameters: ["i32", "i32", "i32"], result: "i32"}}).symbols.socket(2, 1, 0)',
    }
    tries = ",".join(
        f"{json.dumps(name)}: (() => {{ try {{ const r = {code}; return r === -1 ? 'refused' : 'ESCAPED ' + [...(r[Symbol.iterator] ? r : [r])]; }} catch (e) {{ return 'refused'; }} }})()"
        for name, code in attempts.items()
    )
    said = f"const engine = JSON.stringify({{{tries}}});"
    package = _copied_package(tmp_path, said)
    launched = _launch_from(package, monkeypatch)
    runner = DenoRunner(launched=launched)
    try:
        runner.spawn_program("typescript", limits()).end()
        report = runner.report()
    finally:
        runner.close()

    assert report is not None
    found = json.loads(report.engine)
    assert found.pop("permission").startswith("ESCAPED")  # Deno itself refuses nothing here
    assert set(found.values()) == {"refused"}, found


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


def _copied_package(folder: Path, said: str) -> Path:
    """Copy the package, with all permissions for Deno and a script that says what `said` finds out."""
    source = Path(launch.__file__).parents[2]
    copy = folder / "scorewright"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for each in (folder.parent.parent, folder.parent, folder):
        each.chmod(each.stat().st_mode | 0o755)
    launcher = copy / "runners" / "deno" / "launcher.py"
    text = launcher.read_text(encoding="utf-8")
    assert '"run --quiet' in text
    launcher.write_text(text.replace('"run --quiet', '"run -A --quiet'), encoding="utf-8")
    script = copy / "runners" / "deno" / "typescript.mjs"
    engine = "const engine = JSON.stringify("
    before, found, _ = script.read_text(encoding="utf-8").partition(engine)
    assert found
    send = 'send("H", `{"layers":${LAYERS},"engine":${JSON.stringify(engine)}}`);'
    script.write_text(f"{before}{said}\n{send}\n", encoding="utf-8")
    return copy


def _launch_from(package: Path, monkeypatch: pytest.MonkeyPatch) -> launch.LaunchedZygote:
    paths = launch._import_paths()  # pyright: ignore[reportPrivateUsage] - what is to be exchanged
    monkeypatch.setattr(launch, "_import_paths", lambda: [str(package.parent), *paths])
    return launch.launch_deno()


# ---- through the command line ----------------------------------------------------------------------------


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_both_languages_run_side_by_side_and_agree(cli: CommandLine):
    cli.write(
        "same.js",
        "function evaluate(output, expected) { return {score: output === expected ? 1 : 0, explanation: ''}; }",
    )
    cli.write(
        "same.py",
        "def evaluate(output, expected):\n    return {'score': float(output == expected), 'explanation': ''}\n",
    )
    cli.write_rows("rows.jsonl", [{"output": n % 3, "expected": 1} for n in range(50)])

    done = cli(
        "run",
        "same.js",
        "same.py",
        "--data",
        "rows.jsonl",
        "--out",
        "out.jsonl",
        "--format",
        "json",
    )

    assert done.code == 0, done.stderr
    results = cli.results("out.jsonl")
    assert [r["score"] for r in results[::2]] == [r["score"] for r in results[1::2]]
    assert {r["runner"] for r in results} == {"deno", "jail"}
    tiers = [each["runner"]["tier"] for each in done.document["evaluators"]]
    assert tiers == ["deno", "jail"]


@pytest.mark.parametrize(
    ("file", "runner", "text"),
    [
        ("x.js", "jail", "it runs Python alone"),
        ("x.py", "deno", "it runs JavaScript and TypeScript alone"),
        ("x.ts", "jail", "it runs Python alone"),
        ("x.js", "local", "cannot be run without a sandbox yet"),
    ],
)
def test_a_runner_refuses_a_language_that_it_does_not_take(
    cli: CommandLine, file: str, runner: str, text: str
):
    cli.write("x.js", ECHO)
    cli.write("x.ts", ECHO)
    cli.write("x.py", "def evaluate(x):\n    return {'score': 1, 'explanation': ''}\n")
    cli.write_rows("rows.jsonl", [{"x": 1}])

    done = cli("run", file, "--data", "rows.jsonl", "--runner", runner)

    assert done.code == 2
    assert text in done.stderr


# ---- the samples of the documents ---------------------------------------------------------------------------


def seed_sample(seed: str, start: str, end: str) -> str:
    """Cut a sample out of a page, from the line that starts it to the one that ends it."""
    path = SHARED / "seeds" / seed
    if not path.is_file():
        pytest.skip("needs the seeds beside the repository")
    lines = path.read_text(encoding="utf-8").split("\n")
    first = next(at for at, line in enumerate(lines) if line.startswith(start))
    last = next(at for at, line in enumerate(lines[first:], first) if line.startswith(end))
    tail = "module.exports = evaluate"
    kept = lines[first : last + 1]
    return "\n".join(tail if line.startswith(tail) else line for line in kept)


@pytest.mark.parametrize(
    "start",
    [
        "function evaluate(input, output, context) {",
        "function evaluate(input, output, context = null) {",
    ],
)
def test_the_javascript_samples_of_agentloop_run(cli: CommandLine, start: str):
    source = seed_sample("agentloop-code-evaluator.txt", start, "module.exports")
    cli.write("sample.js", source)
    cli.write_rows("rows.jsonl", [{"input": "q", "output": "an answer", "context": "c"}])

    done = cli("run", "sample.js", "--data", "rows.jsonl", "--out", "out.jsonl", "--format", "json")

    assert done.code == 0, done.stderr
    (result,) = cli.results("out.jsonl")
    assert result["status"] == "scored", result
    assert isinstance(result["explanation"], str)


def test_the_javascript_sample_of_agenta_runs(cli: CommandLine):
    source = seed_sample(
        "agenta-custom-code-evaluator.txt", "function evaluate(inputs, outputs, trace) {", "}"
    )
    cli.write("sample.js", source)
    cli.write_rows(
        "rows.jsonl", [{"inputs": {"correct_answer": "a"}, "outputs": "a", "trace": None}]
    )

    done = cli("run", "sample.js", "--data", "rows.jsonl", "--out", "out.jsonl", "--format", "json")

    assert done.code == 0, done.stderr
    (result,) = cli.results("out.jsonl")
    assert result["status"] == "scored", result


def test_the_typescript_sample_of_agenta_runs(cli: CommandLine):
    path = SHARED / "seeds" / "agenta-custom-code-evaluator.txt"
    if not path.is_file():
        pytest.skip("needs the seeds beside the repository")
    text = path.read_text(encoding="utf-8")
    start = text.index("function evaluate(\n")
    source = text[start : text.index("\n}\n", start) + 3]
    cli.write("sample.ts", source)
    cli.write_rows("rows.jsonl", [{"inputs": {"correct_answer": "a"}, "outputs": "b"}])

    done = cli("run", "sample.ts", "--data", "rows.jsonl", "--out", "out.jsonl", "--format", "json")

    assert done.code == 0, done.stderr
    (result,) = cli.results("out.jsonl")
    assert (result["score"], result["passed"]) == (0.0, False)
