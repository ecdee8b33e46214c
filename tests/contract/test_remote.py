"""Remote sandboxes: the same results as on this machine, for few requests, and nothing left behind."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Generator
from io import BytesIO
from pathlib import Path

import msgspec
import pytest

from daytona_stub import DaytonaStub
from remote_workbench import judge, judge_items, outcomes, remote
from scorewright.domain.binding import Argument
from scorewright.domain.convention import Convention
from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Scored
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.harness import protocol
from scorewright.runners.harness.protocol import Load
from scorewright.runners.jail.supervisor import JailRunner
from scorewright.runners.remote import call
from scorewright.runners.remote.archive import harness_archive
from scorewright.runners.remote.inside import protocol_stand_in, remote_loop
from workbench import explanation, item, limits, load, scores

ECHO = "def evaluate(x):\n    return {'score': x, 'explanation': 'here'}\n"
ECHO_JS = 'function evaluate(x) { return {score: x, explanation: "here"}; }'
#: Beside one call per batch: make it, fill it, remove it, and one for the rounding.
OVERHEAD = 4

#: What an author may return, and a good deal that nobody should.
RETURNED = (
    "0.5",
    "1",
    "-0.0",
    "7",
    "True",
    "None",
    "'0.75'",
    "'text'",
    "''",
    "'\\ud800x'",
    "float('nan')",
    "float('-inf')",
    "2**63",
    "2**64 + 1",
    "-(2**200)",
    "[0.5]",
    "(1, 2, 3)",
    "()",
    "{1, 2}",
    "b'x'",
    "Decimal('0.5')",
    "datetime(2026, 1, 1)",
    "1j",
    "(n for n in [1])",
    "print",
    "object()",
    "{}",
    "{'score': 0.5}",
    "{'score': 0.5, 'explanation': 'why'}",
    "{'explanation': 'first', 'score': 1}",
    "{'score': True, 'explanation': 'why'}",
    "{'score': 'high', 'explanation': 'why'}",
    "{'score': 0.5, 'explanation': None}",
    "{'score': 2.5, 'explanation': 'off range', 'success': True, 'passed': False}",
    "{'score': float('nan'), 'explanation': ''}",
    "{'score': 0.5, 'explanation': 'x' * 20_000}",
    "{'score': 0.5, 'explanation': 'ü' * 20_000, 'more': 1}",
    "{'score': 0.5, 'explanation': 'why', 'text': 'x' * 300_000}",
    "{'score': 0.5, 'explanation': 'why', 'a': {'b': [1, (2, {'c': None})]}, 'x.y': 1, 1: 2, None: 3, True: 4}",
    "{'score': 0.5, 'explanation': 'why', 1: 'a', '1': 'b'}",
    "{'score': 0.5, 'explanation': 'why', (1, 2): 'a'}",
    "{'score': 0.5, 'explanation': 'why', 'deep': {'a': [{'b': {3}}]}}",
    "{'score': 0.5, 'explanation': 'why', **{str(n): n for n in range(1001)}}",
    "{'score': 0.5, 'explanation': 'why', 'big': 2**70}",
    "nested()",
    "Grade.GOOD",
    "Own({'score': 0.5, 'explanation': 'of a subclass'})",
    "{'skip': 'not this one'}",
    "{'skip': ''}",
    "EvalResult(score=0.75, explanation='why', passed=False)",
    "EvalResult(score=1)",
    "EvalResult(score=7, explanation='off range')",
    "EvalResult.skip('not this one', 'since')",
    "EvalResult.skip('x' * 20_000)",
    "broken()",
    "EvalResult.__new__(EvalResult)",
)
RETURNING = """\
from datetime import datetime
from decimal import Decimal
from enum import IntEnum

class Grade(IntEnum):
    GOOD = 1

class Own(dict):
    pass

def nested():
    value = 1
    for _ in range(100):
        value = [value]
    return {{'score': 1, 'explanation': 'deep', 'value': value}}

def broken():
    result = EvalResult(score=1)
    result.explanation = {{'no': 'text'}}
    return result

VALUES = [{values}]

def evaluate(x):
    return VALUES[x]()
"""

#: What goes wrong in an author's code, by item.
RAISING = r"""
import asyncio, os, sys

class Unprintable(Exception):
    def __str__(self):
        raise ValueError

def deep(n):
    if not n:
        raise LookupError("down here")
    return deep(n - 1)

def chained():
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise TypeError("second") from error

