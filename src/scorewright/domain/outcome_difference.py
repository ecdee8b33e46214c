"""Say in one line how two outcomes of the same item differ."""

from __future__ import annotations

from typing import Any, Final

from scorewright.domain.excerpt import excerpt
from scorewright.domain.result import Failed, Outcome, Scored, Skipped

_ABSENT: Final[Any] = object()
#: Characters that two texts may have in common before what they share is cut.
_MAX_SAME: Final = 40


def difference(first: Outcome, second: Outcome) -> str:
    """Return the first field that differs, with both values, bounded; empty where nothing does."""
    if first == second:
        return ""
    before, after = _fields(first), _fields(second)
    for name in [*before, *after]:
        if before.get(name) != after.get(name):
            shown = _texts(before.get(name, _ABSENT), after.get(name, _ABSENT))
            return f"{name}: {shown[0]} became {shown[1]}"
    return "something that is not shown"


def _fields(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Scored():
            fields: dict[str, Any] = {"status": "scored", "score": outcome.score}
            fields |= {"passed": outcome.passed, "explanation": outcome.explanation}
            return fields | outcome.metrics
        case Skipped():
            return {
                "status": "skipped",
                "reason": outcome.reason,
                "explanation": outcome.explanation,
            }
        case Failed():
            return {"status": "failed", "code": outcome.code.value, "message": outcome.message}


def _texts(first: Any, second: Any) -> list[str]:
    """Show two values; of two long texts the part where they begin to differ."""
    both = [first, second]
    if isinstance(first, str) and isinstance(second, str):
        pairs = enumerate(zip(first, second, strict=False))
        same = next((at for at, (one, other) in pairs if one != other), 0)
        if same > _MAX_SAME:
            both = [f"…{text[same - _MAX_SAME // 2 :]}" for text in both]
    return ["nothing" if value is _ABSENT else excerpt(value) for value in both]
