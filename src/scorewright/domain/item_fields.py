"""Fields of an item, found and read for the parameters of one call.

Standard library only: a remote sandbox binds with this very file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from scorewright.domain.json_value import JsonObject, JsonValue

MISSING: Any = object()
"""What a path that leads nowhere gives: a null is a value."""


class FieldAbsentError(Exception):
    """A mapped field is not in this item. Caught in the harness: becomes `mapping_error`."""


class Mapped(Protocol):
    """Where one parameter gets its value from, as `domain.binding.Argument` documents it."""

    @property
    def name(self) -> str:
        """The parameter."""
        ...

    @property
    def how(self) -> str:
        """Which of the ways below."""
        ...

    @property
    def paths(self) -> Sequence[Sequence[str | int]]:
        """For `field`: tried in turn."""
        ...

    @property
    def value(self) -> JsonValue:
        """For `constant`: the value."""
        ...

    @property
    def required(self) -> bool:
        """Whether an absent field fails the item."""
        ...

    @property
    def keyword(self) -> bool:
        """Whether it is passed by keyword."""
        ...


class JsonCodec(Protocol):
    """How JSON is read and written here."""

    def encode(self, value: JsonValue, /) -> str | bytes:
        """Write a value."""
        ...

    def decode(self, text: str | bytes, /) -> Any:
        """Read a text; raises ValueError where it is no JSON."""
        ...


WholeOf: TypeAlias = Callable[[JsonObject], Callable[[], JsonObject]]
"""From what was decoded of an item to what gives the whole item, when it is wanted."""


def _is_whole(row: JsonObject) -> Callable[[], JsonObject]:
    return lambda: row


def make_binder(
    plan: Sequence[Mapped],
    decode_item: Callable[[Any], JsonObject],
    codec: JsonCodec,
    whole_of: WholeOf = _is_whole,
) -> Callable[[Any], tuple[tuple[Any, ...], dict[str, Any]]]:
    """Turn a plan into the function that is called for every item.

    Args:
        plan: Where each parameter gets its value from.
        decode_item: Makes an object of what the function is given.
        codec: For JSON inside of items, and constants.
        whole_of: For objects that look at the whole item later, where `decode_item` gives a part of it.

    Returns:
        From an item to positional and keyword arguments; raises `FieldAbsentError` where a required field is absent.
    """
    positional = [make_reader(a, codec, whole_of) for a in plan if not a.keyword]
    named = [(a.name, make_reader(a, codec, whole_of), a.required) for a in plan if a.keyword]

    def bind(item: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        row = decode_item(item)
        keywords: dict[str, Any] = {}
        for name, read, required in named:
            value = read(row)
            if required or (value is not MISSING and value is not None):
                keywords[name] = value
        return tuple([read(row) for read in positional]), keywords

    return bind


def make_reader(
    argument: Mapped, codec: JsonCodec, whole_of: WholeOf = _is_whole
) -> Callable[[JsonObject], Any]:
    """Return the function that reads one parameter's value from an item."""
    how = argument.how
    decode = codec.decode
    if how.endswith("_item"):
        return _object_reader(how, whole_of)
    if how == "constant":
        # Decoded anew for every item: what the author's code does to it must not reach the next one.
        text = codec.encode(argument.value)
        return lambda _row: decode(text)
    if how == "inputs":
        return _inputs_reader(decode)
    if how == "trace":
        return lambda row: _unwrapped(row.get("trace"), decode)
    if how == "testcase":
        return lambda row: row
    if how == "trace_object":
        from scorewright.authoring import trace_from_row

        return trace_from_row
    if how == "trace_dict":
        from scorewright.authoring.trace_dict import trace_dict

        return trace_dict
    if how == "application_input":
        from scorewright.authoring.trace_dict import as_inputs

        path = argument.paths[0]
        return lambda row: as_inputs(_or_none(resolve(row, path)))
    return _field_reader(argument)


def _object_reader(how: str, whole_of: WholeOf) -> Callable[[JsonObject], Any]:
    """Return what makes an object of an item of a trace source, at one of its levels."""
    from scorewright.authoring import from_item

    if how == "llm_item":
        return from_item.llm_span_from_item
    make = from_item.agent_trace_from_item if how == "agent_item" else from_item.trace_from_item
    return lambda row: make(row, whole_of(row))


def _or_none(value: Any) -> JsonValue:
    return None if value is MISSING else value


def _inputs_reader(decode: Callable[[str], Any]) -> Callable[[JsonObject], JsonObject]:
    def read(row: JsonObject) -> JsonObject:
        """The row's `inputs` when that is an object, else the whole row. Source: contracts §2."""
        value = _unwrapped(row.get("inputs"), decode)
        return value if isinstance(value, dict) else row

    return read


def _unwrapped(value: JsonValue, decode: Callable[[str], Any]) -> JsonValue:
    """An object that a text column holds as JSON; any other value as it is."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            decoded = decode(value)
        except ValueError:
            return value
        return decoded  # type: ignore[no-any-return]
    return value


def _field_reader(argument: Mapped) -> Callable[[JsonObject], Any]:
    paths, name, required = argument.paths, argument.name, argument.required

    def read(row: JsonObject) -> Any:
        for path in paths:
            value = resolve(row, path)
            if value is not MISSING:
                return value
        if required:
            fields = " or ".join(_show(path) for path in paths)
            reasons = [reason for path in paths if (reason := _why_absent(row, path))]
            what = f'field {fields} (variable "{name}") is not in this item'
            raise FieldAbsentError("; ".join([what, *reasons]))
        return MISSING

    return read


def resolve(row: JsonValue, path: Sequence[str | int]) -> Any:
    """Follow `path` from `row`; `MISSING` where it leads nowhere. A null is a value."""
    value = row
    for step in path:
        if isinstance(step, str):
            if not isinstance(value, dict) or step not in value:
                return MISSING
            value = value[step]
        elif isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return MISSING
    return value


def _why_absent(row: JsonObject, path: Sequence[str | int]) -> str:
    """Say where a path meets a text: the data may hold JSON as text where its author thinks of an object."""
    for length in range(1, len(path)):
        if isinstance(resolve(row, path[:length]), str):
            return f'"{_show(path[:length])}" is text here, not an object or a list'
    return ""


def _show(path: Sequence[str | int]) -> str:
    first, *rest = path
    return str(first) + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in rest)
