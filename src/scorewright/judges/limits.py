"""How many requests one model gets: at a time, in a minute, and after it asked to be left alone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from scorewright.judges.connection import Connection

#: Tries of one request, where each time something failed that may pass.
ATTEMPTS: Final = 6
_FIRST_DELAY_S: Final = 0.5
_MOST_DELAY_S: Final = 60.0
_MINUTE_S: Final = 60.0


class Gate:
    """What every request to one model passes; used by one event loop alone.

    Args:
        connection: Says the bounds.
        clock: Seconds that only grow.
        sleep: Waits.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock or asyncio.get_running_loop().time
        self._sleep = sleep
        self._places = asyncio.Semaphore(connection.concurrency)
        self._requests = _Flow(connection.requests_per_minute)
        self._tokens = _Flow(connection.tokens_per_minute)
        self._quiet_until_s = 0.0

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncGenerator[None]:
        """Wait until a request of so many tokens may be made, and hold a place for as long as it takes."""
        async with self._places:
            now_s = self._clock()
            starts_s = max(
                self._requests.take(1, now_s), self._tokens.take(tokens, now_s), self._quiet_until_s
            )
            while (wait_s := max(starts_s, self._quiet_until_s) - self._clock()) > 0:
                await self._sleep(wait_s)
            yield

    def be_quiet(self, for_s: float) -> None:
        """Let no request begin for a while: the vendor asked for it, and what comes sooner counts against us."""
        self._quiet_until_s = max(self._quiet_until_s, self._clock() + for_s)


class _Flow:
    """Spreads what is allowed in a minute evenly, after a tenth of it at once."""

    def __init__(self, per_minute: int | None) -> None:
        self._per_s = None if per_minute is None else per_minute / _MINUTE_S
        self._burst_s = _MINUTE_S / 10
        #: When all that was taken will have been allowed.
        self._spent_until_s = float("-inf")

    def take(self, amount: int, now_s: float) -> float:
        """Take an amount, and return when it may be used."""
        if self._per_s is None:
            return now_s
        begins_s = max(self._spent_until_s, now_s - self._burst_s)
        self._spent_until_s = begins_s + amount / self._per_s
        return max(now_s, begins_s)


def delay_s(failures: int, retry_after_s: float | None) -> float:
    """Return how long to wait after so many failures: longer each time, and never all at the same moment."""
    if retry_after_s is not None and retry_after_s >= 0:
        return min(retry_after_s, _MOST_DELAY_S) * random.uniform(1.0, 1.1)  # noqa: S311 - to be apart, not to be secret
    most_s = min(_FIRST_DELAY_S * 2 ** (failures - 1), _MOST_DELAY_S)
    return random.uniform(most_s / 2, most_s)  # noqa: S311 - as above
