"""How an author declares a config param with constraints."""

# ruff: noqa: PLR0913 - a constructor takes one keyword a field

from __future__ import annotations

from scorewright.authoring.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Final


class _Unset:
    """The type of `UNSET`: no value was given, where None would be one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = _Unset()


class Param(Value):
    """A config param with constraints, written as a parameter's default.

        def evaluate(trace: Trace, min_words: int = Param(10, description="Fewest words", min=1)): …

    A plain default declares a config param as well; `Param` adds what a default cannot say. Which
    values fit is checked where the param is set, not here.
    """

    __slots__ = ("default", "description", "enum", "max", "min", "required")

    def __init__(
        self,
        default: Any = UNSET,
        description: str | None = None,
        *,
        required: bool | None = None,
        min: float | None = None,  # noqa: A002 - the seed's word
        max: float | None = None,  # noqa: A002 - the seed's word
        enum: Sequence[Any] | None = None,
    ) -> None:
        """Declare the param.

        Args:
            default: Used when nobody sets the param; without one it is required.
            description: What it does, for the person who sets it.
            required: Whether it must be set; by default when it has no default.
            min: Smallest number allowed.
            max: Largest number allowed.
            enum: The values allowed.

        Raises:
            ValueError: The author's fault: no value could ever fit.
        """
        if min is not None and max is not None and min > max:
            raise ValueError(f"Param: min {min} is above max {max}; swap them or drop one")
        if enum is not None and not enum:
            raise ValueError("Param: enum is empty, so no value fits; list the allowed values")
        self.default = default
        self.description = description
        self.required = default is UNSET if required is None else required
        self.min = min
        self.max = max
        self.enum = None if enum is None else list(enum)
