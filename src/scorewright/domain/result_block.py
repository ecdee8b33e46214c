"""Some hundreds of one evaluator's results as columns: what filters and orders are answered from.

Rows of results are read for what is shown, and for nothing else. Which ones these are is told by blocks: one for each
evaluator and stored part of a run, so that any filter in any order looks at a few hundred blocks instead of a million rows.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Final, TypeAlias

import msgspec

from scorewright.domain.packing import pack, unpack
from scorewright.domain.result_record import ResultRecord
from scorewright.domain.word_index import build_shelves

#: A `Kind`, as it is made a thousand times quicker.
_KindKey: TypeAlias = tuple[str, bool | None, bool, str | None, bool]
#: From digits to flags.
_DIGITS: Final = bytes.maketrans(b"01", b"\0\1")
#: A position is stored in two bytes.
MAX_RESULTS: Final = 1 << 16


class Kind(msgspec.Struct, frozen=True, array_like=True):
    """What many results have in common."""

    status: str
    passed: bool | None
    out_of_range: bool
    failure_code: str | None
    has_score: bool


class BlockHead(msgspec.Struct, frozen=True):
    """What is told of a block without reading it."""

    evaluator_no: int
    #: Of the part of the run; the evaluators' blocks of one part are about the same items.
    block_no: int
    first_item: int
    last_item: int
    count: int
    created_us: int
    #: Of all scores, those out of range among them; None without any.
    min_score: float | None
    max_score: float | None
    kinds: list[Kind]


class BlockColumns(msgspec.Struct, frozen=True):
    """A block's results by position, in the order of their items."""

    #: Numbers of `kinds`, a byte each.
    codes: bytes
    #: Numbers of the items; None where they are consecutive.
    items: bytes | None
    #: Not a number where there is none; None where there is none at all.
    scores: bytes | None
    #: Positions of the results that have a score, by score and then by position.
    ranks: bytes | None


class BuiltBlock(msgspec.Struct, frozen=True):
    """A block as it is made, with the shelves of its words."""

    head: BlockHead
    columns: BlockColumns
    shelves: dict[int, bytes]


def build_block(
    evaluator_no: int, block_no: int, created_us: int, found: Sequence[tuple[int, ResultRecord]]
) -> BuiltBlock:
    """Make the block of some results of one evaluator.

    Args:
        evaluator_no: The evaluator's place in the run.
        block_no: Of the part of the run.
        created_us: When the results are stored.
        found: At least one, at most `MAX_RESULTS`: items' numbers, all different, with the results.
    """
    found = sorted(found, key=lambda one: one[0])
    numbers = [number for number, _ in found]
    records = [record for _, record in found]
    codes_of: dict[_KindKey, int] = {}
    codes = bytes(codes_of.setdefault(_kind(record), len(codes_of)) for record in records)
    scores = [math.nan if one.score is None else one.score for one in records]
    ranks = [at for at, one in enumerate(records) if one.score is not None]
    ranks.sort(key=scores.__getitem__)
    is_consecutive = numbers[-1] - numbers[0] + 1 == len(numbers)
    return BuiltBlock(
        BlockHead(
            evaluator_no=evaluator_no,
            block_no=block_no,
            first_item=numbers[0],
            last_item=numbers[-1],
            count=len(numbers),
            created_us=created_us,
            min_score=scores[ranks[0]] if ranks else None,
            max_score=scores[ranks[-1]] if ranks else None,
            kinds=[Kind(*one) for one in codes_of],
        ),
        BlockColumns(
            codes,
            None if is_consecutive else pack(array("i", numbers)),
            pack(array("d", scores)) if ranks else None,
            pack(array("H", ranks)) if ranks else None,
        ),
        build_shelves(
            len(records),
            _texts(records),
            _ids(found),
        ),
    )


def _kind(record: ResultRecord) -> _KindKey:
    code = None if record.failure is None else record.failure.code.value
    return record.status, record.passed, record.out_of_range, code, record.score is not None


def _ids(found: Sequence[tuple[int, ResultRecord]]) -> list[tuple[str, int]]:
    """Return the ids with their positions; none where all are the items' numbers, as rows have it."""
    if all(record.item_id == str(number) for number, record in found):
        return []
    return [(record.item_id, at) for at, (_, record) in enumerate(found)]


