"""Where tables are printed: as wide as the terminal, or of one width into files and pipes."""

from __future__ import annotations

import sys

from rich.console import Console

_FILE_WIDTH = 120


class _Output(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `main`: Rich would exit with 1, which here means a missed threshold."""
        raise BrokenPipeError


def open_console() -> Console:
    """Return a console on standard output."""
    return _Output(highlight=False, width=None if sys.stdout.isatty() else _FILE_WIDTH)
