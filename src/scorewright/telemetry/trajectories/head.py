"""The number at the start of an item: how many bytes of it hold the light members."""

from __future__ import annotations

from typing import Final

import msgspec

from scorewright.domain.json_value import JsonObject

#: Padded with blanks, so that its length does not depend on the number.
_HEAD: Final = b'{"head":%10d,'
_HEAD_BYTES: Final = len(_HEAD % 0)


def with_head(front: JsonObject, light: JsonObject, heavy: JsonObject, behind: JsonObject) -> bytes:
    """Put an item together.

    Args:
        front: Members before `trace`.
        light: The light members of `trace`.
        heavy: Its other members, at least one.
        behind: Members behind `trace`, at least one.

    Returns:
        The item: up to the number in `head`, with two braces behind, it is an object of front and light members.
    """
    start = _members(front) + b',"trace":{' + _members(light)
    return b"".join(
        (
            _HEAD % (_HEAD_BYTES + len(start)),
            start,
            b",",
            _members(heavy),
            b"},",
            _members(behind),
            b"}",
        )
    )


def _members(body: JsonObject) -> bytes:
    """Write an object without its braces."""
    return msgspec.json.encode(body)[1:-1]
