"""What the objects an author meets have in common: fields in `__slots__`, equality, a bounded repr.

Dataclasses would say the same in fewer lines, but their import and their generated code cost more
than everything else in this package together, and every sandbox process pays for it at its start. For
the same reason the modules here set `TYPE_CHECKING` themselves instead of importing `typing`.
"""

from __future__ import annotations


class Value:
    """Base of the authoring objects: compares by its fields, shows those that are known."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in field_names(type(self)))

    # Compared by content and open to change, so not hashable.
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        import reprlib

        short = reprlib.Repr()
        short.maxlevel, short.maxlist, short.maxdict = 2, 3, 4
        short.maxstring = short.maxother = 80
        known = [(name, getattr(self, name)) for name in field_names(type(self))]
        parts = [f"{name}={short.repr(value)}" for name, value in known if not is_unknown(value)]
        return f"{type(self).__name__}({', '.join(parts)})"


def field_names(kind: type) -> tuple[str, ...]:
    """List the fields of an authoring class, inherited ones first."""
    return tuple(
        name for base in reversed(kind.__mro__) for name in base.__dict__.get("__slots__", ())
    )


def is_unknown(value: object) -> bool:
    """Tell whether a field carries nothing: `None`, or an empty list or object."""
    return value is None or (isinstance(value, list | dict) and not value)


def as_text(value: object) -> str | None:
    """Turn a captured value into the text an author reads.

    Args:
        value: Any JSON value, as it was captured.

    Returns:
        Text unchanged; `None` (not captured) unchanged; anything else as its JSON text, so that
        `json.loads(trace.output)` gives it back. Source: contracts §4.
    """
    if value is None or isinstance(value, str):
        return value

    import json

    return json.dumps(value, ensure_ascii=False)
