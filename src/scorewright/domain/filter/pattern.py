r"""Patterns of `matches`: `*` stands for any characters, `?` for one, `\` takes the meaning from either or itself.

No regular expressions: the search runs on the host, where nothing could stop one that backtracks without end, and no
database has the same dialect of them; wildcards every one has. Here the time is bounded by the text's length times the pattern's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

MAX_PATTERN_CHARS: Final = 256
_PART: Final = re.compile(r"\\([*?\\])|(\*+)|(\?)|([\s\S])")


def compile_pattern(pattern: str) -> Callable[[str], Any]:
    """Return a function that tells, by something true, whether a whole text is as the pattern says."""
    runs = [""]
    for escaped, stars, one, plain in _PART.findall(pattern):
        if stars:
            runs.append("")
        else:
            runs[-1] += "." if one else re.escape(escaped or plain)
    first, *rest = runs
    if not rest:
        return re.compile(first, re.DOTALL).fullmatch
    # The leftmost place of each run is as good as any other: an atomic group never looks for a second one.
    middle = "".join(f"(?>.*?{run})" for run in rest[:-1])
    return re.compile(f"{first}{middle}.*{rest[-1]}", re.DOTALL).fullmatch