def recurse():
    return recurse()

def swallowing():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass

def evaluate(x):
    print("item", x)
    print("to stderr", file=sys.stderr)
    if x == 0:
        return {"score": [][3], "explanation": ""}
    if x == 1:
        deep(3)
    if x == 2:
        deep(40)
    if x == 3:
        chained()
    if x == 4:
        raise Unprintable
    if x == 5:
        sys.exit("bye")
    if x == 6:
        raise KeyboardInterrupt
    if x == 7:
        raise MemoryError
    if x == 8:
        recurse()
    if x == 9:
        raise ValueError("\ud800 and " + "x" * 2000)
    if x == 10:
        import numpy_is_not_here
    if x == 11:
        print("y" * 10_000)
        sys.stdout = None
    if x == 12:
        exec("def inner(: pass")
    if x == 13:
        swallowing()
    if x == 14:
        asyncio.run(asyncio.sleep(100))
    if x == 15:
        os._exit(3)
    if x == 16:
        import ctypes
        ctypes.string_at(0)
    if x == 17:
        raise OSError("plain")
    if x == 18:
        raise BaseException
    return {"score": x, "explanation": "fine"}
"""
RAISED = 20

#: What cannot even be loaded.
UNLOADABLE = (
    "def evaluate(x:\n    pass\n",
    "x = 1\n",
    "evaluate = 3\n",
    "import nothing_of_this_name\n" + ECHO,
    "raise ValueError('not today')\n",
    "while True:\n    pass\n",
    "import os\nos._exit(7)\n",
    ECHO + "def other():\n    return missing\nother()\n",
)


@pytest.fixture(scope="module")
def stub() -> Generator[DaytonaStub]:
    with DaytonaStub() as stub:
        yield stub


@pytest.fixture(scope="module")
def deno() -> Generator[DenoRunner]:
    runner = DenoRunner()
    yield runner
    runner.close()


# ---- the same results ---------------------------------------------------------------------------------


@pytest.mark.parametrize("convention", Convention)
def test_every_value_becomes_what_it_becomes_in_the_jail(
    jail: JailRunner, stub: DaytonaStub, convention: Convention
):
    source = RETURNING.format(values=", ".join(f"lambda: {value}" for value in RETURNED))
    described = msgspec.structs.replace(
        load(source), convention=convention, score_range=(0.0, 1.0), threshold=0.5
    )
    items = [item(number) for number in range(len(RETURNED))]

    with remote(stub) as runner:
        there = judge_items(runner, described, items)
    here = judge_items(jail, described, items)

    assert dict(zip(RETURNED, there, strict=True)) == dict(zip(RETURNED, here, strict=True))


def test_every_failure_is_described_as_in_the_jail(jail: JailRunner, stub: DaytonaStub):
    with remote(stub) as runner:
        there = judge(runner, RAISING, range(RAISED))
    here = judge(jail, RAISING, range(RAISED))

    # How deep a recursion gets depends on how deep its harness is already.
    assert _without_depth(there) == _without_depth(here)
    assert {outcome.code for outcome in outcomes(there) if isinstance(outcome, Failed)} > {
        FailureCode.TIMEOUT,
        FailureCode.OUT_OF_MEMORY,
    }


def _without_depth(judged: list[ItemOutcome]) -> list[str]:
    return [re.sub(r"… \d+ more frames", "… more frames", repr(each)) for each in judged]


@pytest.mark.parametrize("source", UNLOADABLE)
def test_what_cannot_be_loaded_fails_as_in_the_jail(
    jail: JailRunner, stub: DaytonaStub, source: str
):
    with remote(stub) as runner:
        there = judge(runner, source, range(3))

    assert there == judge(jail, source, range(3))
    assert stub.living == {}


def test_fields_are_bound_as_in_the_jail(jail: JailRunner, stub: DaytonaStub):
    plan = (
        Argument(name="a", how="field", paths=(("gone",), ("x", "y", -1))),
        Argument(name="b", how="field", paths=(("maybe",),), required=False),
        Argument(name="c", how="constant", value={"k": [1, None]}),
        Argument(name="d", how="inputs"),
        Argument(name="e", how="trace"),
        Argument(name="f", how="testcase"),
        Argument(name="g", how="trace_object"),
    )
    source = (
        "def evaluate(a, c, d, e, f, g, b='default'):\n"
        "    c['k'].append(a)\n"
        "    return {'score': 1, 'explanation': repr([a, b, c, d, e, f, g.output])}\n"
    )
    described = msgspec.structs.replace(load(source), plan=plan)
    items = [
        Item("1", b'{"x":{"y":[1,2.50]},"inputs":"{\\"q\\":1}","trace":" {\\"spans\\": NaN}"}'),
        Item("2", b'{"x":{"y":[]}}'),
        Item("3", '{"x":{"y":["grüße"]},"maybe":null,"output":{"a":1e3}}'.encode()),
        Item("4", b'{"x":"{}"}'),
        Item("5", b'{"x":{"y":[12345678901234567890]},"maybe":0,"trace":"{}"}'),
    ]

    with remote(stub) as runner:
        there = judge_items(runner, described, items)

    assert there == judge_items(jail, described, items)


def test_chance_is_that_of_the_item(jail: JailRunner, stub: DaytonaStub):
    source = (
        "import random, uuid, secrets, os\n"
        "def evaluate(x):\n"
        "    drawn = [random.random(), str(uuid.uuid4()), secrets.token_hex(4), os.urandom(3).hex(), hash('x')]\n"
        "    return {'score': 1, 'explanation': repr(drawn)}\n"
    )

    with remote(stub) as runner:
        there = judge(runner, source, [3, 1, 2])

    assert there == judge(jail, source, [3, 1, 2])


def test_async_code_runs_as_in_the_jail(jail: JailRunner, stub: DaytonaStub):
    source = (
        "import asyncio\n"
        "async def evaluate(x):\n"
        "    await asyncio.sleep(3600)\n"
        "    if x == 2:\n"
        "        raise ValueError('late')\n"
        "    return {'score': x, 'explanation': ''}\n"
    )

    with remote(stub) as runner:
        there = judge(runner, source, [1, 2])

    assert there == judge(jail, source, [1, 2])


@pytest.mark.parametrize("fresh_namespace", [True, False])
def test_each_item_gets_the_namespace_that_the_load_asks_for(
    stub: DaytonaStub, *, fresh_namespace: bool
):
    source = "seen = []\ndef evaluate(x):\n    seen.append(x)\n    return {'score': len(seen), 'explanation': ''}\n"
    described = msgspec.structs.replace(load(source), fresh_namespace=fresh_namespace)

    with remote(stub) as runner:
        judged = judge_items(runner, described, map(item, range(3)))

    assert scores(outcomes(judged)) == ([1, 1, 1] if fresh_namespace else [1, 2, 3])


SCRIPT = """\
const wanted = [() => 0.5, () => ({score: 1, explanation: "why", a: {b: [1, , "x"]}}), () => NaN, () => 1n,
  () => ({score: 0.5, explanation: "\\ud800", when: new Date(0)}), () => { throw new TypeError("no"); }, () => { throw "text"; },
  () => undefined, () => [1], () => ({skip: "not this one"}), () => Promise.resolve({score: 2, explanation: "later"}),
  () => new Promise((go) => setTimeout(() => go({score: 3, explanation: "much later"}), 1e9)), () => new Promise(() => {}),
  () => ({score: Math.random(), explanation: String(Date.now())}), () => "x".repeat(500000), () => { console.log({a: [1]}); return 1; },
  () => { null.x; }, () => { globalThis.process.exit(1); }, () => { while (true); }, () => new Map(),
  () => { Object.prototype.p = 1; return ({}).p ?? 7; }, () => new Uint8Array(3)];
