"""Code that takes more memory than it may have, or answers with more than anybody wants."""

from __future__ import annotations

import textwrap
from typing import Final

from scorewright.runners.probes.probe import Expect, Probe
from scorewright.runners.probes.python.source import evaluating

_FAMILY: Final = "memory"


def _contained(name: str, body: str) -> Probe:
    return Probe(name, _FAMILY, evaluating(body), Expect.CONTAINED)


def _harmless(name: str, body: str) -> Probe:
    return Probe(name, _FAMILY, evaluating(body), Expect.HARMLESS)


def _fails(name: str, body: str) -> Probe:
    """Nothing but a failure will do: the code comes to its end only when it was not stopped."""
    done = 'return {"score": 1, "explanation": "escaped: it was all had"}'
    steps = textwrap.dedent(body).strip("\n")
    return Probe(name, _FAMILY, evaluating(f"{steps}\n{done}"), Expect.CONTAINED)


PROBES: Final = (
    _fails("list that grows", "taken = []\nwhile True: taken.append(bytearray(1 << 20))"),
    _fails("text of 100 GB", "taken = 'a' * (10 ** 11)"),
    _fails("many small objects", "taken = {}\nfor n in range(10 ** 9): taken[n] = [n]"),
    _fails("list that doubles", "taken = ['x']\nfor _ in range(60): taken = taken + taken"),
    _fails(
        "set that doubles", "taken = {0}\nfor n in range(60): taken |= {v + 2 ** n for v in taken}"
    ),
    _fails("text that doubles", "taken = 'ab'\nfor _ in range(60): taken += taken"),
    _fails(
        "anonymous mapping", "import mmap\ntaken = [mmap.mmap(-1, 1 << 30) for _ in range(100)]"
    ),
    _fails(
        "array of machine words", "import array\ntaken = array.array('q', bytes(8)) * (1 << 33)"
    ),
    _fails(
        "packed data that unpack to gigabytes",
        """
        import zlib
        packed = zlib.compress(bytes(1 << 22), 9)
        taken = []
        while True: taken.append(zlib.decompress(packed))
        """,
    ),
    _fails(
        "memory error caught again and again",
        """
        taken = []
        while True:
            try:
                while True: taken.append(bytearray(1 << 20))
            except MemoryError:
                pass
        """,
    ),
    _fails(
        "allocation by the C library",
        """
        import ctypes
        malloc = ctypes.CDLL(None).malloc
        malloc.restype = ctypes.c_void_p
        if not malloc(ctypes.c_size_t(1 << 36)):
            raise MemoryError
        """,
    ),
    _contained(
        "result of 200 MB", 'return {"score": 0, "explanation": "", "more": "a" * (200 << 20)}'
    ),
    _contained(
        "result of many values",
        'return {"score": 0, "explanation": "", "more": list(range(10 ** 6))}',
    ),
    _contained(
        "result of many names",
        'return {"score": 0, "explanation": "", **{str(n): n for n in range(10 ** 5)}}',
    ),
    _harmless("explanation of 50 MB", 'return {"score": 0, "explanation": "a" * (50 << 20)}'),
    _harmless("print of 150 MB", 'for _ in range(3): print("a" * (50 << 20))'),
    _harmless("print a million times", 'for _ in range(10 ** 6): print("a" * 1000)'),
    Probe(
        "exception text of 100 MB",
        _FAMILY,
        evaluating('raise ValueError("a" * (100 << 20))'),
        Expect.CONTAINED,
    ),
    Probe(
        "exception name of 20 MB",
        _FAMILY,
        evaluating('raise type("E" * (20 << 20), (Exception,), {})'),
        Expect.FAILS,
    ),
    Probe(
        "traceback of many frames",
        _FAMILY,
        evaluating("def down(n): down(n + 1)\ndown(0)"),
        Expect.FAILS,
    ),
)
