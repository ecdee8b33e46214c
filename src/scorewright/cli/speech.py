"""Lines for people: on stderr, so that stdout holds results alone."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """Print one line on stderr."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
