"""A worker over time: whatever becomes of it, every item is answered once, and nothing is left behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Generator
from itertools import count
from pathlib import Path

import pytest

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Outcome, Scored
from scorewright.engine.execute import Job, execute
from scorewright.runners.jail.kernel.privileges import NOBODY
from scorewright.runners.jail.supervisor import JailRunner
from scorewright.runners.local import LocalRunner
from scorewright.runners.probes.python import PROBES
from scorewright.runners.process import WorkerProcess, wait_readable
from scorewright.runners.selfcheck import SelfCheck
from scorewright.runners.session import Session
from workbench import children, explanation, item, limits, load, open_descriptors, run, scores

PATIENCE_S = 10.0
NUMBERS = list(range(1, 10))
ECHO = 'def evaluate(x):\n    return {"score": x, "explanation": "here"}\n'


def on_item(number: int, statement: str) -> str:
    """An evaluator that returns its number, but for one item does something else first."""
    return f"def evaluate(x):\n    if x == {number}:\n        {statement}\n    return {{'score': x, 'explanation': ''}}\n"


def failed(outcome: Outcome) -> Failed:
    assert isinstance(outcome, Failed), outcome
    return outcome


@pytest.fixture
def own_jail() -> Generator[JailRunner]:
    """A jail that a test may break."""
    runner = JailRunner()
    yield runner
    runner.close()


@pytest.fixture
def own_zygote(own_jail: JailRunner) -> int:
    """The process that stands at the head of the test's jail."""
    before = children()
    own_jail.spawn(limits()).end()
    (pid,) = children() - before
    return pid


