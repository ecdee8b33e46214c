"""The sandboxes of a server: sets of runners that stay warm, each used by one thread at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from scorewright.domain.errors import OurError
from scorewright.services.runner_choice import Runners

_WAIT_S: Final = 10.0


class RunnerPool:
    """Lends out sets of runners; a set that has come back serves the next one, its fork servers still running.

    Args:
        make: Makes a set.
        size: Sets that are lent out at a time.
        warm: Sets that `start` boots for Python before anybody asks.
    """

    def __init__(
        self,
        make: Callable[[], Runners] = lambda: Runners("auto"),
        *,
        size: int = 4,
        warm: int = 0,
    ) -> None:
        self._make = make
        self._size = size
        self._warm = warm
        self._changed = threading.Condition()
        #: The last one that came back is the next to go.
        self._idle: list[Runners] = []
        self._lent = 0
        self._is_closed = False

    def start(self) -> None:
        """Boot what shall be warm, without waiting for it."""
        for _ in range(self._warm):
            runners = self._make()
            runners.of("python").start()
            with self._changed:
                self._idle.append(runners)

    @contextmanager
    def lend(self, *, wait_s: float = _WAIT_S) -> Generator[Runners]:
        """Lend out a set for the length of the block.

        Raises:
            OurError: All are in use, and none came back in time; or the server is about to end.
        """
        runners = self._take(wait_s)
        try:
            yield runners
        finally:
            self._put_back(runners)

    def close(self) -> None:
        """End every process; sets that are in use end when they come back."""
        with self._changed:
            self._is_closed = True
            idle, self._idle = self._idle, []
            self._changed.notify_all()
        for runners in idle:
            runners.close()

    def _take(self, wait_s: float) -> Runners:
        deadline = time.monotonic() + wait_s
        with self._changed:
            while self._lent >= self._size and not self._is_closed:
                if not self._changed.wait(deadline - time.monotonic()):
                    raise OurError("all sandboxes of this server are in use; try again")
            if self._is_closed:
                raise OurError("this server is about to end; try again")
            self._lent += 1
            if self._idle:
                return self._idle.pop()
        try:
            return self._make()
        except BaseException:
            with self._changed:
                self._lent -= 1
                self._changed.notify()
            raise

    def _put_back(self, runners: Runners) -> None:
        with self._changed:
            self._lent -= 1
            is_closed = self._is_closed
            if not is_closed:
                self._idle.append(runners)
            self._changed.notify()
        if is_closed:
            runners.close()
