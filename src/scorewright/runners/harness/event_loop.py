"""An event loop without sockets, for `async def` evaluators.

The ordinary loops need epoll and a socket pair, which the jail refuses. A pure function only ever waits for
its own tasks and timers, so this loop has nothing to poll: where another would sleep, time moves on at once.
"""

from __future__ import annotations

import asyncio
import asyncio.events
from typing import Any


class _NothingToPoll:
    """Stands for a selector: waiting moves the loop's own clock."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("evaluate awaits something that nothing will ever finish")
        self.now_s += max(timeout, 0.0)
        return []

    def close(self) -> None:
        pass


class VirtualTimeLoop(asyncio.BaseEventLoop):
    """Runs tasks and timers; `sleep` takes no time, sockets do not exist, and no thread runs beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _NothingToPoll()

    def time(self) -> float:  # noqa: D102 - as in asyncio
        return self._selector.now_s

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # noqa: ARG002, D102 - as in asyncio
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it is for who awaits it
            done.set_exception(error)
        return done

    def _process_events(self, event_list: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass


def install() -> None:
    """Make `asyncio.run` and friends use this loop, whichever way they ask for one."""
    asyncio.events.new_event_loop = VirtualTimeLoop  # type: ignore[assignment]
    asyncio.new_event_loop = VirtualTimeLoop  # type: ignore[assignment]
    asyncio.SelectorEventLoop = VirtualTimeLoop  # type: ignore[assignment, misc]
    policy: Any = asyncio.DefaultEventLoopPolicy
    policy._loop_factory = VirtualTimeLoop  # noqa: SLF001 - read by its `new_event_loop`


def finish(awaitable: Any) -> Any:
    """Run one coroutine to its end and return its value."""
    loop = VirtualTimeLoop()
    try:
        return loop.run_until_complete(awaitable)
    finally:
        loop.close()