function evaluate(x) {
  return wanted[x]();
}
"""


def test_scripts_become_what_they_become_in_deno(deno: DenoRunner, stub: DaytonaStub):
    convention = Convention.INPUTS_OUTPUTS_TRACE

    with remote(stub) as runner:
        there = judge(runner, SCRIPT, range(22), language="javascript", convention=convention)
    here = judge(deno, SCRIPT, range(22), language="javascript", convention=convention)

    # What a function without a name is called in a traceback depends on the version of V8.
    assert [_without_traceback(each) for each in there] == [
        _without_traceback(each) for each in here
    ]


def _without_traceback(judged: ItemOutcome) -> ItemOutcome:
    outcome = judged.outcome
    if isinstance(outcome, Failed):
        outcome = msgspec.structs.replace(outcome, traceback=None)
    return msgspec.structs.replace(judged, outcome=outcome)


@pytest.mark.parametrize("source", ["function evaluate(x { }", "const x = 1;", "throw Error('x')"])
def test_scripts_that_cannot_be_loaded_fail_as_in_deno(
    deno: DenoRunner, stub: DaytonaStub, source: str
):
    with remote(stub) as runner:
        there = outcomes(judge(runner, source, [1, 2], language="javascript"))

    assert there == outcomes(judge(deno, source, [1, 2], language="javascript"))


def test_typescript_is_translated_here_and_runs_there(deno: DenoRunner, stub: DaytonaStub):
    source = "enum Grade { Bad,\nGood = 7 }\nexport function evaluate(x: number) {\n  if (x > 1) throw new Error(`no ${x}`);\n  return { score: Grade.Good, explanation: '' };\n}"

    with remote(stub, translate=deno.as_javascript) as runner:
        good, bad = outcomes(judge(runner, source, [1, 2], language="typescript"))

    assert good == Scored(7.0, explanation="")
    assert isinstance(bad, Failed)
    assert bad.line == 4


def test_typescript_needs_this_machine_s_own_sandbox_and_says_so(stub: DaytonaStub):
    def refuse(_load: Load) -> tuple[str, list[int] | None]:
        raise SandboxUnavailableError("sandbox: mandatory layer missing: seccomp")

    with (
        remote(stub, translate=refuse) as runner,
        pytest.raises(SandboxUnavailableError, match=r"TypeScript is translated .* seccomp"),
    ):
        judge(runner, "export function evaluate(x: number) {}", language="typescript")


# ---- few requests ----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 64, 1000, 5000])
@pytest.mark.parametrize(
    ("padding", "language"), [(0, "python"), (900, "python"), (0, "javascript")]
)
def test_requests_grow_with_batches_not_with_items(count: int, padding: int, language: str):
    items = [Item(str(n), b'{"x": %d, "y": "%b"}' % (n, b"z" * padding)) for n in range(count)]
    is_python = language == "python"
    described = load(ECHO if is_python else ECHO_JS)
    if not is_python:
        described = msgspec.structs.replace(described, language="javascript")

    with DaytonaStub() as stub:
        with remote(stub) as runner:
            judged = judge_items(runner, described, items)

        assert scores(outcomes(judged)) == list(range(count))
        assert len(stub.requests) <= count / 64 + OVERHEAD
        assert len(stub.made) == 1
        assert stub.living == {}


@pytest.mark.parametrize("at", [0, 77, 127])
@pytest.mark.parametrize(
    ("language", "loop"),
    [
        ("python", "sum(range(10**12))"),
        ("python", "__import__('time').sleep(9999)"),
        ("javascript", "(() => { while (true); })()"),
    ],
)
def test_a_stuck_item_costs_its_own_result_and_no_request(language: str, loop: str, at: int):
    source = (
        f"def evaluate(x):\n    return {{'score': x, 'explanation': {loop} if x == {at} else 'fine'}}\n"
        if language == "python"
        else f"function evaluate(x) {{ return {{score: x, explanation: x == {at} ? {loop} : 'fine'}}; }}"
    )
    described = msgspec.structs.replace(
        load(source), language="python" if language == "python" else "javascript"
    )

    with DaytonaStub() as stub:
        with remote(stub) as runner:
            judged = outcomes(judge_items(runner, described, map(item, range(128))))

        assert [n for n, outcome in enumerate(judged) if not isinstance(outcome, Scored)] == [at]
        stuck = judged[at]
        assert isinstance(stuck, Failed)
        assert stuck.code == FailureCode.TIMEOUT
        assert len(stub.requests) <= 128 / 64 + OVERHEAD


@pytest.mark.parametrize(
    ("language", "bomb"),
    [
        ("python", "b'x' * (1 << 31)"),
        ("python", "[list(range(10**6)) for _ in range(10**6)]"),
        (
            "javascript",
            "(() => { const all = []; while (true) all.push(new Array(1e6).fill(1.5)); })()",
        ),
    ],
)
def test_memory_is_bounded(stub: DaytonaStub, language: str, bomb: str):
    source = (
        f"def evaluate(x):\n    return {{'score': x, 'explanation': str(len({bomb} if x == 1 else 'y'))}}\n"
        if language == "python"
        else f"function evaluate(x) {{ return {{score: x, explanation: String(x == 1 ? {bomb} : 'y')}}; }}"
    )
    described = msgspec.structs.replace(
        load(source, timeout_s=20), language="python" if language == "python" else "javascript"
    )

    with remote(stub) as runner:
        judged = outcomes(judge_items(runner, described, map(item, range(3)), timeout_s=20))

    assert [type(outcome) for outcome in judged] == [Scored, Failed, Scored]
    bombed = judged[1]
    assert isinstance(bombed, Failed)
    assert bombed.code == FailureCode.OUT_OF_MEMORY


def test_what_takes_long_is_spread_over_calls(stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(call, "_RUN_S", 0.2)
    source = "import time\ndef evaluate(x):\n    time.sleep(0.02)\n    return {'score': x, 'explanation': ''}\n"
    before = stub.counts["POST code-run"]

    with remote(stub) as runner:
        judged = judge(runner, source, range(64))

    assert scores(outcomes(judged)) == list(range(64))
    assert stub.counts["POST code-run"] - before > 1


def test_large_results_are_spread_over_calls(stub: DaytonaStub):
    source = "def evaluate(x):\n    return {'score': x, 'explanation': '', 'text': 'y' * 200_000}\n"
    before = stub.counts["POST code-run"]

    with remote(stub) as runner:
        judged = judge(runner, source, range(64), timeout_s=5)

    assert scores(outcomes(judged)) == list(range(64))
    assert 1 < stub.counts["POST code-run"] - before < 6


def test_each_evaluator_has_one_sandbox_of_its_own():
    with DaytonaStub() as stub:
        with remote(stub) as runner:
            jobs = [Job(load(ECHO, seed=f"digest {n}"), runner) for n in range(3)]
            groups = list(execute(map(item, range(600)), jobs, limits=limits(), workers=8))

        assert sum(len(group.item_ids) for group in groups) == 600
        assert len(stub.made) == 3
        labels = [sandbox.wanted["labels"] for sandbox in stub.made]
        assert {each["scorewright-evaluator"] for each in labels} == {
            "digest 0",
            "digest 1",
            "digest 2",
        }
        assert len({each["scorewright-run"] for each in labels}) == 1


def test_no_sandbox_is_made_before_there_is_something_to_do():
    with DaytonaStub() as stub:
        with remote(stub) as runner:
            runner.start()
            runner.spawn(limits())
            assert runner.report() is None

        assert stub.requests == []


def test_the_report_says_what_stood_between(stub: DaytonaStub):
    with remote(stub) as runner:
        judge(runner, ECHO)
        report = runner.report()

    assert report is not None
    assert report.tier == "remote"
    assert re.fullmatch(r"daytona / cpython 3\.\d+\.\d+\S*", report.engine)
    assert report.layers == ("network_blocked", "vm")
    assert any(each.startswith("clock") for each in report.missing)
    assert runner.jailed
    assert not runner.pure


# ---- what is uploaded --------------------------------------------------------------------------------


def test_the_harness_needs_nothing_but_the_standard_library(tmp_path: Path):
    """What is not in the archive must not be importable, least of all from this machine's packages."""
    with zipfile.ZipFile(BytesIO(harness_archive())) as archive:
        archive.extractall(tmp_path)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import scorewright.runners.remote.inside.python_worker\n"
        "import scorewright.runners.remote.inside.remote_loop\n"
        "import scorewright.authoring.recorded, scorewright.runners.harness.event_loop\n"
    )

    subprocess.run([sys.executable, "-S", "-I", "-c", program, tmp_path], check=True)


def test_the_stand_in_says_what_the_protocol_says():
    names = [name for name in vars(protocol_stand_in) if name.isupper() and name != "HEADER"]

    assert len(names) > 8
    for name in names:
        assert getattr(protocol_stand_in, name) == getattr(protocol, name)
    assert protocol_stand_in.HEADER.format == protocol.HEADER.format


def test_both_sides_name_files_and_bounds_alike():
    assert remote_loop.ARCHIVE == call.ARCHIVE_FILE
    assert remote_loop.LOAD_FILE == call.LOAD_FILE
    assert remote_loop.BATCH_FILE == call.BATCH_FILE
    assert remote_loop.MAX_ANSWER_BYTES == call.FULL_BYTES


def test_no_environment_of_the_sandbox_reaches_the_author(stub: DaytonaStub):
    source = "import os\ndef evaluate(x):\n    return {'score': 1, 'explanation': ' '.join(sorted(os.environ))}\n"

    with remote(stub) as runner:
        (outcome,) = outcomes(judge(runner, source))

    assert explanation(outcome) == "LANG PATH PYTHONHASHSEED PYTHONPATH TZ"
