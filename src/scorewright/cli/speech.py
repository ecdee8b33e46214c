"""Lines for people: on stderr, so that stdout holds results alone."""

from __future__ import annotations

import sys

#: What a terminal would obey instead of showing it; authors' texts must not steer their reader's terminal.
_CONTROLS = dict.fromkeys(
    [code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"],
    "\N{REPLACEMENT CHARACTER}",
)


def say(text: str) -> None:
    """Print one line on stderr."""
    sys.stderr.write(f"{visible(text)}\n")
    sys.stderr.flush()


def visible(text: str) -> str:
    """Return `text` without control characters other than line breaks and tabs."""
    return text.translate(_CONTROLS)
