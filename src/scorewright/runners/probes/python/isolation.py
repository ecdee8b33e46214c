"""Code that looks for what belongs to somebody else: the host, another evaluator, another item."""

from __future__ import annotations

from typing import Final

from scorewright.runners.harness.protocol import SOCKET_FD
from scorewright.runners.probes.probe import Expect, Probe
from scorewright.runners.probes.python.source import evaluating

_FAMILY: Final = "isolation"

_HUNT: Final = """
import gc, sys
needle = "-".join(("scorewright", "canary", "5f1d"))
todo = [*gc.get_objects(), *sys.modules.values(), sys._getframe()]
seen = set()
while todo:
    each = todo.pop()
    if id(each) in seen:
        continue
    seen.add(id(each))
    if type(each) is str and needle in each and each is not needle:
        {escaped}
    if type(each) in (bytes, bytearray) and needle.encode() in each:
        {escaped}
    if type(each) not in (str, bytes, bytearray, int, float):
        todo += gc.get_referents(each)
"""


def _clean(name: str, body: str, *, items: int = 1, timeout_s: float = 0.3) -> Probe:
    return Probe(name, _FAMILY, evaluating(body), Expect.CLEAN, items=items, timeout_s=timeout_s)


def _escaped(what: str) -> str:
    """Return a statement that reports an escape, with the value of an expression."""
    return f'return {{"score": 1, "explanation": f"escaped: {{{what}!r}}"[:200]}}'


PROBES: Final = (
    _clean(
        "environment",
        f"""
        import os
        names = set(os.environ) - {{"LC_ALL", "LC_CTYPE", "TZ", "PYTHONHASHSEED"}}
        if names:
            {_escaped("names")}
        """,
    ),
    _clean(
        "environment, as the C library has it",
        f"""
        import ctypes
        at = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
        n = 0
        while at[n]:
            if at[n].split(b"=")[0] not in (b"LC_ALL", b"LC_CTYPE", b"TZ", b"PYTHONHASHSEED"):
                {_escaped("at[n]")}
            n += 1
        """,
    ),
    _clean(
        "command line",
        f"""
        import sys
        told = [each for each in (*sys.argv, *sys.orig_argv) if each]
        if told:
            {_escaped("told")}
        """,
    ),
    _clean(
        "descriptors",
        f"""
        import errno, os
        found = {{}}
        for number in range(4096):
            try:
                found[number] = os.lseek(number, 0, os.SEEK_CUR)
            except OSError as error:
                if error.errno != errno.EBADF:
                    found[number] = errno.errorcode[error.errno]
        if found != {{0: 0, 1: 0, 2: 0, {SOCKET_FD}: "ESPIPE"}}:
            {_escaped("found")}
        """,
    ),
    _clean(
        "standard streams lead nowhere",
        f"""
        import os
        if os.read(0, 1):
            {_escaped("'there is input'")}
        os.write(1, b"x" * 100_000)
        os.write(2, b"x" * 100_000)
        """,
    ),
    _clean("secrets among all objects", _HUNT.format(escaped=_escaped("each")), timeout_s=5.0),
    _clean(
        "frames of the harness",
        f"""
        import sys
        frame = sys._getframe()
        while frame:
            for name, value in frame.f_locals.items():
                if type(value).__name__ in ("socket", "Connection", "Popen"):
                    {_escaped("name")}
            frame = frame.f_back
        """,
    ),
    _clean(
        "other processes by number",
        f"""
        import os
        if os.getppid() > 0:
            {_escaped("os.getppid()")}
        """,
    ),
    Probe(
        "state kept in the module",
        _FAMILY,
        """\
seen = []

def evaluate(x, memo={}):
    seen.append(x)
    memo[x] = evaluate.count = getattr(evaluate, "count", 0) + 1
    carried = len(seen) > 1 or len(memo) > 1 or evaluate.count > 1
    return {"score": int(carried), "explanation": f"escaped: {seen}" if carried else "fresh"}
""",
        Expect.CLEAN,
        items=3,
    ),
    Probe(
        "state kept under the module's name",
        _FAMILY,
        """\
import sys
found = getattr(sys.modules.get(__name__), "mark", 0)

def evaluate(x):
    sys.modules[__name__].mark = 1
    return {"score": found, "explanation": f"escaped: {found}" if found else "fresh"}
""",
        Expect.CLEAN,
        items=3,
    ),
    _clean(
        "arguments of another item",
        f"""
        import gc
        rows = [each for each in gc.get_objects() if type(each) is dict and set(each) == {{"x"}}]
        others = [each for each in rows if each["x"] not in (x, None)]
        if others:
            {_escaped("others")}
        """,
        items=1,
    ),
)
