"""Numbers as people read them: short, and never rounded into saying more than is known."""

from __future__ import annotations

from typing import Any, Final

#: Decimals of a percentage; a share still nearer to none or all than that is bounded instead.
_MAX_DECIMALS: Final = 3
_DIGITS: Final = 3
#: Enough to tell any two floats apart.
_ALL_DIGITS: Final = 17
#: Below it whole digits are written out; from it on a number gets an exponent.
_WRITTEN_OUT: Final = 1e9
_NOUNS: Final = {
    "number": "number",
    "boolean": "boolean",
    "string": "text",
    "json": "list or object",
}


def percent(share: float) -> str:
    """Write a share as a percentage that is 0% or 100% only where the share is exactly that."""
    for decimals in range(_MAX_DECIMALS + 1):
        text = f"{share:.{decimals}%}"
        if share in (0, 1) or float(text[:-1]) not in (0, 100):
            return text
    crumb = 10**-_MAX_DECIMALS
    return f"<{crumb}%" if share < 0.5 else f">{100 - crumb}%"


def figure(value: float, *bounds: float, digits: int = _DIGITS) -> str:
    """Write a number with few digits, but with as many as keep it off every bound it does not equal."""
    if 1 <= abs(value) < _WRITTEN_OUT:
        digits = max(digits, len(str(round(abs(value)))))
    apart = [bound for bound in bounds if bound != value]
    for count in range(digits, _ALL_DIGITS):
        text = f"{value:.{count}g}"
        shown = float(text)
        if all(shown != bound and (shown < bound) == (value < bound) for bound in apart):
            return text
    return f"{value:.{_ALL_DIGITS}g}"


def span(low: str, high: str) -> str:
    """Write two ends; a dash before or after a minus sign would be hard to read."""
    return f"{low} to {high}" if "-" in low + high else f"{low}–{high}"


def counted(count: int, noun: str) -> str:
    """Write a count with its noun: `1 row`, `2,000 rows`, `0 trajectories`."""
    several = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else several}"


def parts_of_mixed(metric: dict[str, Any]) -> str:
    """Write what a metric of several types is made of: `3 numbers, 1 text`."""
    return ", ".join(
        counted(found["n"], _NOUNS[kind]).replace("list or objects", "lists or objects")
        for kind, found in metric["types"].items()
    )
