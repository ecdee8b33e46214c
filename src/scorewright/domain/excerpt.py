"""Values of an author's making, shown within bounds and without running any of the author's code.

`repr` and attribute access would both call into a class that may raise, loop or lie; everything here
reads through the built-in types instead.
"""

from __future__ import annotations

from typing import Any, Final

MAX_CHARS: Final = 80

#: A class's own name and module, past any metaclass.
_NAME_OF = type.__dict__["__name__"].__get__
_MODULE_OF = type.__dict__["__module__"].__get__

_CONTAINERS: Final[dict[Any, str]] = {dict: "an object", list: "a list", tuple: "a tuple"}
_BASES: Final = (int, float, str, dict, list, tuple)


def type_name(value: object) -> str:
    """Name a value's class, with its module where that is no built-in one."""
    kind = type(value)
    name: str = _NAME_OF(kind)
    module = _module(kind)
    return (
        name[:MAX_CHARS]
        if module in {"", "builtins", "__main__"}
        else f"{module}.{name}"[:MAX_CHARS]
    )


def is_numpy(value: object) -> bool:
    """Tell whether a value's class belongs to numpy, subclasses of `float` and `str` included."""
    return _module(type(value)).partition(".")[0] == "numpy"


def _module(kind: type) -> str:
    try:
        module = _MODULE_OF(kind)
    except AttributeError:  # deleted from the class
        return ""
    return module if type(module) is str else ""


def base_of(value: object) -> type | None:
    """Find the built-in JSON type a value is an instance of.

    Returns:
        `NoneType`, `bool`, `int`, `float`, `str`, `dict`, `list` or `tuple`, also for an instance of a
        subclass (an `IntEnum` member is a number, a `StrEnum` member a text); None for anything
        else, and for everything of numpy's.
    """
    kind = type(value)
    if kind is str or kind is float or kind is int or kind is dict or kind is bool or kind is list:
        return kind
    if value is None or kind is tuple:
        return kind
    if is_numpy(value):
        return None
    # `issubclass` asks the real class; `isinstance` would also ask a `__class__` property.
    return next((base for base in _BASES if issubclass(kind, base)), None)


def excerpt(value: Any) -> str:
    """Show a value in a message.

    Args:
        value: Anything at all.

    Returns:
        At most about 80 characters: JSON-like for plain values, the class's name for the rest.
    """
    base: Any = base_of(value)
    if base is None:
        return type_name(value)
    if base is str:
        return _quoted(str.__str__(value))
    if base in _CONTAINERS:
        return f"{_CONTAINERS[base]} of {base.__len__(value)}"
    if base is int:
        number = int.__int__(value)
        return str(number) if number.bit_length() <= 64 else f"an int of {number.bit_length()} bits"
    if base is float:
        return repr(float.__float__(value))
    return {None: "null", True: "true", False: "false"}[value]


def _quoted(text: str) -> str:
    shown = text if len(text) <= MAX_CHARS else text[:MAX_CHARS] + "…"
    escaped = shown.encode("unicode_escape").decode("ascii") if not shown.isprintable() else shown
    return f'"{escaped}"'
