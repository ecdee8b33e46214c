"""The number at the start of an item: how many bytes of it hold the light members."""

from __future__ import annotations

from typing import Final

import msgspec

from scorewright.domain.json_value import JsonObject

#: Padded with blanks, so that its length does not depend on the number.
_HEAD: Final = b'{"head":%10d,'
_HEAD_BYTES: Final = len(_HEAD % 0)


def with_head(
    front: JsonObject, light: bytes, heavy: JsonObject, behind: JsonObject, spans: bytes
) -> bytes:
    """Put an item together.

    Args:
        front: Members before `trace`.
        light: The light members of `trace`, as `members_of` writes them.
        heavy: Its other members, at least one.
        behind: Members behind `trace`.
        spans: The list of spans, as JSON.

    Returns:
        The item: up to the number in `head`, with two braces behind, it is an object of front and light members.
    """
    start = b'%b,"trace":{%b' % (members_of(front), light)
    return b"".join(
        (
            _HEAD % (_HEAD_BYTES + len(start)),
            start,
            b",",
            members_of(heavy),
            b"},",
            members_of(behind) + b"," if behind else b"",
            b'"spans":',
            spans,
            b"}",
        )
    )


def members_of(body: JsonObject) -> bytes:
    """Write an object without its braces."""
    return msgspec.json.encode(body)[1:-1]