def processes_of_session(leader: int) -> list[int]:
    """Processes, those in inner namespaces included, that belong to the session which `leader` began."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == leader and fields[0] != "Z":
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("sum(range(10 ** 13))", FailureCode.TIMEOUT),
        ("while True: pass", FailureCode.TIMEOUT),
        ("__import__('os')._exit(4)", FailureCode.AUTHOR_ERROR),
        ("__import__('ctypes').string_at(0)", FailureCode.AUTHOR_ERROR),
        ("[bytearray(1 << 40)]", FailureCode.OUT_OF_MEMORY),
        ("evaluate(x)", FailureCode.AUTHOR_ERROR),
        ("raise SystemExit", FailureCode.AUTHOR_ERROR),
        ("return 1", FailureCode.BAD_RETURN),
    ],
)
@pytest.mark.parametrize("number", [1, 5, 9])
def test_the_items_around_one_that_fails_keep_their_results_and_their_order(
    jail: JailRunner, statement: str, code: FailureCode, number: int
):
    outcomes = run(jail, on_item(number, statement), NUMBERS)

    assert failed(outcomes[number - 1]).code == code
    assert scores(outcomes) == [None if n == number else n for n in NUMBERS]


def test_code_that_cuts_its_connection_harms_no_more_than_its_own_items(jail: JailRunner):
    """Which of them is to blame cannot be known: the worker may go on to others before it is noticed."""
    outcomes = run(jail, on_item(1, "__import__('os').close(3)"), NUMBERS)

    assert len(outcomes) == len(NUMBERS)
    assert {failed(each).code for each in outcomes if isinstance(each, Failed)} == {
        FailureCode.AUTHOR_ERROR
    }


def test_items_that_all_end_their_worker_are_all_answered(jail: JailRunner):
    outcomes = run(jail, "import os\ndef evaluate(x):\n    os._exit(x)\n", NUMBERS)

    assert [failed(each).message for each in outcomes] == [
        f"the code ended its process (exit code {n}) without returning a result" for n in NUMBERS
    ]


def test_a_worker_that_is_killed_from_outside_fails_the_item_it_was_at(jail: JailRunner):
    source = on_item(2, "while True: pass")
    session = Session(jail, load(source, timeout_s=30.0), limits(timeout_s=30.0))
    session.submit(0, ["1", "2", "3"], [item(n).data for n in (1, 2, 3)])
    first = session.worker
    assert first is not None

    while first.item_number < 2:
        assert wait_readable(first.fileno(), 0.01) or first.item_number < 3
        if wait_readable(first.fileno(), 0.0):
            session.receive()
    first.kill()
    finished: list[ItemOutcome] = []
    while not finished:
        assert session.worker is not None
        wait_readable(session.worker.fileno(), PATIENCE_S)
        finished += [one for _, outcomes in session.receive() for one in outcomes]
    session.close()

    one, two, three = (each.outcome for each in finished)
    assert scores([one, three]) == [1, 3]
    assert failed(two).code == FailureCode.OUT_OF_MEMORY
    assert "was killed" in failed(two).message


def test_a_lost_zygote_ends_the_run_and_leaves_its_results_valid(
    own_jail: JailRunner, own_zygote: int
):
    items = map(item, count(1))
    groups = execute(items, [Job(load(ECHO), own_jail)], limits=limits(), workers=2)
    first = next(groups)

    os.kill(own_zygote, signal.SIGKILL)
    with pytest.raises(SandboxUnavailableError, match="sandbox: "):
        for _ in groups:
            pass

    assert scores([each.outcome for each in first.outcomes[0]]) == list(
        range(1, len(first.item_ids) + 1)
    )


def test_a_jail_that_lost_its_zygote_starts_another_one(own_jail: JailRunner, own_zygote: int):
    worker = own_jail.spawn(limits())
    os.kill(own_zygote, signal.SIGKILL)
    is_lost = worker.ends_within(PATIENCE_S)
    worker.end()
    with pytest.raises(SandboxUnavailableError, match="exit status -9"):
        run(own_jail, ECHO)

    outcomes = run(own_jail, ECHO, NUMBERS)

    assert is_lost
    assert scores(outcomes) == NUMBERS


def test_ctrl_c_in_the_terminal_does_not_reach_the_sandbox(own_zygote: int):
    assert os.getsid(own_zygote) == own_zygote
    assert os.getsid(own_zygote) != os.getsid(0)


@pytest.mark.parametrize("name", ["environ", "maps", "mem"])
def test_others_of_the_sandboxs_own_user_cannot_look_into_it(
    own_jail: JailRunner, own_zygote: int, name: str
):
    own_jail.spawn(limits()).end()
    nobody = NOBODY if os.getuid() == 0 else None
    groups: list[int] | None = None if nobody is None else []

    looks = [
        subprocess.run(
            ["cat", f"/proc/{pid}/{name}"],
            user=nobody,
            group=nobody,
            extra_groups=groups,
            capture_output=True,
            check=False,
            text=True,
        )
        for pid in processes_of_session(own_zygote)
    ]

    assert looks
    assert all(look.returncode == 1 and "Permission denied" in look.stderr for look in looks)


@pytest.mark.parametrize("omitted", [frozenset[str](), frozenset({"pid_namespace"})])
def test_workers_end_with_their_zygote(omitted: frozenset[str]):
    before = children()
    runner = JailRunner(omitted=omitted)
    worker = runner.spawn(limits())
    (zygote,) = children() - before

    os.kill(zygote, signal.SIGKILL)
    ended = worker.ends_within(PATIENCE_S)
    worker.end()
    runner.close()

    assert ended


HOST = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parents[1])]!r}
from workbench import children, item, limits, load
from scorewright.runners.{{module}} import {{name}}
from scorewright.runners.session import Session

runner = {{name}}()
source = "def evaluate(x):\\n    while True: pass\\n"
sessions = [Session(runner, load(source, timeout_s=600.0), limits(timeout_s=600.0)) for _ in range(2)]
for session in sessions:
    session.submit(0, ["1"], [item(1).data])
while not all(session.worker.item_number for session in sessions):
    [session.receive() for session in sessions]
print(*children(), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("module", "name"), [("jail.supervisor", "JailRunner"), ("local", "LocalRunner")]
)
def test_everything_ends_with_a_host_that_is_killed(module: str, name: str):
    program = HOST.format(module=module, name=name)
    host = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert host.stdout is not None
    pidfds = [os.pidfd_open(int(pid)) for pid in host.stdout.readline().split()]

    host.kill()
    host.communicate()
    ended = [wait_readable(pidfd, PATIENCE_S) for pidfd in pidfds]
    for pidfd in pidfds:
        os.close(pidfd)

    assert ended
    assert all(ended)


@pytest.mark.parametrize("make_runner", [JailRunner, LocalRunner])
def test_no_process_and_no_descriptor_is_left_behind(make_runner: type[JailRunner | LocalRunner]):
    descriptors, processes = open_descriptors(), children()
    runner = make_runner()

    for statement in ("pass", "sum(range(10 ** 13))", "__import__('os')._exit(1)", "evaluate(x)"):
        run(runner, on_item(2, statement), NUMBERS)
    leaders = children() - processes
    runner.close()

    assert open_descriptors() == descriptors
    assert children() == processes
    assert [processes_of_session(leader) for leader in leaders] == [[]] * len(leaders)


def test_a_run_that_is_abandoned_leaves_nothing_behind():
    descriptors, processes = open_descriptors(), children()
    runner = JailRunner()
    groups = execute(map(item, count(1)), [Job(load(ECHO), runner)], limits=limits(), workers=2)

    next(groups)
    groups.close()  # type: ignore[attr-defined] - execute is a generator
    runner.close()

    assert open_descriptors() == descriptors
    assert children() == processes


def test_a_sandbox_that_never_came_up_leaves_nothing_behind():
    descriptors, processes = open_descriptors(), children()
    runner = JailRunner(prefix=("/bin/false",))

    with pytest.raises(SandboxUnavailableError, match="exit status 1"):
        runner.spawn(limits())
    runner.close()

    assert open_descriptors() == descriptors
    assert children() == processes


MARKED = """
import json, sys

