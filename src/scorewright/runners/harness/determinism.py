"""Same input, same result: the clock stands still and every source of chance is seeded.

Source: agentloop seed, "Determinism". What stays different from run to run (address space layout stays random)
and from machine to machine is listed in docs/explanation/sandbox.md, and `tests/contract/test_determinism.py` keeps the list.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import secrets
import sys
import time
import types
import uuid
from collections.abc import Callable, Generator
from typing import Any


@contextlib.contextmanager
def _placeholders() -> Generator[None]:
    """Stand in for what time-machine imports only to decorate test classes: it triples its start."""
    names = [name for name in ("pytest", "dateutil", "unittest") if name not in sys.modules]
    for name in names:
        sys.modules[name] = None  # type: ignore[assignment]
    if "unittest" in names:
        sys.modules["unittest"] = types.ModuleType("unittest")
        sys.modules["unittest"].TestCase = object  # type: ignore[attr-defined]
    yield
    for name in names:
        del sys.modules[name]


with _placeholders():
    import time_machine

#: The address of a network card that nobody has: with the bit that says so.
_NODE = 0x0100_0000_0001
_RATES = ("monotonic", "perf_counter", "process_time", "thread_time")


def _return_zero() -> float:
    return 0.0


def _return_zero_ns() -> int:
    return 0


def freeze_clock(clock_s: float) -> None:
    """Stop the wall clock at `clock_s` (seconds since 1970, UTC) and the others at zero.

    time-machine patches the C functions, so `datetime.now` and friends agree whatever name they go by. What it
    leaves out is put in its place here.
    """
    time_machine.travel(clock_s, tick=False).start()
    for name in _RATES:
        setattr(time, name, _return_zero)
        setattr(time, f"{name}_ns", _return_zero_ns)
    time.sleep = _skip_sleep
    _freeze_clocks_by_number()
    _freeze_texts(clock_s)


def _freeze_clocks_by_number() -> None:
    read, read_ns = time.clock_gettime, time.clock_gettime_ns
    real = (time.CLOCK_REALTIME,)

    def clock_gettime(clk_id: int, /) -> float:
        return read(clk_id) if clk_id in real else 0.0

    def clock_gettime_ns(clk_id: int, /) -> int:
        return read_ns(clk_id) if clk_id in real else 0

    time.clock_gettime = clock_gettime
    time.clock_gettime_ns = clock_gettime_ns
    os.times = lambda: os.times_result((0.0,) * 5)


def _freeze_texts(clock_s: float) -> None:
    show_seconds, show_fields = time.ctime, time.asctime

    def ctime(seconds: float | None = None, /) -> str:
        return show_seconds(clock_s if seconds is None else seconds)

    def asctime(fields: Any = None, /) -> str:
        return show_fields(time.localtime() if fields is None else fields)

    time.ctime = ctime
    time.asctime = asctime


def forget_machine() -> None:
    """Give the same answer everywhere to who asks about the machine and the process."""
    os.cpu_count = lambda: 1
    os.getpid = lambda: 1


def _skip_sleep(seconds: float) -> None:
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")


def seed_entropy() -> Callable[[str], None]:
    """Feed every source of randomness from one seeded stream.

    Returns:
        A function that starts the stream anew; called with the seed and the item's id before each item.
    """
    stream = random.Random(0)  # noqa: S311 - reproducible is the point
    original_seed = random.Random.seed

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        original_seed(self, stream.getrandbits(64) if a is None else a, version)

    os.urandom = stream.randbytes
    os.getrandom = lambda size, flags=0: stream.randbytes(size)  # noqa: ARG005 - as in os
    random._urandom = stream.randbytes  # type: ignore[attr-defined]  # noqa: SLF001
    random.Random.seed = seed  # type: ignore[method-assign]
    random.SystemRandom.random = lambda _self: stream.random()  # type: ignore[method-assign]
    random.SystemRandom.getrandbits = lambda _self, k: stream.getrandbits(k)  # type: ignore[method-assign]
    _seed_uuid(stream)
    _seed_secrets(stream)

    def restart(text: str) -> None:
        number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        original_seed(stream, number)
        random.seed(number)

    return restart


def _seed_uuid(stream: random.Random) -> None:
    def from_stream(*_: Any) -> uuid.UUID:
        return uuid.UUID(int=stream.getrandbits(128), version=4)

    uuid.uuid4 = from_stream  # type: ignore[assignment]
    uuid.uuid1 = from_stream  # type: ignore[assignment]
    uuid.getnode = lambda: _NODE


def _seed_secrets(stream: random.Random) -> None:
    def token_bytes(nbytes: int | None = None) -> bytes:
        return stream.randbytes(32 if nbytes is None else nbytes)

    secrets.token_bytes = token_bytes
