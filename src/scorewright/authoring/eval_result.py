"""What a `trace_object` evaluator returns."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

#: `passed` when the author states no verdict; what counts in a run is the evaluator's own threshold.
DEFAULT_THRESHOLD = 0.5

_NoneType = type(None)


class EvalResult:
    """The outcome an evaluator returns: a score, or a skip.

    The range is not checked here, as this class does not know which one the evaluator declares; the
    platform checks it when the result is returned.

    Source: amp seed, "Code Evaluator".
    """

    __slots__ = ("_passed", "_score", "explanation", "skip_reason")

    #: Why this score, or None.
    explanation: str | None
    #: Why there is no score; None on a scored result.
    skip_reason: str | None

    def __init__(
        self, score: float, explanation: str | None = None, *, passed: bool | None = None
    ) -> None:
        """Make a scored result.

        Args:
            score: A finite number, by default from 0.0 (worst) to 1.0 (best). A bool counts as 1 or 0.
            explanation: Why this score.
            passed: The verdict; without one, the evaluator's threshold decides.

        Raises:
            TypeError: The author's fault: `score` is no number, `explanation` no text or `passed` no bool.
            ValueError: The author's fault: `score` is NaN or infinite.
        """
        _expect("score", score, (int, float), fix="a number; pass a float or an int")
        if score != score or score in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
            raise ValueError(f"EvalResult: score is {score}; pass a finite number")
        _expect("explanation", explanation, (str, _NoneType), fix="text; pass str(…) or nothing")
        _expect("passed", passed, (bool, _NoneType), fix="a bool; pass bool(…) or nothing")
        self._score: float | None = float(score) if isinstance(score, bool) else score
        self._passed = passed
        self.explanation = explanation
        self.skip_reason = None

    @classmethod
    def skip(cls, reason: str, explanation: str | None = None) -> Self:
        """Make a result that says the evaluator does not apply to this item.

        Args:
            reason: Why not; shown with the item, which stays outside every mean.
            explanation: More about it.

        Raises:
            TypeError: The author's fault: `reason` is no text.
            ValueError: The author's fault: `reason` is empty.
        """
        _expect("reason", reason, (str,), fix="text; pass str(…)")
        if not reason:
            raise ValueError("EvalResult: reason is empty; say why the evaluator does not apply")
        result = cls(0, explanation)
        result._score = None
        result.skip_reason = reason
        return result

    @property
    def is_skipped(self) -> bool:
        """Whether this result is a skip."""
        return self.skip_reason is not None

    @property
    def score(self) -> float:
        """The score as it was given; a skipped result has none (AttributeError)."""
        if self._score is None:
            raise AttributeError(self._without("score"))
        return self._score

    @property
    def passed(self) -> bool:
        """The stated verdict, or `score >= 0.5`; a skipped result has none (AttributeError)."""
        if self._score is None:
            raise AttributeError(self._without("verdict"))
        return self._score >= DEFAULT_THRESHOLD if self._passed is None else self._passed

    def _without(self, missing: str) -> str:
        return f"this result was skipped ({self.skip_reason!r:.80}), so it has no {missing}; ask is_skipped first"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EvalResult):
            return NotImplemented
        return read_fields(self) == read_fields(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        if self._score is None:
            return f"EvalResult.skip({self.skip_reason!r})"
        return f"EvalResult(score={self._score!r}, explanation={self.explanation!r}, passed={self.passed!r})"


_FIELDS = ("_score", "_passed", "explanation", "skip_reason")
# Taken once, so that neither a subclass nor a patched class decides what is read.
_SLOTS = tuple(EvalResult.__dict__[name].__get__ for name in _FIELDS)


def read_fields(result: EvalResult) -> tuple[object, object, object, object]:
    """Read a result's fields without running any code of its author.

    Returns:
        Score, stated verdict, explanation and skip reason, each None where it is not set; of any type,
        as an author may have written to them.
    """
    score, passed, explanation, skip_reason = (_read(get, result) for get in _SLOTS)
    return score, passed, explanation, skip_reason


def lay_open(result: EvalResult) -> dict[str, object]:
    """Lay a result open as an object, without what is not set; its fields are as unchecked as `read_fields` says."""
    score, passed, explanation, skip_reason = read_fields(result)
    if skip_reason is not None:
        return {"skip": skip_reason, "explanation": explanation}
    fields = {"score": score, "passed": passed, "explanation": explanation}
    return {key: part for key, part in fields.items() if part is not None}


def put_together(fields: dict[str, Any]) -> EvalResult:
    """Undo `lay_open`: where a result had to travel as an object."""
    result = EvalResult(0)
    for name, key in zip(_FIELDS, ("score", "passed", "explanation", "skip"), strict=True):
        setattr(result, name, fields.get(key))  # unchecked, as it was
    return result


def _read(get: Callable[[EvalResult], object], result: EvalResult) -> object:
    try:
        return get(result)
    except AttributeError:  # never set: made without `__init__`
        return None


def _expect(name: str, value: object, kinds: tuple[type, ...], *, fix: str) -> None:
    if not isinstance(value, kinds):
        raise TypeError(f"EvalResult: {name} is {value!r:.80} ({type(value).__name__}), not {fix}")
