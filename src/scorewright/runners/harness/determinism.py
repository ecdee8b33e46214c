"""Same input, same result: the clock stands still and every source of chance is seeded.

Source: agentloop seed, "Determinism". What stays different from run to run is `id()` and the default hash of
objects, since address space layout stays random; sets of such objects have no order to rely on anyway.
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
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def _placeholders() -> Iterator[None]:
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

_RATES = ("monotonic", "perf_counter", "process_time", "thread_time")


def _return_zero() -> float:
    return 0.0


def _return_zero_ns() -> int:
    return 0


def freeze_clock(clock_s: float) -> None:
    """Stop the wall clock at `clock_s` (seconds since 1970, UTC) and the others at zero.

    time-machine patches the C functions, so `datetime.now` and friends agree whatever name they go by.
    """
    time_machine.travel(clock_s, tick=False).start()
    for name in _RATES:
        setattr(time, name, _return_zero)
        setattr(time, f"{name}_ns", _return_zero_ns)
    time.sleep = _skip_sleep


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


def _seed_secrets(stream: random.Random) -> None:
    def token_bytes(nbytes: int | None = None) -> bytes:
        return stream.randbytes(32 if nbytes is None else nbytes)

    secrets.token_bytes = token_bytes
