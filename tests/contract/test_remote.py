"""Remote sandboxes: few requests, bounds that hold in there, and what is uploaded."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Generator
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Literal

import msgspec
import pytest

from daytona_stub import DaytonaStub
from remote_workbench import ECHO, judge, judge_items, outcomes, remote
from scorewright.domain.result import Failed, FailureCode, Scored
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.harness import protocol
from scorewright.runners.remote import call
from scorewright.runners.remote.archive import harness_archive
from scorewright.runners.remote.inside import protocol_stand_in, remote_loop, worker_process
from workbench import explanation, item, limits, load, scores

ECHO_JS = 'function evaluate(x) { return {score: x, explanation: "here"}; }'
#: Beside one call per batch: make it, fill it, remove it, and one for the rounding.
OVERHEAD = 4


@pytest.fixture(scope="module")
def stub() -> Generator[DaytonaStub]:
    with DaytonaStub() as stub:
        yield stub


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


def test_a_bug_of_ours_ends_the_run_instead_of_keeping_it_waiting(
    stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch
):
    def fail() -> bytes:
        raise ZeroDivisionError

    monkeypatch.setattr("scorewright.runners.remote.call.harness_archive", fail)

    with remote(stub) as runner, pytest.raises(ZeroDivisionError):
        judge(runner, ECHO)

    assert stub.living == {}


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_sandbox_that_lacks_what_a_language_needs_says_what(
    stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch, language: Literal["python", "javascript"]
):
    """As far as it can be tried here: neither is found on a path that leads nowhere."""
    old = "import sys\nsys.version_info = (3, 10, 0)\nsys.version = '3.10.0 (old)'\nimport shutil\nshutil.which = lambda name: None\n"
    monkeypatch.setattr(call, "PROGRAM", old + call.PROGRAM)
    source = ECHO if language == "python" else ECHO_JS

    with remote(stub) as runner:
        (outcome,) = outcomes(judge(runner, source, language=language))

    assert isinstance(outcome, Failed)
    assert outcome.code == FailureCode.SANDBOX_UNAVAILABLE
    assert ("its Python is 3.10.0" if language == "python" else "it has no Node") in outcome.message


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_harness_that_does_not_start_is_no_author_s_fault(
    stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch, language: Literal["python", "javascript"]
):
    broken = BytesIO(harness_archive())
    with zipfile.ZipFile(broken, "a") as archive, warnings.catch_warnings(action="ignore"):
        archive.writestr("scorewright/domain/excerpt.py", "raise RuntimeError('not here')")
        archive.writestr("scorewright/runners/remote/inside/worker.mjs", "throw Error('not here')")
    monkeypatch.setattr("scorewright.runners.remote.call.harness_archive", broken.getvalue)
    source = ECHO if language == "python" else ECHO_JS

    with remote(stub) as runner:
        (outcome,) = outcomes(judge(runner, source, language=language))

    assert isinstance(outcome, Failed)
    assert outcome.code == FailureCode.SANDBOX_UNAVAILABLE
    assert "the harness did not start" in outcome.message
    assert "not here" in outcome.message


def test_an_evaluator_that_loads_once_alone_fails_where_it_does_not(stub: DaytonaStub):
    source = (
        "import os\n"
        "if os.path.exists('seen'):\n"
        "    raise ValueError('again')\n"
        "open('seen', 'w').close()\n"
        "def evaluate(x):\n"
        "    if x == 1:\n"
        "        os._exit(1)\n"
        "    return {'score': x, 'explanation': ''}\n"
    )
    described = msgspec.structs.replace(load(source), fresh_namespace=False)

    with remote(stub) as runner:
        judged = outcomes(judge_items(runner, described, map(item, range(300))))

    messages = [outcome.message for outcome in judged if isinstance(outcome, Failed)]
    assert len(messages) == 300
    assert messages.count("again") == 299


@pytest.mark.parametrize("module", [remote_loop, worker_process, protocol_stand_in])
def test_the_loop_is_written_for_an_older_python_too(module: ModuleType):
    ast.parse(inspect.getsource(module), feature_version=(3, 9))


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
