"""Remote sandboxes whose output the author's code has made, as far as it can."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator

import pytest

from daytona_stub import DaytonaStub
from remote_workbench import (
    ECHO,
    failures,
    forged,
    judge,
    not_base64,
    outcomes,
    output_changed,
    remote,
)
from scorewright.domain.result import FailureCode
from scorewright.engine.execute import Job, execute
from scorewright.runners.loss import TAMPERED
from workbench import item, limits, load, scores

NUMBERS = range(10)


@pytest.fixture
def stub() -> Generator[DaytonaStub]:
    with DaytonaStub() as stub:
        yield stub


# ---- hostile output ----------------------------------------------------------------------------------


HEAD = b'{"engine":"cpython 3","load_failed":false,"unusable":null}'
LINE = b'[0,{"score":1,"explanation":""},"",1]'


@pytest.mark.parametrize(
    "change",
    [
        forged(HEAD),
        forged(HEAD, LINE),
        forged(HEAD, *[LINE] * 9),
        forged(HEAD, *[LINE] * 11),
        forged(HEAD, *[LINE] * 9, b"junk"),
        forged(HEAD, *[LINE] * 9, b'[0,NaN,"",1]'),
        forged(HEAD, *[LINE] * 9, b'[9,1,"",1]'),
        forged(HEAD, *[LINE] * 9, b'[2,7,"",1]'),
        forged(HEAD, *[LINE] * 9, b'[0,1,"",-1]'),
        forged(HEAD, *[LINE] * 9, b'[3,{"reason":"other","status":1,"words":""},"",1]'),
        forged(HEAD, *[LINE] * 9, b"[" * 100_000),
        forged(HEAD, *[LINE] * 9, b'[0,"' + b"x" * (3 << 20) + b'","",1]'),
        forged(HEAD, *[LINE] * 9, b'[0,"\xff","",1]'),
        forged(b"", *[LINE] * 10),
        forged(b"{}", *[LINE] * 10),
        forged(b'{"engine":"' + b"x" * 10_000 + b'"}', *[LINE] * 10),
        not_base64,
    ],
)
def test_a_forged_answer_fails_the_batch_and_nothing_else(
    stub: DaytonaStub, change: Callable[[str], str]
):
    stub.trouble = output_changed(change)

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO, NUMBERS))

    assert len(failures(judged)) == len(NUMBERS)
    assert {each.code for each in failures(judged)} == {FailureCode.AUTHOR_ERROR}
    assert all(each.message.startswith(TAMPERED) for each in failures(judged))
    assert stub.living == {}


@pytest.mark.parametrize("code", ["sandbox_unavailable", "judge_error", "cancelled"])
def test_codes_that_only_the_host_gives_are_not_taken_from_a_sandbox(stub: DaytonaStub, code: str):
    failure = {"code": code, "message": "", "type": None, "line": None, "traceback": None}
    line = json.dumps([1, failure, "", 1]).encode()
    stub.trouble = output_changed(forged(HEAD, *[line] * len(NUMBERS)))

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO, NUMBERS))

    assert {each.code for each in failures(judged)} == {FailureCode.AUTHOR_ERROR}


def test_batches_after_a_forged_one_are_judged_in_another_sandbox(stub: DaytonaStub):
    once = iter([forged(HEAD)])

    def forge_once(output: str) -> str:
        forge = next(once, None)
        return forge(output) if forge else output

    stub.trouble = output_changed(forge_once)

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO, range(600)))

    assert len(failures(judged)) == 128
    assert scores(judged)[128:] == list(range(128, 600))
    assert len(stub.made) == 2


#: Code that reaches the loop's own output, and knows its marks.
FORGER = """\
import base64, os, re

def evaluate(x):
    if x == 3:
        parent = os.getppid() if os.getppid() > 1 else 0
        command = open(f"/proc/{parent}/cmdline").read()
        nonce = re.search(r"nonce='([0-9a-f]{32})'", command)[1]
        text = base64.b64encode(b'{"engine":"mine","load_failed":false,"unusable":null}\\n[0,1,"",1]').decode()
        with open(f"/proc/{parent}/fd/1", "w") as file:
            file.write(f"\\n{nonce}<\\n{text}\\n>{nonce}\\n")
    return {"score": x, "explanation": ""}
"""


@pytest.mark.parametrize("engine", ["cpython 3; of a bank", "jail", "", "cpython 3\n"])
def test_an_engine_is_believed_to_be_no_more_than_a_version(stub: DaytonaStub, engine: str):
    head = json.dumps({"engine": engine, "load_failed": False, "unusable": None}).encode()
    stub.trouble = output_changed(forged(head, LINE))

    with remote(stub) as runner:
        judge(runner, ECHO)
        report = runner.report()

    assert report is not None
    assert report.engine == "daytona / an engine that hides"


def test_code_that_writes_to_the_loop_s_output_spoils_its_own_batch_alone(stub: DaytonaStub):
    with remote(stub) as runner:
        jobs = [Job(load(source, timeout_s=3), runner) for source in (FORGER, ECHO)]
        (group,) = list(execute(map(item, NUMBERS), jobs, limits=limits(), workers=2))

    forging, honest = ([each.outcome for each in of_job] for of_job in group.outcomes)
    assert all(each.message.startswith(TAMPERED) for each in failures(forging))
    assert len(failures(forging)) == len(NUMBERS)
    assert scores(honest) == list(NUMBERS)


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGSTOP"])
def test_code_that_ends_or_stops_the_loop_costs_its_own_evaluator_the_sandbox(
    stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch, signal: str
):
    monkeypatch.setattr("scorewright.runners.remote.link._ATTEMPTS", 2)
    monkeypatch.setattr("scorewright.runners.remote.call._RUN_S", 0.5)
    monkeypatch.setattr("scorewright.runners.remote.call._STARTING_S", 0.5)
    source = f"import os, signal\ndef evaluate(x):\n    os.kill(os.getppid(), signal.{signal})\n"

    with remote(stub) as runner:
        judged = outcomes(judge(runner, source, NUMBERS))

    assert {each.code for each in failures(judged)} == {FailureCode.SANDBOX_UNAVAILABLE}
    assert "gave no whole answer (exit code -9)" in failures(judged)[0].message
    assert len(stub.made) == 2
    assert stub.living == {}


@pytest.mark.parametrize(
    "printing",
    [
        "print('x' * 10_000)",
        "__import__('os').write(1, b'x' * 10_000)",
        "__import__('os').write(2, b'\\0' * 10_000)",
        "__import__('os').system('yes | head -c 100000')",
        "print('0123456789abcdef<')",
    ],
)
def test_prints_are_no_results(stub: DaytonaStub, printing: str):
    source = f"def evaluate(x):\n    {printing}\n    return {{'score': x, 'explanation': ''}}\n"

    with remote(stub) as runner:
        judged = judge(runner, source, NUMBERS, timeout_s=5)

    assert scores(outcomes(judged)) == list(NUMBERS)
    assert all(len(each.output) < 8_300 for each in judged)


def test_an_answer_without_end_is_cut_off_before_it_is_in_memory(
    stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("scorewright.runners.remote.daytona._MAX_OUTPUT_BYTES", 1 << 16)
    stub.trouble = output_changed(lambda output: output + "x" * (1 << 17))

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO))

    assert "more than 65,536 bytes" in failures(judged)[0].message
