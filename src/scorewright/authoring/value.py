"""What the objects an author meets have in common: fields in `__slots__`, equality, a bounded repr.

Dataclasses would say the same in fewer lines, but their import and their generated code cost more
than everything else in this package together, and every sandbox process pays for it at its start. For
the same reason the modules here set `TYPE_CHECKING` themselves instead of importing `typing`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Self, TypeAlias

    #: By field, what makes it: of the object, the item at hand, and what gives the whole item.
    Makers: TypeAlias = Mapping[
        str, Callable[[Any, dict[str, Any], Callable[[], dict[str, Any]]], object]
    ]
    _Parts: TypeAlias = tuple[Makers, dict[str, Any], Callable[[], dict[str, Any]]]


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


class LazyValue(Value):
    """A value whose fields may each be made when they are first asked for.

    To its users it is like any other: what is asked for, compared, shown or copied is there.
    """

    __slots__ = ("_parts",)

    #: What the empty fields are made of; unset where all were given.
    _parts: _Parts

    @classmethod
    def _lazily(
        cls, makers: Makers, item: dict[str, Any], whole: Callable[[], dict[str, Any]]
    ) -> Self:
        """Make an object without any field yet; `__init__` is not called."""
        value = cls.__new__(cls)
        value._parts = (makers, item, whole)  # noqa: SLF001 - ours
        return value

    if not TYPE_CHECKING:  # or every misspelt name would have a type

        def __getattr__(self, name: str) -> object:
            """Make a field: this is called only where its slot is empty."""
            if not name.startswith("_"):
                makers, item, whole = getattr(self, "_parts", _NO_PARTS)
                make = makers.get(name)
                if make is not None:
                    value = make(self, item, whole)
                    setattr(self, name, value)
                    return value
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=self)


_NO_PARTS: _Parts = ({}, {}, dict)


def field_names(kind: type) -> tuple[str, ...]:
    """List the fields of an authoring class, inherited ones first; what a property keeps apart is called as that is."""
    return tuple(
        name.removeprefix("_")
        for base in reversed(kind.__mro__)
        for name in base.__dict__.get("__slots__", ())
        if not name.startswith("_") or isinstance(getattr(kind, name[1:], None), property)
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
