"""The first of three time rings: a timer inside the worker.

It ticks all the while and looks at the number of the item under way. Once that stood still for the whole
limit, it raises in the author's code, and keeps raising, so that a loop which swallows everything ends as well.
Arming a timer per item would cost a microsecond; the look costs nothing. What it cannot end (a C loop, code
that disarms it) the host kills; what the host cannot, the kernel does.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

from scorewright.runners.harness.failure import TimeLimitError
from scorewright.runners.harness.protocol import ITEM_WORD

_TICK_S = 0.05
#: After the first raise, the next follows this many ticks later when nothing moved.
_TICKS_BETWEEN_RAISES = 2


class Watchdog:
    """Raises `TimeLimitError` in code that stays on one item longer than `timeout_s`."""

    def __init__(self, page: memoryview, timeout_s: float, filename: str) -> None:
        self._page = page
        self._filename = filename
        self._ticks_allowed = max(1, round(timeout_s / _TICK_S))
        self._last_item = -1
        self._ticks = 0
        #: Whether the author's code is running: raising anywhere else would hurt the harness.
        self.active = False
        #: Whether the limit was reached, whatever the code made of it.
        self.has_raised = False
        #: Line of the author's file where the last raise hit.
        self.line: int | None = None
        signal.signal(signal.SIGALRM, self._tick)

    def start(self) -> None:
        """Begin to tick."""
        signal.setitimer(signal.ITIMER_REAL, _TICK_S, _TICK_S)

    def stop(self) -> None:
        """Cease to tick: waiting for the host takes as long as it takes."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _tick(self, _number: int, frame: FrameType | None) -> Any:
        if not self.active:
            return
        item = self._page[ITEM_WORD]
        if item != self._last_item:
            self._last_item = item
            self._ticks = 0
            return
        self._ticks += 1
        if self._ticks >= self._ticks_allowed:
            self._ticks = self._ticks_allowed - _TICKS_BETWEEN_RAISES
            self.has_raised = True
            self.line = self._author_line(frame)
            raise TimeLimitError

    def _author_line(self, frame: FrameType | None) -> int | None:
        while frame is not None:
            if frame.f_code.co_filename == self._filename:
                return frame.f_lineno
            frame = frame.f_back
        return None
