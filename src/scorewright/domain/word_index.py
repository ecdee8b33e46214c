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
_ONE: Final = ord("1")


class _Shelf(msgspec.Struct, frozen=True, array_like=True):
    #: Each behind a line feed, in the order of their bytes: those of few results, and those of many.
    rare: bytes
    frequent: bytes
    #: Of each rare word, where its positions end; and the positions.
    ends: bytes
    positions: bytes
    #: Of each frequent word the results as bits, all of the same size.
    masks: bytes


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Shelf).decode


def build_shelves(
    count: int, texts: Mapping[str, list[int]], ids: Iterable[tuple[str, int]]
) -> dict[int, bytes]:
    """Index the results of a block.

    Args:
        count: How many results there are.
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
    return {number: _pack(count, sorted(entries)) for number, entries in shelves.items()}


def shelf_of(word: str) -> int:
    """Return on which shelf a word stands, and with it all that it begins."""
    return ord(word[0]) % SHELVES


def id_word(item_id: str) -> str:
    """Return what an item's id is found by, as a whole."""
    return _id_word(item_id) + "\n"


def results_with(body: bytes, count: int, beginning: str) -> int:
    """Return the results that have a word which begins so, as bits: the lowest is the first result's.

    Args:
        body: The shelf.
        count: How many results the block has.
        beginning: Of a word; a line feed at its end stands for the word's.
    """
    shelf = _decode(body)
    found = 0
    rare = _range_of(shelf.rare, beginning)
    if rare:
        ends = unpack("I", shelf.ends)
        positions = unpack("H", shelf.positions)
        for position in positions[ends[rare.start - 1] if rare.start else 0 : ends[rare.stop - 1]]:
            found |= 1 << position
    size = _mask_bytes(count)
    for number in _range_of(shelf.frequent, beginning):
        found |= int.from_bytes(shelf.masks[number * size : (number + 1) * size], "little")
    return found


def _range_of(words: bytes, beginning: str) -> range:
    """Return the numbers of the words that begin so: they stand in order, so these stand together."""
    sought = b"\n" + beginning.encode()
    first_at = words.find(sought)
    if first_at < 0:
        return range(0)
    first = words.count(b"\n", 0, first_at)
    return range(first, first + words.count(b"\n", first_at, words.rfind(sought)) + 1)


def _id_word(item_id: str) -> str:
    # Escaped, as ids are anybody's and a line feed ends a word.
    return ID_MARK + item_id.encode("unicode_escape").decode()


def _pack(count: int, entries: list[tuple[bytes, list[int]]]) -> bytes:
    ends: array[int] = array("I")
    positions: array[int] = array("H")
    masks: list[bytes] = []
    size = _mask_bytes(count)
    words: tuple[list[bytes], list[bytes]] = ([], [])
    for word, found in entries:
        is_frequent = 2 * len(found) > size
        words[is_frequent].append(b"\n" + word)
        if is_frequent:
            masks.append(mask_of(count, found).to_bytes(size, "little"))
        else:
            positions.extend(found)
            ends.append(len(positions))
    # The last one ends too.
    rare, frequent = (b"".join([*part, b"\n"]) for part in words)
    return _encode(_Shelf(rare, frequent, pack(ends), pack(positions), b"".join(masks)))


def mask_of(count: int, positions: Iterable[int]) -> int:
    """Return positions as bits."""
    flags = bytearray(b"0") * count
    for position in positions:
        flags[count - 1 - position] = _ONE
    return int(flags, 2)


def _mask_bytes(count: int) -> int:
    return (count + 7) // 8
