"""Results of remote sandboxes are those of this machine's own: the same outcomes, messages, lines and tracebacks."""

from __future__ import annotations

import re
from collections.abc import Generator

import msgspec
import pytest

from daytona_stub import DaytonaStub
from remote_workbench import ECHO, judge, judge_items, outcomes, remote
from scorewright.domain.binding import Argument
from scorewright.domain.convention import Convention
from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Scored
from scorewright.engine.execute import Item
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.harness.protocol import Load
from scorewright.runners.jail.supervisor import JailRunner
from workbench import item, load, scores

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