def _texts(records: Iterable[ResultRecord]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at, record in enumerate(records):
        message = None if record.failure is None else record.failure.message
        for text in (record.explanation, record.reason, message):
            if text:
                found.setdefault(text, []).append(at)
    return found


class ScoreKey:
    """What scores of one evaluator are compared by: themselves, or mapped to 0–1 as a result's normalised score is.

    Either way a larger score is never the smaller key.
    """

    __slots__ = ("_low", "_width", "is_normalised")

    def __init__(self, normalised_in: tuple[float, float] | None = None) -> None:
        self.is_normalised = normalised_in is not None
        self._low, self._width = 0.0, 1.0
        if normalised_in is not None:
            low, high = normalised_in
            self._low, self._width = low, high - low

    def __call__(self, score: float) -> float:
        """Return a score's key."""
        return (score - self._low) / self._width if self.is_normalised else score


class ResultBlock:
    """A block that is read, narrowed to what is asked for step by step.

    Args:
        head: What is known of it.
        columns: Its columns.
    """

    def __init__(self, head: BlockHead, columns: BlockColumns) -> None:
        self.head = head
        self._codes = columns.codes
        self._items = None if columns.items is None else unpack("i", columns.items)
        self._scores: array[float] = unpack("d", columns.scores or b"")
        ranks: array[int] = unpack("H", columns.ranks or b"")
        self._ranks: Sequence[int] = ranks
        self._key = ScoreKey()
        self._has_bounds = False
        #: A byte for each result: 1 where it is still wanted.
        self._flags = b"\1" * head.count

    def keep_kinds(self, is_wanted: Sequence[bool]) -> None:
        """Keep the results of some of the kinds."""
        table = bytes(is_wanted).ljust(256, b"\0")
        self._flags = self._codes.translate(table)

    def keep_scores(self, key: ScoreKey, low: float | None, high: float | None) -> None:
        """Keep the results whose score's key lies between two bounds, both included; and compare by that key."""
        self._key = key
        self._has_bounds = low is not None or high is not None
        first, last = 0, len(self._ranks)
        if low is not None:
            first = bisect_left(self._ranks, low, key=self._key_at)
        if high is not None:
            last = bisect_right(self._ranks, high, key=self._key_at)
        self._ranks = self._ranks[first:last]

    def keep_mask(self, mask: int) -> None:
        """Keep the results whose bit is set; the lowest is the first's."""
        digits = f"{mask:0{self.head.count}b}".encode()[::-1].translate(_DIGITS)
        if 0 in self._flags:
            both = int.from_bytes(digits) & int.from_bytes(self._flags)
            digits = both.to_bytes(self.head.count)
        self._flags = digits

    def is_empty(self) -> bool:
        """Tell whether it is known that nothing is left."""
        return 1 not in self._flags or (self._has_bounds and not self._ranks)

    def item_at(self, position: int) -> int:
        """Return the number of an item."""
        return self.head.first_item + position if self._items is None else self._items[position]

    def position_of(self, number: int) -> int | None:
        """Return the position of an item's result; None where it has none."""
        if not self.head.first_item <= number <= self.head.last_item:
            return None
        if self._items is None:
            return number - self.head.first_item
        at = bisect_left(self._items, number)
        return at if self._items[at] == number else None

    def items_after(self, number: int) -> Iterator[int]:
        """Yield the items that are left, in order, behind the one of a number."""
        start = 0
        if self._items is not None:
            start = bisect_right(self._items, number)
        elif number >= self.head.first_item:
            start = number - self.head.first_item + 1
        for position in self._kept():
            if position >= start:
                yield self.item_at(position)

    def scores_left(self) -> list[float]:
        """Return the scores that are left, the lowest first."""
        scores, flags = self._scores, self._flags
        return [scores[at] for at in self._ranks if flags[at]]

    def key_of(self, number: int) -> float | None:
        """Return what an item's result is compared by; None where it is not wanted or has no score."""
        position = self.position_of(number)
        if position is None or not self._flags[position] or not self._ranks:
            return None
        key = self._key_at(position)
        lowest, highest = self._key_at(self._ranks[0]), self._key_at(self._ranks[-1])
        return key if lowest <= key <= highest else None

    def by_score(
        self, start: tuple[float, int] | None, *, is_falling: bool
    ) -> Iterator[tuple[float, int]]:
        """Yield keys of scores and items in order: the lowest key first, or the highest; then by item.

        Args:
            start: The first key that may come, and the first item with it; None for the first there is.
            is_falling: Whether the highest comes first.
        """
        ranks, flags = self._ranks, self._flags
        first, last = 0, len(ranks)
        if start is not None and is_falling:
            last = bisect_right(ranks, start[0], key=self._key_at)
        elif start is not None:
            first = bisect_left(ranks, start[0], key=self._key_at)
        while first < last:
            # What is not wanted is passed one by one: looking for the end of what is alike takes a hundred times as long.
            if not flags[ranks[last - 1 if is_falling else first]]:
                first, last = (first, last - 1) if is_falling else (first + 1, last)
                continue
            # All of one key at once: they stand together, but not always in the order of items.
            if is_falling:
                key = self._key_at(ranks[last - 1])
                alike = ranks[bisect_left(ranks, key, first, last, key=self._key_at) : last]
                last -= len(alike)
            else:
                key = self._key_at(ranks[first])
                alike = ranks[first : bisect_right(ranks, key, first, last, key=self._key_at)]
                first += len(alike)
            positions = sorted([at for at in alike if flags[at]])
            if start is not None and key == start[0]:
                positions = positions[bisect_left(positions, start[1], key=self.item_at) :]
            for position in positions:
                yield key, self.item_at(position)

    def _key_at(self, position: int) -> float:
        return self._key(self._scores[position])

    def _kept(self) -> Iterable[int]:
        if not self._has_bounds:
            return compress(range(self.head.count), self._flags)
        return sorted(at for at in self._ranks if self._flags[at])
