"""The one sandbox that an evaluator has at a time: made when it is needed, removed whatever happens."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from threading import Event, Lock
from typing import Final, TypeAlias

from scorewright.runners.remote.provider import Provider, ProviderError, Sandbox

Pause: TypeAlias = Callable[[float, Event], object]
"""Waits for so many seconds, or until the event is set."""

#: Seconds until a sandbox must be ready, and between two looks at it.
_READY_TIMEOUT_S: Final = 180.0
_LOOK_EVERY_S: Final = 0.5
_DESTROY_ATTEMPTS: Final = 4
#: Seconds before the second attempt at anything; twice as long before each further one.
_FIRST_DELAY_S: Final = 0.5
_MAX_DELAY_S: Final = 30.0
#: What a provider may ask us to wait.
_MAX_ASKED_S: Final = 120.0


class ClosedError(Exception):
    """Nobody needs the sandbox any more."""


def pause(seconds: float, until: Event) -> None:
    """Wait by the real clock."""
    until.wait(seconds)


def delay_s(attempt: int, asked_s: float | None) -> float:
    """Return the seconds to wait before the attempt after the given one, counted from 1."""
    delay = min(_FIRST_DELAY_S * 2 ** (attempt - 1), _MAX_DELAY_S)
    jittered = delay * (0.5 + random.random())  # noqa: S311 - so that not all come back at once
    return max(jittered, min(asked_s or 0.0, _MAX_ASKED_S))


def _is_usable(sandbox: Sandbox) -> bool:
    """Tell whether a sandbox is ready.

    Raises:
        ProviderError: It has a flaw.
    """
    if sandbox.flaw:
        text = f"sandbox {sandbox.sandbox_id} cannot be used: {sandbox.flaw}"
        raise ProviderError(text, is_passing=sandbox.flaw_is_passing)
    return sandbox.is_ready


class Lease:
    """At most one sandbox. Two threads use it: one works in the sandbox, the other one may close.

    Args:
        provider: Where sandboxes come from.
        labels: What a person finds them by.
        idle_s: Seconds without a call after which one removes itself.
        notice: Told of a sandbox that could not be removed.
        pause: Waits.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        labels: dict[str, str],
        idle_s: float,
        notice: Callable[[str], None],
        pause: Pause,
    ) -> None:
        self._provider = provider
        #: May be added to before the first `take`.
        self.labels = labels
        self._idle_s = idle_s
        self._notice = notice
        self._pause = pause
        self._lock = Lock()
        self._sandbox: Sandbox | None = None
        #: Set once nobody needs a sandbox any more.
        self.closing = Event()

    @property
    def is_held(self) -> bool:
        """Whether there is a sandbox."""
        return self._sandbox is not None

    def take(self) -> Sandbox:
        """Return the sandbox; a new one where there is none.

        Raises:
            ProviderError: There is none to be had.
            ClosedError: There shall be none.
        """
        with self._lock:
            if self.closing.is_set():
                raise ClosedError
            if self._sandbox is None:
                self._sandbox = self._provider.create(self.labels, idle_s=self._idle_s)
            deadline_s = time.monotonic() + _READY_TIMEOUT_S
            while not _is_usable(self._sandbox):
                if time.monotonic() > deadline_s:
                    raise ProviderError("the sandbox did not get ready in time", is_passing=True)
                self._pause(_LOOK_EVERY_S, self.closing)
                if self.closing.is_set():
                    raise ClosedError
                self._sandbox = self._provider.look(self._sandbox)
            return self._sandbox

    def drop(self) -> None:
        """Remove the sandbox, if there is one: the next `take` makes another one."""
        with self._lock:
            sandbox, self._sandbox = self._sandbox, None
            if sandbox is not None:
                self._destroy(sandbox)

    def close(self) -> None:
        """Remove the sandbox, and make no further one. Waits for one that is just being made."""
        self.closing.set()
        self.drop()

    def _destroy(self, sandbox: Sandbox) -> None:
        never, reason = Event(), ""
        for attempt in range(1, _DESTROY_ATTEMPTS + 1):
            try:
                self._provider.destroy(sandbox)
            except ProviderError as error:
                reason = str(error)
                if not error.is_passing or attempt == _DESTROY_ATTEMPTS:
                    break
                self._pause(delay_s(attempt, error.retry_after_s), never)
            else:
                return
        self._notice(
            f"sandbox {sandbox.sandbox_id} at {self._provider.name} could not be removed ({reason}); it removes "
            f"itself after {self._idle_s / 60:.0f} minutes, or remove it by hand"
        )
