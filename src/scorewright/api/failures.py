"""How often an address has failed to say who it is lately; in bounded memory."""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

MAX_FAILURES: Final = 10
#: In which a failure is forgotten.
FORGOTTEN_S: Final = 6.0
MAX_ADDRESSES: Final = 10_000
#: What one customer of a provider is given of version 6.
_NETWORK_BITS: Final = 64


class Failures:
    """Counts failures by address; each is forgotten after a while. Safe to share between threads.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        #: By address how many failures there were at a moment; the one that failed last comes last.
        self._by_address: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def add(self, address: str) -> None:
        """Count a failure."""
        with self._lock:
            key = _key(address)
            self._by_address[key] = (self._count(key) + 1, self._clock())
            self._by_address.move_to_end(key)
            if len(self._by_address) > MAX_ADDRESSES:
                self._by_address.popitem(last=False)

    def wait_s(self, address: str) -> int:
        """Return after how many seconds an address may try again; 0 for at once."""
        with self._lock:
            excess = self._count(_key(address)) - (MAX_FAILURES - 1)
        return math.ceil(excess * FORGOTTEN_S) if excess > 0 else 0

    def __len__(self) -> int:
        """Count the addresses that are remembered."""
        return len(self._by_address)

    def _count(self, key: str) -> float:
        count, at_s = self._by_address.get(key, (0.0, 0.0))
        return max(0.0, count - (self._clock() - at_s) / FORGOTTEN_S)


def _key(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((int(parsed), _NETWORK_BITS), strict=False))
