"""A progress bar on a terminal, nothing anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from scorewright.services.report import Report

#: A run shorter than this shows no bar: it would only flicker.
_SHOW_AFTER_S = 0.5
_REDRAW_S = 0.1


class Progress(Protocol):
    """Told after each group of records."""

    def advance(self) -> None:
        """Show how far the run is."""
        ...


class _Silent:
    def advance(self) -> None:
        pass


class _Bar:
    """A bar of Rich, made once the run has lasted long enough to want one."""

    def __init__(self, report: Report) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import (
            Progress as RichProgress,
        )

        self._report = report
        self._bar = RichProgress(
            TextColumn("rows"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[failed]}", style="red"),
            console=Console(stderr=True),
            transient=True,
            auto_refresh=False,
        )
        self._task = self._bar.add_task("rows", total=report.total, failed="")
        self._bar.start()

    def advance(self) -> None:
        failed = sum(summary.failed for summary in self._report.summaries)
        text = f"{failed:,} failed" if failed else ""
        self._bar.update(self._task, completed=self._report.items, failed=text)
        self._bar.refresh()

    def stop(self) -> None:
        self._bar.stop()


class _Delayed:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._next_s = time.monotonic() + _SHOW_AFTER_S
        self.bar: _Bar | None = None

    def advance(self) -> None:
        now_s = time.monotonic()
        if now_s < self._next_s:
            return
        self._next_s = now_s + _REDRAW_S
        if self.bar is None:
            self.bar = _Bar(self._report)
        self.bar.advance()


@contextmanager
def open_progress(report: Report, *, show: bool) -> Generator[Progress]:
    """Offer a bar for the time of a run, on a terminal and where `show` is true."""
    if not (show and sys.stderr.isatty()):
        yield _Silent()
        return
    delayed = _Delayed(report)
    try:
        yield delayed
    finally:
        if delayed.bar is not None:
            delayed.bar.stop()
