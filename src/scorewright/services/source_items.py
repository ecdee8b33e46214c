"""Look at a few items of a source."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from scorewright.domain.convention import Level
from scorewright.domain.errors import CallerError, UsageError
from scorewright.domain.filter import compile_filter, parse_filter
from scorewright.domain.json_text import decode_object
from scorewright.domain.json_value import JsonObject
from scorewright.sources.dataset import from_rows
from scorewright.sources.picked import PickedItems
from scorewright.sources.source import Source

#: Whoever looks at a few items does not wait longer than this for a filter to find them.
_MOST_SECONDS: Final = 10.0
#: Of all items that are looked at.
_MAX_BYTES: Final = 16 << 20


class Look(msgspec.Struct, frozen=True):
    """Items that were found."""

    items: PickedItems
    #: How many were looked through for them.
    scanned: int
    #: Whether there was an end to the time or to the size that they may have.
    stopped_early: bool


def first_items(
    source: Source,
    *,
    levels: Collection[Level],
    filter_text: str | None,
    n: int,
    clock: Callable[[], float] = time.monotonic,
) -> Look:
    """Return the first items of some levels that match a filter.

    Args:
        source: To look through.
        levels: Of evaluators that would see them; those that the source has nothing for are left out.
        filter_text: None for all.
        n: How many at most.
        clock: Counts seconds.

    Raises:
        UsageError: The caller's: the filter is none, or the source has nothing for any of the levels.
    """
    seen = _levels_there(source, levels)
    matches = _matcher(source, seen[0], filter_text)
    found: list[tuple[int, bytes]] = []
    scanned = size = 0
    deadline = clock() + _MOST_SECONDS
    is_over = False
    for number, item in enumerate(source.items(), 1):
        scanned = number
        if any(source.has_level(number, one) for one in seen) and matches(item):
            found.append((number, item))
            size += len(item)
        is_over = size > _MAX_BYTES or clock() > deadline
        if is_over or len(found) >= n:
            break
    picked = PickedItems(source, [number for number, _ in found], [item for _, item in found])
    return Look(picked, scanned, stopped_early=is_over and len(found) < n and scanned < source.size)


def numbered_items(source: Source, numbers: Sequence[int]) -> PickedItems:
    """Return items by their numbers.

    Raises:
        UsageError: The caller's: there is no item of a number, one is named twice, or they are too large together.
    """
    for at, number in enumerate(numbers):
        if number > source.size:
            raise UsageError(f"there is no {source.noun} {number}; there are {source.size:,}").at(
                f"/numbers/{at}"
            )
        if number in numbers[:at]:
            raise UsageError(f"{source.noun} {number} is named twice; remove one").at(
                f"/numbers/{at}"
            )
    wanted = dict[int, bytes]()
    for number, item in enumerate(source.items(), 1):
        if number in numbers:
            wanted[number] = item
            if len(wanted) == len(numbers):
                break
    if sum(map(len, wanted.values())) > _MAX_BYTES:
        raise UsageError(f"these are more than {_MAX_BYTES >> 20} MiB; name fewer").at("/numbers")
    return PickedItems(source, numbers, [wanted[number] for number in numbers])


def given_items(rows: Sequence[Mapping[str, object]]) -> PickedItems:
    """Take items that a request brings along, as rows of a dataset.

    Raises:
        DatasetError: The caller's: some have no form in JSON.
    """
    source = from_rows(rows)
    items = list(source.items())
    return PickedItems(source, range(1, len(items) + 1), items)


def decoded(items: PickedItems) -> Iterable[tuple[int, str, JsonObject]]:
    """Return number, id and content of each item."""
    for at, (number, content) in enumerate(
        zip(items.numbers, items.sample(items.size), strict=True), 1
    ):
        yield number, items.item_id(at), content


def _levels_there(source: Source, levels: Collection[Level]) -> list[Level]:
    there: list[Level] = []
    refused: UsageError | None = None
    for level in sorted(levels):
        try:
            there.append(source.item_level(level))
        except UsageError as error:
            refused = error
    if refused is not None and not there:
        raise refused
    return there


def _matcher(source: Source, level: Level, text: str | None) -> Callable[[bytes], bool]:
    if text is None:
        return lambda _: True
    try:
        matches = compile_filter(parse_filter(text, shape=source.shape(level)))
    except CallerError as error:
        raise error.at("/source/filter") from None
    return lambda item: matches(decode_object(item))
