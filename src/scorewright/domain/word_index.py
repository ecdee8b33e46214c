"""Which results of a block have a word in their texts; stored in shelves by first letter, so that a search reads one of them."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from scorewright.domain.packing import pack, unpack
from scorewright.domain.words import words_of

SHELVES: Final = 16
#: Before the item's id: no word starts with it.
ID_MARK: Final = "#"


class _Shelf(msgspec.Struct, frozen=True, array_like=True):
    #: In order of their bytes, each behind a line feed.
    words: bytes
    #: Of each word, where its positions end.
    ends: bytes
    positions: bytes


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Shelf).decode


def build_shelves(
    texts: Mapping[str, list[int]], ids: Iterable[tuple[str, int]]
) -> dict[int, bytes]:
    """Index the results of a block.

    Args:
        texts: Every different text, with the positions of the results that have it.
        ids: Items' ids to be found, with the results' positions.

    Returns:
        The shelves that hold something.
    """
    positions_of: defaultdict[str, list[int]] = defaultdict(list)
    for text, positions in texts.items():
        for word in words_of(text):
            positions_of[word] += positions
    for item_id, position in ids:
        positions_of[_id_word(item_id)] = [position]
    shelves: dict[int, list[tuple[bytes, list[int]]]] = {}
    for word, positions in positions_of.items():
        shelves.setdefault(shelf_of(word), []).append((word.encode(), positions))
    return {number: _pack(sorted(entries)) for number, entries in shelves.items()}


def shelf_of(word: str) -> int:
    """Return on which shelf a word stands, and with it all that it begins."""
    return ord(word[0]) % SHELVES


def id_word(item_id: str) -> str:
    """Return what an item's id is found by, as a whole."""
    return _id_word(item_id) + "\n"


def positions_with(body: bytes, beginning: str) -> array[int]:
    """Return the positions of results that have a word which begins so; one may be there more than once.

    Args:
        body: The shelf.
        beginning: Of a word; a line feed at its end stands for the word's.
    """
    shelf = _decode(body)
    sought = b"\n" + beginning.encode()
    first_at = shelf.words.find(sought)
    if first_at < 0:
        return array("H")
    # They stand in order, so what begins alike stands together.
    last_at = shelf.words.rfind(sought)
    first = shelf.words.count(b"\n", 0, first_at)
    last = first + shelf.words.count(b"\n", first_at, last_at)
    ends = unpack("I", shelf.ends)
    positions = unpack("H", shelf.positions)
    return positions[ends[first - 1] if first else 0 : ends[last]]


def _id_word(item_id: str) -> str:
    # Escaped, as ids are anybody's and a line feed ends a word.
    return ID_MARK + item_id.encode("unicode_escape").decode()


def _pack(entries: list[tuple[bytes, list[int]]]) -> bytes:
    words = b"".join(b"\n" + word for word, _ in entries) + b"\n"
    ends: array[int] = array("I")
    positions: array[int] = array("H")
    for _, found in entries:
        positions.extend(found)
        ends.append(len(positions))
    return _encode(_Shelf(words, pack(ends), pack(positions)))
