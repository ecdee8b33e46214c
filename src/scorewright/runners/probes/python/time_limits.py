"""Code that does not come to an end: the inner timer, or else the host, has to end it."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import Expect, Probe
from scorewright.runners.probes.python.source import evaluating

_FAMILY: Final = "time"

#: Moves the progress counter as far as the host could believe, for ever: it must not buy time.
_MOVING_COUNTER = """
import gc, signal
signal.setitimer(signal.ITIMER_REAL, 0)
pages = [each for each in gc.get_objects() if type(each) is memoryview]
for frame_depth in range(20):
    try:
        frame = __import__("sys")._getframe(frame_depth)
    except ValueError:
        break
    pages += [each for each in frame.f_locals.values() if type(each) is memoryview]
step = 0
while True:
    step += 1
    for page in pages:
        if not page.readonly and page.format == "Q":
            page[0] = step
"""


def _endless(name: str, body: str) -> Probe:
    return Probe(name, _FAMILY, evaluating(body), Expect.TIMES_OUT)


PROBES: Final = (
    _endless("endless loop", "while True: pass"),
    _endless(
        "loop that swallows everything",
        """
        while True:
            try:
                while True: pass
            except BaseException: pass
        """,
    ),
    _endless(
        "loop in finally",
        """
        try:
            while True: pass
        finally:
            while True: pass
        """,
    ),
    _endless(
        "timer disarmed, then a loop",
        """
        import signal
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        while True: pass
        """,
    ),
    _endless(
        "timer's handler replaced", "import signal\nsignal.signal(14, print)\nwhile True: pass"
    ),
    _endless(
        "timer's signal blocked",
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
    ),
    _endless("backtracking pattern", 'import re\nre.match(r"(a+)+$", "a" * 45 + "b")'),
    _endless("power of ten million digits", "7 ** (10 ** 8) % 3"),
    _endless("sum of a long range", "sum(range(10 ** 13))"),
    _endless(
        "iterator that never ends",
        "import collections, itertools\ncollections.deque(itertools.count(), maxlen=0)",
    ),
    Probe(
        "loop while loading",
        _FAMILY,
        "while True: pass\n\ndef evaluate(x): pass\n",
        Expect.TIMES_OUT,
    ),
    _endless(
        "lock taken twice",
        "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    ),
    _endless("event nobody sets", "import threading\nthreading.Event().wait()"),
    Probe(
        "sleep by the C library",
        _FAMILY,
        evaluating("import ctypes\nctypes.CDLL(None).sleep(100)"),
        Expect.CONTAINED,
    ),
    Probe(
        "coroutine that is never finished",
        _FAMILY,
        "import asyncio\n\nasync def evaluate(x):\n    await asyncio.Event().wait()\n",
        Expect.CONTAINED,
    ),
    Probe(
        "coroutine that never waits",
        _FAMILY,
        "async def evaluate(x):\n    while True: pass\n",
        Expect.TIMES_OUT,
    ),
    _endless("counter kept moving", _MOVING_COUNTER),
    _endless(
        "exception whose text never comes",
        """
        class Slow(Exception):
            def __str__(self):
                while True: pass
        raise Slow
        """,
    ),
    _endless(
        "object that is never deleted",
        """
        class Slow:
            def __del__(self):
                while True: pass
        kept = [Slow()]
        del kept
        """,
    ),
    _endless(
        "object deleted after the failure",
        """
        class Slow:
            def __del__(self):
                while True: pass
        held_by_the_traceback = Slow()
        raise ValueError
        """,
    ),
)
