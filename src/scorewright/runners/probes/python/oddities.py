"""Code that is strange rather than strong: what it does to itself must stay with it."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import Expect, Probe
from scorewright.runners.probes.python.source import RESULT, evaluating

_FAMILY: Final = "oddities"


def _fails(name: str, body: str) -> Probe:
    return Probe(name, _FAMILY, evaluating(body), Expect.FAILS)


def _contained(name: str, body: str) -> Probe:
    return Probe(name, _FAMILY, evaluating(body), Expect.CONTAINED)


def _harmless(name: str, body: str) -> Probe:
    return Probe(name, _FAMILY, evaluating(body), Expect.HARMLESS, items=2)


def _returning(name: str, expression: str, setup: str = "") -> Probe:
    """Return a value that is no result."""
    result = f'return {{"score": 0, "explanation": "", "more": {expression}}}'
    return Probe(name, _FAMILY, evaluating(f"{setup}\n{result}"), Expect.FAILS)


_EVIL_CLASS: Final = """
class Evil(dict):
    def items(self): raise SystemExit
    def keys(self): raise KeyboardInterrupt
    def __iter__(self): raise GeneratorExit
    def __len__(self): return -1
    def __getitem__(self, key): raise MemoryError
    def get(self, *args): raise RecursionError
    __class__ = property(lambda self: list)
    def __eq__(self, other): raise ZeroDivisionError
    def __hash__(self): raise ZeroDivisionError
    def __repr__(self): raise ZeroDivisionError
