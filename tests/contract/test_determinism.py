"""Same input, same result: whatever the order, the worker, the start of the sandbox and the hour of the day."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from scorewright.domain.result import Outcome
from scorewright.runners.jail.supervisor import JailRunner
from workbench import CLOCK_S, explanation, run

#: Expressions that must give the same everywhere.
SAME = {
    "time": "time.time()",
    "time in nanoseconds": "time.time_ns()",
    "local time": "time.localtime()",
    "world time": "time.gmtime()",
    "time as text": "time.ctime(), time.asctime(), time.strftime('%c')",
    "time zone": "time.tzname, time.timezone",
    "now": "datetime.datetime.now(), datetime.datetime.utcnow()",
    "now somewhere": "datetime.datetime.now(datetime.timezone.utc)",
    "today": "datetime.date.today()",
    "steady clocks": "time.monotonic(), time.perf_counter(), time.process_time(), time.thread_time()",
    "steady clocks in nanoseconds": "time.monotonic_ns(), time.perf_counter_ns()",
    "clocks by number": "[time.clock_gettime(n) for n in (0, 1, 2, 3, 4, 7)]",
    "clocks by number in nanoseconds": "[time.clock_gettime_ns(n) for n in (0, 1, 2)]",
    "processor times": "os.times()",
    "duration of sleep": "(time.monotonic(), time.sleep(3), time.monotonic())",
    "date of a message": "email.utils.formatdate()",
    "date of an archive": "gzip.compress(b'x')",
    "time of a log record": "logging.LogRecord('a', 1, 'p', 1, 'm', (), None).created",
    "random": "random.random(), random.gauss(0, 1), random.sample(range(100), 5)",
    "generators of their own": "random.Random().random(), random.SystemRandom().random()",
    "bytes of the system": "os.urandom(4), os.getrandom(4)",
    "secrets": "secrets.token_hex(4), secrets.token_urlsafe(4), secrets.randbelow(10**9)",
    "identifiers": "uuid.uuid1(), uuid.uuid4(), uuid.uuid5(uuid.NAMESPACE_DNS, 'a')",
    "network card": "uuid.getnode()",
    "id of a message": "email.utils.make_msgid(domain='x')",
    "hash of a text": "hash('abc'), hash(b'abc'), hash(1.5), hash((1, 'a'))",
    "order of a set": "list({'a', 'b', 'cc', 'dd', 'eee'})",
    "process": "os.getpid()",
    "processors": "os.cpu_count()",
    "environment": "sorted(os.environ.items())",
    "command line": "sys.argv, sys.orig_argv",
    "chance of SQLite": "sqlite3.connect(':memory:').execute('select random(), randomblob(4)').fetchall()",
    "event loop": "asyncio.new_event_loop().time()",
    "default encoding": "sys.getdefaultencoding(), locale.getlocale()",
}
SOURCE = """
import asyncio, datetime, email.utils, gc, gzip, json, locale, logging, os, random, resource, secrets, sqlite3
import ssl
import sys, threading, time, uuid

EXPRESSIONS = {expressions!r}

def evaluate(x):
    values = {{name: repr(eval(each)) for name, each in EXPRESSIONS.items()}}
    return {{"score": x, "explanation": json.dumps(values)}}
"""
NUMBERS = [1, 2, 3, 4]


def outcomes(source: str, numbers: Sequence[int], seed: str = "seed") -> list[Outcome]:
    """Run in a sandbox of its own, started for this."""
    runner = JailRunner()
    try:
        return run(runner, source, numbers, timeout_s=5.0, seed=seed)
    finally:
        runner.close()


@pytest.fixture(scope="module")
def forwards() -> list[Outcome]:
    return outcomes(SOURCE.format(expressions=SAME), NUMBERS)


def values(outcome: Outcome) -> dict[str, Any]:
    return json.loads(explanation(outcome))


def test_two_sandboxes_and_two_orders_agree_to_the_byte(forwards: list[Outcome]):
    backwards = outcomes(SOURCE.format(expressions=SAME), NUMBERS[::-1])

    assert backwards[::-1] == forwards


def test_the_number_of_items_before_it_changes_nothing_for_an_item(forwards: list[Outcome]):
    alone = outcomes(SOURCE.format(expressions=SAME), [4])

    assert alone == forwards[3:]


def test_the_clock_stands_at_the_runs_own_time(forwards: list[Outcome]):
    value = values(forwards[0])

    assert value["time"] == repr(CLOCK_S)
    assert value["today"] == "datetime.date(2026, 1, 1)"
    assert value["time zone"] == "(('UTC', 'UTC'), 0)"
    assert value["clocks by number"] == repr([CLOCK_S, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert value["duration of sleep"] == "(0.0, None, 0.0)"


def test_chance_depends_on_the_item(forwards: list[Outcome]):
    drawn = {values(outcome)["random"] for outcome in forwards}

    assert len(drawn) == len(NUMBERS)


def test_chance_depends_on_the_seed(forwards: list[Outcome]):
    (other,) = outcomes(SOURCE.format(expressions=SAME), [1], seed="another seed")
    here, there = values(forwards[0]), values(other)

    differing = {name for name in SAME if here[name] != there[name]}

    assert differing >= {"random", "generators of their own", "bytes of the system", "secrets"}
    assert differing.isdisjoint(
        {"time", "hash of a text", "order of a set", "processors", "network card"}
    )


def test_the_chance_of_openssl_is_known_to_differ():
    """Should it become the same, the list in docs/explanation/sandbox.md has to become shorter.

    The others on that list (addresses, processor time, counts of the collector) may be equal by accident.
    """
    source = SOURCE.format(expressions={"drawn": "ssl.RAND_bytes(8)"})

    first, second = outcomes(source, [1]), outcomes(source, [1])

    assert values(first[0]) != values(second[0])


def test_an_item_finds_nothing_that_another_left_in_the_authors_module(jail: JailRunner):
    source = """
seen = []

class Counter:
    count = 0

def evaluate(x, kept={}):
    seen.append(x)
    Counter.count += 1
    kept[x] = 1
    return {"score": len(seen) + Counter.count + len(kept), "explanation": str(seen)}
"""

    results = run(jail, source, NUMBERS)

    assert [explanation(each) for each in results] == ["[1]", "[2]", "[3]", "[4]"]


def test_a_worker_is_replaced_without_changing_any_result(jail: JailRunner):
    """The second item ends the worker; the ones after it draw the same numbers as without it."""
    source = """
import os, random

def evaluate(x):
    if x == {ending}:
        os._exit(1)
    return {{"score": random.random(), "explanation": ""}}
"""

    undisturbed = run(jail, source.format(ending=0), NUMBERS)
    disturbed = run(jail, source.format(ending=2), NUMBERS)

    assert disturbed[0] == undisturbed[0]
    assert disturbed[2:] == undisturbed[2:]
