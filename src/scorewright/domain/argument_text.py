"""What of an item its arguments are made of, without decoding them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from scorewright.domain.binding import Plan

ArgumentText: TypeAlias = Callable[[bytes], bytes]
"""From an item's JSON to bytes that are equal only where the arguments of a call are."""

_ABSENT = b"-"


def make_argument_text(plan: Plan) -> ArgumentText:
    """Return the function for one plan.

    Where every argument comes from named columns it takes these as they are written; arguments that may hold any
    column take the whole item.
    """
    columns = list(dict.fromkeys(str(path[0]) for one in plan for path in one.paths))
    if any(one.how not in ("field", "constant") for one in plan) or not all(
        map(_can_be_asked_for, columns)
    ):
        return lambda data: data
    fields = [f"column_{at}" for at in range(len(columns))]
    row_type = msgspec.defstruct(
        "Columns",
        [(field, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for field in fields],
        rename=dict(zip(fields, columns, strict=True)),
    )
    decode = msgspec.json.Decoder(row_type).decode

    def read(data: bytes) -> bytes:
        row = decode(data)
        written = [getattr(row, field) for field in fields]
        # No JSON text holds a raw zero byte: columns cannot run into each other.
        return b"\0".join(_ABSENT if one is msgspec.UNSET else b"+" + bytes(one) for one in written)

    return read


def _can_be_asked_for(name: str) -> bool:
    """Whether the decoder takes a name as a field's: JSON must not have to escape it."""
    return name.isprintable() and not {*'"\\'} & {*name}