"""

_RESULTS: Final = (
    _returning("result: not a number", 'float("nan")'),
    _returning("result: infinite", "-1e999"),
    _returning("result: whole number of 200 bits", "1 << 200"),
    _returning("result: inside itself", "a", "a = []\na.append(a)"),
    _returning("result: nested 100,000 deep", "a", "a = []\nfor _ in range(100_000): a = [a]"),
    _returning("result: set", "{1}"),
    _returning("result: bytes", 'b"x"'),
    _returning("result: class", "int"),
    _returning("result: generator", "(n for n in iter(int, 1))"),
    _returning("result: keys that are alike as text", '{1: 0, "1": 0}'),
    _returning("result: keys that are no text", "{(1, 2): 0}"),
    _harmless("result: half a surrogate pair", 'return {"score": 0, "explanation": "\\ud800"}'),
    _harmless("result: text with zero bytes", 'return {"score": 0, "explanation": "a\\0b"}'),
    _harmless("result: dict with methods of its own", f"{_EVIL_CLASS}\nreturn Evil(score=0)"),
    _harmless(
        "result: key with an equality of its own",
        """
        class Key(str):
            def __eq__(self, other): raise SystemExit
            def __hash__(self): return hash("score")
        return {Key("score"): 0, "explanation": ""}
        """,
    ),
    _contained(
        "result: number with a conversion of its own",
        """
        class Number(float):
            def __float__(self):
                while True: pass
        return {"score": Number("nan"), "explanation": ""}
        """,
    ),
    _contained(
        "result: class whose class never answers",
        """
        class Meta(type):
            def __getattribute__(cls, name):
                while True: pass
        class Odd(metaclass=Meta): pass
        return Odd()
        """,
    ),
)

_DEPTHS: Final = (
    _fails("recursion", "def down(): return down()\nreturn down()"),
    _contained(
        "recursion with its limit raised",
        """
        import sys
        sys.setrecursionlimit(10 ** 9)
        def down(n): return [down(n + 1)]
        return down(0)
        """,
    ),
    _contained(
        "text of a deep list",
        "a = []\nfor _ in range(10 ** 5): a = [a]\nreturn repr(a)[:5]",
    ),
    _harmless("end of a deep tuple", "a = None\nfor _ in range(10 ** 6): a = (a,)\ndel a"),
    _contained("deep JSON", 'import json\nreturn json.loads("[" * 200_000)'),
    _contained("deep expression", 'return eval("-" * 300_000 + "1")'),
    Probe(
        "deep source",
        _FAMILY,
        f"def evaluate(x):\n    {'(' * 3000}1{')' * 3000}\n    return {RESULT}\n",
        Expect.HARMLESS,
    ),
    Probe(
        "zero byte in the source", _FAMILY, 'def evaluate(x):\n    return "a\0b"\n', Expect.FAILS
    ),
    Probe(
        "half a surrogate pair in the source",
        _FAMILY,
        evaluating('half = "\\ud800"'),
        Expect.HARMLESS,
    ),
    Probe("source without evaluate", _FAMILY, "def evaluator(x): pass\n", Expect.FAILS),
)

_BROKEN: Final = (
    _contained(
        "built-in functions wrecked",
        """
        import builtins
        wreck = delattr
        for name in list(vars(builtins)):
            if name != "__import__":
                wreck(builtins, name)
        """,
    ),
    _harmless(
        "built-in functions replaced",
        "import builtins\nbuiltins.len = builtins.zip = builtins.isinstance = lambda *_: 0",
    ),
    _harmless("every module gone", "import sys\nsys.modules.clear()"),
    _harmless("the modules are no dict", "import sys\nsys.modules = None"),
    _harmless(
        "imports by a hook of its own",
        "import sys\nsys.meta_path[:] = [x]\nsys.path_hooks[:] = [x]\nimport this_is_not_there",
    ),
    _harmless(
        "functions of os replaced",
        "import os\nos.write = os.read = os._exit = lambda *_: 0",
    ),
    _harmless(
        "the harness patched",
        """
        import gc
        for each in gc.get_objects():
            if type(each).__name__ in ("Worker", "Watchdog", "Capture", "Wire"):
                for name in list(getattr(each, "__dict__", ())):
                    setattr(each, name, None)
        """,
    ),
    _harmless(
        "the codec patched",
        """
        import gc
        for each in gc.get_objects():
            if type(each) is dict and "msgspec" in str(each.get("__name__")):
                each.clear()
        """,
    ),
    _harmless(
        "streams replaced", "import sys\nsys.stdout = sys.stderr = sys.stdin = None\nprint('x')"
    ),
    _harmless(
        "streams closed", "import sys\nsys.stdout.close()\nsys.__stdout__.close()\nprint('x')"
    ),
    _harmless("trace function left behind", "import sys\nsys.settrace(lambda *_: 1 / 0)"),
    _harmless("profile function left behind", "import sys\nsys.setprofile(lambda *_: 1 / 0)"),
    _harmless(
        "audit hook that refuses all",
        "import sys\ndef no(*_): raise SystemExit\nsys.addaudithook(no)",
    ),
    _harmless("recursion limit lowered", "import sys\nsys.setrecursionlimit(30)"),
    _harmless(
        "garbage collection with a hook",
        "import gc\ndef hook(*_): raise SystemExit\ngc.callbacks.append(hook)\ngc.set_threshold(1)",
    ),
    _harmless(
        "exception that changes its own kind",
        """
        class Odd(Exception):
            __class__ = property(lambda self: 1 / 0)
            __traceback__ = property(lambda self: 1 / 0)
            args = property(lambda self: 1 / 0)
            def __str__(self): raise SystemExit
            def __repr__(self): raise SystemExit
        raise Odd
        """,
    ),
    _harmless(
        "syntax error of its own making",
        'raise SyntaxError("x", (__file__, "no line", [], object()))',
    ),
    _harmless(
        "group of exceptions",
        'raise BaseExceptionGroup("many", [SystemExit(), KeyboardInterrupt()])',
    ),
    _harmless(
        "finalizers and exit functions",
        """
        import atexit, weakref
        class Left: pass
        left = Left()
        weakref.finalize(left, __import__("os")._exit, 3)
        atexit.register(print, "late")
        """,
    ),
    _contained(
        "byte code of its own making",
        """
        def evaluate(): pass
        code = evaluate.__code__.replace(co_code=bytes([100, 255] * 8), co_consts=())
        return type(evaluate)(code, {})()
        """,
    ),
)

PROBES: Final = (*_RESULTS, *_DEPTHS, *_BROKEN)
