"""From one item to the arguments of one call.

A plan is made once per run (`domain.mapping`) and travels to the sandbox, where `compile_binder`
turns it into a function: items are never decoded on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, Final, Literal, TypeAlias

import msgspec

from scorewright.domain.item_fields import make_binder, make_reader
from scorewright.domain.json_value import JsonObject, JsonValue

Path: TypeAlias = tuple[str | int, ...]
"""Steps into an item: a key for an object, an index (negative: from the end) for a list."""

How: TypeAlias = Literal[
    "field",
    "constant",
    # of a dataset row
    "inputs",
    "trace",
    "trace_object",
    "testcase",
    # of an item of a trace source
    "application_input",
    "trace_dict",
    "trace_item",
    "agent_item",
    "llm_item",
]


#: How an item of a trace source begins: with the length, in ten characters, of its light part, which two brackets close.
_HEAD: Final = b'{"head":'
_LIGHT_FROM: Final = len(_HEAD) + 10 + 1
#: Members in that part, at the top and of `trace`.
_LIGHT: Final = frozenset({"traceId", "session", "agent", "llm"})
_LIGHT_OF_TRACE: Final = frozenset(
    "trace_id name start_time end_time input output status models agents service environment metrics".split()
)


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """Where one parameter of `evaluate` gets its value from."""

    name: str
    how: How
    #: For `field`: the paths tried in turn; the first one present in the item wins. For `application_input`: its only one.
    paths: tuple[Path, ...] = ()
    #: For `constant`: the value.
    value: JsonValue = None
    #: Whether an absent field fails the item; otherwise (absent or null) the code's own default applies.
    required: bool = True
    #: Whether it is passed by keyword. Positional arguments come first and are always required.
    keyword: bool = True
    #: Its place in the signature, from 0: how a language without keyword arguments passes it.
    position: int = 0


Plan: TypeAlias = tuple[Argument, ...]

Binder: TypeAlias = Callable[[bytes | memoryview], tuple[tuple[Any, ...], dict[str, Any]]]
"""From an item's JSON bytes to positional and keyword arguments."""


def compile_binder(plan: Plan) -> Binder:
    """Turn a plan into the function that is called for every item.

    Returns:
        A function that raises `FieldAbsentError` where a required field is not in the item.
    """
    decode = msgspec.json.Decoder().decode
    if plan and all(map(_is_plain_column, plan)):
        return _bind_columns(plan, [make_reader(a, msgspec.json) for a in plan], decode)
    if plan and all(map(_is_light, plan)):
        return _bind_light(plan, decode)
    return make_binder(plan, decode, msgspec.json)


def _is_plain_column(argument: Argument) -> bool:
    """Whether the argument is one required top-level field, by position: by far the most common plan.

    A name that JSON would have to escape is no field name that msgspec takes.
    """
    if argument.how != "field" or not argument.required or argument.keyword:
        return False
    if len(argument.paths) != 1:
        return False
    path = argument.paths[0]
    name = path[0]
    return (
        len(path) == 1 and isinstance(name, str) and name.isprintable() and not {*'"\\'} & {*name}
    )


def _bind_columns(
    plan: Plan,
    readers: list[Callable[[JsonObject], Any]],
    decode: Callable[[bytes | memoryview], Any],
) -> Binder:
    """Bind required columns by position, decoding no other column: half a microsecond cheaper."""
    keys = list(dict.fromkeys(str(argument.paths[0][0]) for argument in plan))
    names = [f"column_{at}" for at in range(len(keys))]
    row_type = msgspec.defstruct(
        "Row", [(name, Any) for name in names], rename=dict(zip(names, keys, strict=True))
    )
    decode_columns = msgspec.json.Decoder(row_type).decode
    take = attrgetter(*[names[keys.index(str(argument.paths[0][0]))] for argument in plan])
    is_single = len(plan) == 1

    def bind(raw: bytes | memoryview) -> tuple[tuple[Any, ...], dict[str, Any]]:
        try:
            found = take(decode_columns(raw))
        except msgspec.ValidationError:
            row = decode(raw)
            return tuple([read(row) for read in readers]), {}  # one of them raises, and says which
        return ((found,) if is_single else found), {}

    return bind


def _is_light(argument: Argument) -> bool:
    """Whether an argument needs no more of an item of a trace source than its head, to begin with."""
    if argument.how in ("constant", "trace_item", "agent_item", "llm_item"):
        return True
    return argument.how in ("field", "application_input") and all(
        map(_is_light_path, argument.paths)
    )


def _is_light_path(path: Path) -> bool:
    if path[0] == "trace":
        return len(path) > 1 and path[1] in _LIGHT_OF_TRACE
    return path[0] in _LIGHT


def _bind_light(plan: Plan, decode: Callable[[bytes | memoryview], Any]) -> Binder:
    """Bind by the head of an item alone; a few hundred bytes may stand for megabytes of spans."""
    current: bytes | memoryview = b""

    def decode_light(raw: bytes | memoryview) -> Any:
        nonlocal current
        current = raw
        start = bytes(raw[:_LIGHT_FROM])
        if start.startswith(_HEAD) and start.endswith(b","):
            try:
                return decode(b"".join((raw[: int(start[len(_HEAD) : -1])], b"}}")))
            except (ValueError, msgspec.DecodeError):  # an item that only begins like one
                pass
        return decode(raw)

    def whole_of(_: JsonObject) -> Callable[[], Any]:
        # The object may be looked at when the memory that the item lies in holds another one.
        return partial(decode, bytes(current))

    return make_binder(plan, decode_light, msgspec.json, whole_of)
