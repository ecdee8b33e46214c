"""Code that speaks the harness's own protocol, to make the host believe, wait, crash or fill up."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from scorewright.domain.result import FailureCode
from scorewright.runners.harness import protocol
from scorewright.runners.probes.probe import Expect, Probe
from scorewright.runners.probes.python.source import RESULT, evaluating, forging, frame

_FAMILY: Final = "protocol"
_EMPTY_MAP: Final = b"\x80"


def _results(*outcomes: Any) -> bytes:
    return frame(protocol.RESULTS, msgspec.msgpack.encode(outcomes))


def _scored(metrics: Any, duration_us: int = 0) -> Any:
    """Return a result's wire form with any metrics at all."""
    return [["scored", 0.0, None, metrics, "forged", False], "", duration_us]


def _raw_metric(value: bytes) -> bytes:
    """Return a frame whose one metric is these bytes."""
    whole = msgspec.msgpack.encode([_scored({"m": None})])
    name = b"\x81\xa1m"
    return frame(protocol.RESULTS, whole.replace(name + b"\xc0", name + value))


def _failed(code: FailureCode) -> Any:
    return [["failed", code, "forged", None, None, None], "", 0]


def _tampered(name: str, *frames: bytes, then: str = "") -> Probe:
    return Probe(name, _FAMILY, forging(*frames, then=then), Expect.TAMPERED)


def _loading(name: str, *frames: bytes) -> Probe:
    """Forge while the source is loaded."""
    writes = "\n".join(f"os.write({protocol.SOCKET_FD}, {each!r})" for each in frames)
    source = f"import os\n{writes}\n\ndef evaluate(x):\n    return {RESULT}\n"
    return Probe(name, _FAMILY, source, Expect.CONTAINED)


_LOADED_OK: Final = frame(protocol.LOADED, msgspec.msgpack.encode({"failure": None}))
_LOAD_FAILED: Final = frame(
    protocol.LOADED,
    msgspec.msgpack.encode({"failure": ["failed", "author_error", "forged", None, None, None]}),
)
_RETIRE: Final = frame(protocol.RETIRE, b"")
_ONE: Final = _results(_scored({}))
_FLOOD: Final = f"""
import os
while True:
    os.write({protocol.SOCKET_FD}, {{!r}} * 1000)
"""

PROBES: Final = (
    _tampered("forged frame of 4 GB", protocol.RESULTS + b"\xff\xff\xff\xff"),
    _tampered("forged junk", bytes(range(256)) * 16),
    _tampered("forged hello", frame(protocol.HELLO, b"{}")),
    _tampered("forged second answer to loading", _LOADED_OK),
    _tampered("forged frame of no known kind", frame(b"?", b"")),
    _tampered("forged retirement", _RETIRE),
    _tampered("forged results, too many", _results(*[_scored({})] * 5)),
    _tampered("forged results, none", _results()),
    _tampered("forged results, no array", frame(protocol.RESULTS, _EMPTY_MAP)),
    _tampered("forged results, cut short", frame(protocol.RESULTS, b"\xdd\xff\xff\xff\xff")),
    _tampered("forged metric, not a number", _results(_scored({"m": float("nan")}))),
    _tampered("forged metric, infinite and deep", _results(_scored({"m": [{"n": float("inf")}]}))),
    _tampered("forged metric, bytes", _results(_scored({"m": b"x"}))),
    _tampered("forged metric, a time stamp", _raw_metric(b"\xd6\xff\x00\x00\x00\x00")),
    _tampered("forged metric, an extension", _raw_metric(b"\xd4\x01\x00")),
    _tampered("forged metric, broken text", _raw_metric(b"\xa2\xff\xff")),
    _tampered("forged metric, keys that are no text", _raw_metric(b"\x81\x91\x01\x02")),
    _tampered("forged metric, nested without end", _raw_metric(b"\x91" * 200_000)),
    _tampered(
        "forged metric, a million lists", _raw_metric(b"\xdd\x00\x0f\x42\x40" + b"\x90" * 10**6)
    ),
    _tampered("forged metric, a whole number of 64 bits", _results(_scored({"m": 2**64 - 1}))),
    _tampered("forged score, not a number", _results([["scored", float("nan")], "", 0])),
    _tampered("forged duration, less than nothing", _results(_scored({}, duration_us=-1))),
    _tampered("forged duration, for ever", _results(_scored({}, duration_us=2**63))),
    _tampered("forged failure of the sandbox", _results(_failed(FailureCode.SANDBOX_UNAVAILABLE))),
    _tampered("forged cancellation", _results(_failed(FailureCode.CANCELLED))),
    _tampered(
        "connection closed, and on it goes",
        then=f"import os\nos.close({protocol.SOCKET_FD})\nwhile True: pass",
    ),
    Probe(
        "connection closed",
        _FAMILY,
        evaluating(f"import os\nos.close({protocol.SOCKET_FD})"),
        Expect.FAILS,
    ),
    Probe(
        "frame that never ends",
        _FAMILY,
        forging(protocol.RESULTS + b"\x00\x00\x10\x00", then="while True: pass"),
        Expect.CONTAINED,
    ),
    Probe(
        "socket read dry",
        _FAMILY,
        evaluating(f"import os\nwhile True: os.read({protocol.SOCKET_FD}, 1 << 16)"),
        Expect.TIMES_OUT,
    ),
    Probe(
        "answer in advance for the next batch",
        _FAMILY,
        forging(_ONE),
        Expect.HARMLESS,
        items=3,
    ),
    Probe("flood of junk", _FAMILY, evaluating(_FLOOD.format(b"junk")), Expect.TAMPERED),
    Probe("flood of results", _FAMILY, evaluating(_FLOOD.format(_ONE)), Expect.HARMLESS),
    Probe(
        "flood of retirements",
        _FAMILY,
        evaluating(_FLOOD.format(_RETIRE)),
        Expect.HARMLESS,
        items=3,
    ),
    Probe(
        "phase and counter scribbled over",
        _FAMILY,
        evaluating(
            """
            import gc, os, sys
            for depth in range(20):
                try:
                    frame = sys._getframe(depth)
                except ValueError:
                    break
                for each in frame.f_locals.values():
                    if type(each) is memoryview and not each.readonly and each.format == "Q":
                        each[0] = each[1] = 2 ** 64 - 1
            os._exit(0)
            """
        ),
        Expect.DIES,
    ),
    _loading("forged answer to loading", _LOADED_OK),
    _loading("forged failure to load, and results", _LOAD_FAILED, _ONE, _RETIRE),
    _loading("forged results before loading", _ONE),
    _loading("forged retirement before loading", _RETIRE),
)
