"""The sandboxes of a server: sets of runners that stay warm, each used by one thread at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, NamedTuple

from scorewright.domain.errors import CallerError, OurError
from scorewright.services.runner_choice import Runners

#: Enough for several previews beside the runs of a process.
_SIZE: Final = 6
_WAIT_S: Final = 10.0
_IDLE_S: Final = 300.0


class PoolClosedError(OurError):
    """The server is about to end."""


class _Idle(NamedTuple):
    runners: Runners
    since_s: float


class RunnerPool:
    """Lends out sets of runners; a set that has come back serves the next one, its fork servers still running.

    Args:
        make: Makes a set.
        size: Sets that are lent out at a time.
        warm: Sets that `start` boots for Python before anybody asks, and that stay however long nobody does.
        idle_s: A set that nobody has used for so long is ended.
    """

    def __init__(
        self,
        make: Callable[[], Runners] = lambda: Runners("auto"),
        *,
        size: int = _SIZE,
        warm: int = 0,
        idle_s: float = _IDLE_S,
    ) -> None:
        self._make = make
        self._size = size
        self._warm = warm
        self._idle_s = idle_s
        self._changed = threading.Condition()
        #: The last one that came back is the next to go, so that the first ones are the longest idle.
        self._idle: list[_Idle] = []
        self._lent = 0
        self._is_closed = False
        #: Ends what is idle; there is one while there may be something to end.
        self._timer: threading.Timer | None = None

    def start(self) -> None:
        """Boot what shall be warm, without waiting for it."""
        for _ in range(self._warm):
            runners = self._make()
            runners.of("python").start()
            self._keep(runners)

    @contextmanager
    def lend(self, *, wait_s: float = _WAIT_S) -> Generator[Runners]:
        """Lend out a set for the length of the block; one that was in use when something broke is not used again.

        Raises:
            OurError: All are in use, and none came back in time; or the server is about to end.
        """
        runners = self.take(wait_s)
        is_sound = False
        try:
            yield runners
            is_sound = True
        except CallerError:
            is_sound = True
            raise
        finally:
            self.give_back(runners, is_sound=is_sound)

    def take(self, wait_s: float | None = None) -> Runners:
        """Return a set that nobody else uses, until it is given back.

        Args:
            wait_s: How long to wait where all are in use; None for as long as it takes.

        Raises:
            OurError: All are in use, and none came back in time.
            PoolClosedError: The server is about to end.
        """
        with self._changed:
            is_to_be_had = self._changed.wait_for(
                lambda: self._lent < self._size or self._is_closed, wait_s
            )
            if not is_to_be_had:
                raise OurError("all sandboxes of this server are in use; try again")
            if self._is_closed:
                raise PoolClosedError("this server is about to end; try again")
            self._lent += 1
            if self._idle:
                return self._idle.pop().runners
        try:
            return self._make()
        except BaseException:
            self._count_back()
            raise

    def give_back(self, runners: Runners, *, is_sound: bool = True) -> None:
        """Let others have a set.

        Args:
            runners: What was taken.
            is_sound: Whether it works; else it is ended, and another one takes its place when it is needed.
        """
        if is_sound:
            self._keep(runners)
        else:
            runners.close()
        self._count_back()

    def close(self) -> None:
        """End every process; sets that are in use end when they come back."""
        with self._changed:
            self._is_closed = True
            idle, self._idle = self._idle, []
            if self._timer is not None:
                self._timer.cancel()
            self._changed.notify_all()
        for one in idle:
            one.runners.close()

    def _keep(self, runners: Runners) -> None:
        with self._changed:
            is_closed = self._is_closed
            if not is_closed:
                self._idle.append(_Idle(runners, time.monotonic()))
                self._set_timer()
        if is_closed:
            runners.close()

    def _count_back(self) -> None:
        with self._changed:
            self._lent -= 1
            self._changed.notify()

    def _set_timer(self) -> None:
        """See to it that what is idle is ended, under the lock."""
        if self._timer is None and len(self._idle) > self._warm:
            left_s = self._idle[0].since_s + self._idle_s - time.monotonic()
            self._timer = threading.Timer(max(0.0, left_s), self._end_idle)
            self._timer.daemon = True
            self._timer.start()

    def _end_idle(self) -> None:
        with self._changed:
            self._timer = None
            most = max(0, len(self._idle) - self._warm)
            long_ago_s = time.monotonic() - self._idle_s
            ended = [one for one in self._idle[:most] if one.since_s <= long_ago_s]
            del self._idle[: len(ended)]
            self._set_timer()
        for one in ended:
            one.runners.close()
