"""Name what the caller probably meant, and list what there is, within bounds."""

from __future__ import annotations

from collections.abc import Iterable

_MAX_LISTED = 12
_MAX_NAME_CHARS = 60
#: Comparing is quadratic in the names' length and linear in their number.
_MAX_COMPARED = 500


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that looks most like `name`, or None when none is close."""
    import difflib

    candidates = {k.lower(): k for k in list(known)[:_MAX_COMPARED] if len(k) <= _MAX_NAME_CHARS}
    close = difflib.get_close_matches(name[:_MAX_NAME_CHARS].lower(), candidates, n=1)
    return candidates[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean "…"?)`, or an empty text when no known name is close."""
    near = nearest_name(name, known)
    return f" (did you mean {quote(near)}?)" if near is not None else ""


def quote(text: str) -> str:
    """Quote a text for a message, cut at a bound and without control characters."""
    cut = text if len(text) <= _MAX_NAME_CHARS else text[: _MAX_NAME_CHARS - 1] + "…"
    return '"' + "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in cut) + '"'


def name_list(names: Iterable[str]) -> str:
    """Return the names quoted and separated by commas; past a bound only how many more there are."""
    every = list(names)
    if not every:
        return "none"
    shown = ", ".join(map(quote, every[:_MAX_LISTED]))
    rest = len(every) - _MAX_LISTED
    return f"{shown} and {rest} more" if rest > 0 else shown
