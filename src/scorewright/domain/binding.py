"""From one item to the arguments of one call.

A plan is made once per run (`domain.mapping`) and travels to the sandbox, where `compile_binder`
turns it into a function: items are never decoded on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue

Path: TypeAlias = tuple[str | int, ...]
"""Steps into an item: a key for an object, an index (negative: from the end) for a list."""

How: TypeAlias = Literal["field", "constant", "inputs", "trace", "trace_object", "testcase"]


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """Where one parameter of `evaluate` gets its value from."""

    name: str
    how: How
    #: For `field`: the paths tried in turn; the first one present in the item wins.
    paths: tuple[Path, ...] = ()
    #: For `constant`: the value.
    value: JsonValue = None
    #: Whether an absent field fails the item; otherwise (absent or null) the code's own default applies.
    required: bool = True
    #: Whether it is passed by keyword. Positional arguments come first and are always required.
    keyword: bool = True


Plan: TypeAlias = tuple[Argument, ...]


class FieldAbsentError(Exception):
    """A mapped field is not in this item. Caught in the harness: becomes `mapping_error`."""