def evaluate(x):
    marked = hasattr(json, "mark")
    json.mark = True
    if x == 2:
        {statement}
    return {{"score": int(marked), "explanation": ""}}
"""


@pytest.mark.parametrize(
    "statement",
    [
        "evaluate(x)",
        "[bytearray(1 << 40)]",
        "while True: pass",
        "raise MemoryError",
        "raise RecursionError",
    ],
)
def test_a_worker_that_may_be_damaged_is_replaced(jail: JailRunner, statement: str):
    outcomes = run(jail, MARKED.format(statement=statement), [1, 2, 3, 4])

    assert scores(outcomes) == [0, None, 0, 1]


def test_a_worker_that_is_sound_goes_on(jail: JailRunner):
    outcomes = run(jail, MARKED.format(statement="raise ValueError"), [1, 2, 3, 4])

    assert scores(outcomes) == [0, None, 1, 1]


def test_what_an_item_prints_is_kept_up_to_a_bound(jail: JailRunner):
    source = """
def evaluate(x):
    line = "é" * (1 << 20)
    for _ in range(512):
        print(line)
    return {"score": x, "explanation": "printed a gigabyte"}
"""
    job = Job(load(source, timeout_s=30.0), jail)

    (group,) = execute([item(1)], [job], limits=limits(timeout_s=30.0), workers=1)

    (outcome,) = group.outcomes[0]
    kept, _, note = outcome.output.partition("\n… ")
    assert explanation(outcome.outcome) == "printed a gigabyte"
    assert len(kept.encode()) <= 8192
    assert note == f"{512 * ((1 << 20) + 1) - len(kept):,} more characters cut"


def test_prints_of_one_item_are_not_those_of_the_next(jail: JailRunner):
    source = 'def evaluate(x):\n    print("item", x)\n    return {"score": x, "explanation": ""}\n'
    job = Job(load(source), jail)

    groups = execute(map(item, (1, 2)), [job], limits=limits(), workers=1)

    outputs = [each.output for group in groups for each in group.outcomes[0]]
    assert outputs == ["item 1\n", "item 2\n"]


@pytest.mark.parametrize(
    "more",
    [
        '{"t": "a" * 240_000}',
        '{"t": "漢" * 80_000}',
        '{"t": [0.5] * 30_000}',
        '{"t": [[[]]] * 9_000}',
        "{chr(0x10000 + n) * 200: n for n in range(280)}",
        '{"t": [-(1 << 63), (1 << 63) - 1, 1.7976931348623157e308, True, None, ""]}',
    ],
)
def test_the_largest_results_that_are_allowed_get_through(jail: JailRunner, more: str):
    source = f'def evaluate(x):\n    return {{"score": x, "explanation": "e" * 16_000, **{more}}}\n'

    outcomes = run(jail, source, NUMBERS, timeout_s=5.0)

    assert scores(outcomes) == NUMBERS
    assert [type(each) for each in outcomes] == [Scored] * len(NUMBERS)


def test_swallowing_the_end_of_ones_time_does_not_make_a_result(jail: JailRunner):
    source = """
def evaluate(x):
    try:
        while True: pass
    except BaseException:
        return {"score": x, "explanation": "too late"}
"""

    (outcome,) = run(jail, source)

    assert failed(outcome).code == FailureCode.TIMEOUT
    assert failed(outcome).line == 4


def test_a_machine_with_thousands_of_open_descriptors_runs_as_any_other(own_jail: JailRunner):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1500
    if hard < 2 * wanted:
        pytest.skip(f"at most {hard} descriptors may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * wanted), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(wanted)]

    check = SelfCheck(own_jail)
    verdict = check.try_probe(next(probe for probe in PROBES if probe.name == "descriptors"))
    check.close()
    own_jail.close()

    for descriptor in opened:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert verdict.passed, verdict.outcome


def test_a_host_without_a_free_descriptor_says_so_and_leaks_none(
    own_jail: JailRunner, own_zygote: int
):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    descriptors = open_descriptors()
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(descriptors) + 2, hard))
    workers: list[WorkerProcess] = []

    try:
        with pytest.raises(SandboxUnavailableError, match="Too many open files"):
            workers.extend(own_jail.spawn(limits()) for _ in range(100))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for worker in workers:
            worker.end()

    assert own_zygote
    assert open_descriptors() - descriptors == set()
    assert scores(run(own_jail, ECHO)) == [1]
