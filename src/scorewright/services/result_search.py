"""Which results of a run are meant by a filter, in an order, from a place on: told from blocks, whatever the run's size."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
import sqlalchemy as sa

from scorewright.domain.result_block import BlockHead, Kind, ResultBlock, ScoreKey
from scorewright.domain.word_index import ID_MARK, id_word, results_with, shelf_of
from scorewright.domain.words import searched_words
from scorewright.services.run_model import FrozenEvaluator
from scorewright.storage.repositories import result_blocks as block_rows

Order: TypeAlias = Literal["item", "newest", "lowest", "highest"]
#: How many groups of blocks are read at once: few at first, as most pages are full soon.
_FIRST_READ: Final = 2
_READ_GROWTH: Final = 3
_MOST_READ: Final = 128
#: Key with its sign, item, evaluator.
_Found: TypeAlias = tuple[float, int, int]
#: The next of each open group, by what is found; its number, and what comes after.
_Waiting: TypeAlias = list[tuple[float, int, int, int, Iterator[_Found]]]


class ResultFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which results of a run are wanted; None leaves a question open."""

    statuses: tuple[str, ...] = ()
    #: Numbers of evaluators in the run.
    evaluators: tuple[int, ...] = ()
    min_score: float | None = None
    max_score: float | None = None
    #: Whether bounds and order are of the normalised score.
    is_normalised: bool = False
    passed: bool | None = None
    out_of_range: bool | None = None
    failure_code: str | None = None
    #: Beginnings of words in explanation, reason and failure; all have to be there.
    search: str | None = None
    item_id: str | None = None
    #: When the result was made: from, and until but without.
    from_us: int | None = None
    to_us: int | None = None


class Place(NamedTuple):
    """Where a result, or an item by its first result, stands in an order."""

    #: The moment it was made, or its score; 0 in the order of items.
    key: float
    evaluator_no: int
    item_no: int


class _Group(NamedTuple):
    """Blocks that are walked through together."""

    heads: list[BlockHead]

    @property
    def evaluator_no(self) -> int:
        return self.heads[0].evaluator_no

    @property
    def first_item(self) -> int:
        return min(head.first_item for head in self.heads)

    @property
    def last_item(self) -> int:
        return max(head.last_item for head in self.heads)

    @property
    def created_us(self) -> int:
        return self.heads[0].created_us


class ResultSearch:
    """One question about a run's results.

    Args:
        connection: For as long as there is iterated.
        run_id: The run.
        frozen: Its evaluators.
        wanted: Which results.
        order: `item` is by evaluator and by item within it, or by item where items are asked for; the others put
            what is alike into that order, by score item before evaluator.
        by_item: Whether items are asked for that have such a result, and not results.
        only_counted: Whether only results are wanted whose score counts: it is not out of range.

    Raises:
        UsageError: The caller's: there is no word in what is searched for.
    """

    def __init__(  # noqa: PLR0913 - each by name
        self,
        connection: sa.Connection,
        run_id: str,
        frozen: Sequence[FrozenEvaluator],
        wanted: ResultFilter,
        *,
        order: Order = "item",
        by_item: bool = False,
        only_counted: bool = False,
    ) -> None:
        self._connection = connection
        self._run_id = run_id
        self._wanted = wanted
        self._order: Order = order
        self._by_item = by_item
        self._words = searched_words(wanted.search) if wanted.search else []
        self._bounds = (wanted.min_score, wanted.max_score)
        is_by_score = order in ("lowest", "highest") or self._bounds != (None, None)
        self._needs_score = only_counted or is_by_score
        self._needs_range = only_counted or (is_by_score and wanted.is_normalised)
        self._keys = [self._key_of(one) for one in frozen]

    def places(self, after: Place | None = None) -> Iterator[Place]:
        """Yield where results stand, in order, behind one of them."""
        if self._order in ("lowest", "highest"):
            return self._by_score(after)
        return self._by_item_number(after)

    def blocks(self) -> Iterator[ResultBlock]:
        """Yield all blocks, narrowed to what is wanted."""
        groups = [_Group([head]) for head in self._heads()]
        for blocks in self._read(groups):
            yield from blocks

    def _key_of(self, one: FrozenEvaluator) -> ScoreKey | None:
        """Return what an evaluator's scores are compared by; None where it has no such scores."""
        if not self._wanted.is_normalised:
            return ScoreKey()
        score_range = one.evaluator.score_range
        return ScoreKey(score_range) if score_range is not None else None

    def _by_item_number(self, after: Place | None) -> Iterator[Place]:
        groups = self._groups()
        is_newest = self._order == "newest"

        def rank(group: _Group) -> tuple[int, int, int]:
            evaluator_no = 0 if self._by_item else group.evaluator_no
            return (-group.created_us if is_newest else 0, evaluator_no, group.first_item)

        groups.sort(key=rank)
        here: tuple[float, int] | None = None
        if after is not None:
            here = (-after.key if is_newest else 0, 0 if self._by_item else after.evaluator_no)
            seen = (*here, after.item_no)
            groups = [one for one in groups if (*rank(one)[:2], one.last_item) > seen]
        for group, blocks in zip(groups, self._read(groups), strict=True):
            is_within = here is not None and rank(group)[:2] == here
            item_no = after.item_no if after is not None and is_within else -1
            key = float(group.created_us) if is_newest else 0.0
            last = -1
            for number in heapq.merge(*[block.items_after(item_no) for block in blocks]):
                if number != last:
                    yield Place(key, group.evaluator_no, number)
                last = number

    def _by_score(self, after: Place | None) -> Iterator[Place]:
        sign = -1.0 if self._order == "highest" else 1.0
        bounded = [(self._best(group, sign), group) for group in self._groups()]
        bounded.sort(key=lambda one: one[0])
        reading = self._read([group for _, group in bounded])
        waiting: _Waiting = []
        for at, (bound, _) in enumerate(bounded):
            # What has come so far comes before all that is in blocks still closed.
            while waiting and waiting[0][0] < bound:
                yield self._next(waiting, sign)
            _push(waiting, at, self._of_group(next(reading), after, sign))
        while waiting:
            yield self._next(waiting, sign)

    def _next(self, waiting: _Waiting, sign: float) -> Place:
        key, number, evaluator_no, at, others = heapq.heappop(waiting)
        _push(waiting, at, others)
        return Place(sign * key, evaluator_no, number)

    def _best(self, group: _Group, sign: float) -> float:
        """Return what no key in a group comes before."""
        found: list[float] = []
        for head in group.heads:
            key = self._keys[head.evaluator_no]
            score = head.min_score if sign > 0 else head.max_score
            assert key is not None and score is not None  # noqa: S101, PT018 - such blocks were left out
            found.append(sign * key(score))
        return min(found)

    def _of_group(
        self, blocks: list[ResultBlock], after: Place | None, sign: float
    ) -> Iterator[_Found]:
        seen = None
        if after is not None:
            seen = (sign * after.key, after.item_no, after.evaluator_no)
        start = None if after is None else (after.key, after.item_no)
        streams = [_of_block(block, start, sign) for block in blocks]
        for place in heapq.merge(*streams) if len(streams) > 1 else streams[0] if streams else ():
            if (seen is None or place > seen) and (
                len(blocks) == 1 or _is_first(place, blocks, sign)
            ):
                yield place

    def _groups(self) -> list[_Group]:
        heads = self._heads()
        if not self._by_item:
            return [_Group([head]) for head in heads]
        by_number: dict[int, list[BlockHead]] = {}
        for head in heads:
            by_number.setdefault(head.block_no, []).append(head)
        return [_Group(found) for found in by_number.values()]

    def _heads(self) -> list[BlockHead]:
        """Return the blocks in which something may be found, by evaluator and item."""
        places = self._wanted.evaluators or range(len(self._keys))
        heads = [
            head
            for head in block_rows.heads(self._connection, self._run_id, places)
            if self._may_have(head)
        ]
        return sorted(heads, key=lambda head: (head.evaluator_no, head.first_item))

    def _may_have(self, head: BlockHead) -> bool:
        wanted = self._wanted
        if wanted.from_us is not None and head.created_us < wanted.from_us:
            return False
        if wanted.to_us is not None and head.created_us >= wanted.to_us:
            return False
        if not any(map(self._is_wanted, head.kinds)):
            return False
        return not self._needs_score or self._may_have_scores(head)

    def _may_have_scores(self, head: BlockHead) -> bool:
        key = self._keys[head.evaluator_no]
        if key is None or head.min_score is None or head.max_score is None:
            return False
        low, high = self._bounds
        return (low is None or key(head.max_score) >= low) and (
            high is None or key(head.min_score) <= high
        )

    def _is_wanted(self, kind: Kind) -> bool:
        wanted = self._wanted
        if (self._needs_range and kind.out_of_range) or (self._needs_score and not kind.has_score):
            return False
        return (
            (not wanted.statuses or kind.status in wanted.statuses)
            and (wanted.passed is None or kind.passed == wanted.passed)
            and (wanted.out_of_range is None or kind.out_of_range == wanted.out_of_range)
            and (wanted.failure_code is None or kind.failure_code == wanted.failure_code)
        )

    def _read(self, groups: Sequence[_Group]) -> Iterator[list[ResultBlock]]:
        """Yield the blocks of each group, narrowed to what is wanted; without those in which nothing is left."""
        at, size = 0, _FIRST_READ
        while at < len(groups):
            some = groups[at : at + size]
            found = self._narrowed([head for group in some for head in group.heads])
            for group in some:
                keys = [(head.evaluator_no, head.block_no) for head in group.heads]
                yield [found[key] for key in keys if key in found]
            at, size = at + size, min(size * _READ_GROWTH, _MOST_READ)

    def _narrowed(self, heads: list[BlockHead]) -> dict[tuple[int, int], ResultBlock]:
        # Words first: they leave few blocks whose columns have to be read.
        masks = self._masks(heads) if self._words else [-1] * len(heads)
        kept = [(head, mask) for head, mask in zip(heads, masks, strict=True) if mask]
        columns = block_rows.columns_of(
            self._connection,
            self._run_id,
            [head for head, _ in kept],
            with_scores=self._needs_score,
        )
        blocks: list[ResultBlock] = []
        for head, mask in kept:
            block = ResultBlock(head, columns[head.evaluator_no, head.block_no])
            self._narrow(block, mask)
            blocks.append(block)
        if self._wanted.item_id is not None:
            self._keep_item(blocks, self._wanted.item_id)
        return {
            (block.head.evaluator_no, block.head.block_no): block
            for block in blocks
            if not block.is_empty()
        }

    def _narrow(self, block: ResultBlock, mask: int) -> None:
        is_wanted = list(map(self._is_wanted, block.head.kinds))
        if not all(is_wanted):
            block.keep_kinds(is_wanted)
        if mask >= 0:
            block.keep_mask(mask)
        key = self._keys[block.head.evaluator_no]
        if self._needs_score and key is not None:
            block.keep_scores(key, *self._bounds)

    def _masks(self, heads: list[BlockHead]) -> list[int]:
        """Return which results of blocks have all the words."""
        shelves = {
            shelf: self._shelves(heads, shelf) for shelf in sorted(set(map(shelf_of, self._words)))
        }
        masks: list[int] = []
        for at, head in enumerate(heads):
            mask = -1
            for word in self._words:
                body = shelves[shelf_of(word)][at]
                mask &= 0 if body is None else results_with(body, head.count, word)
                if not mask:
                    break
            masks.append(mask)
        return masks

    def _keep_item(self, blocks: list[ResultBlock], item_id: str) -> None:
        """Keep one item: by the word of its id, or by its number in a block whose ids are the numbers."""
        is_number = item_id.isascii() and item_id.isdigit() and str(int(item_id)) == item_id
        bodies = self._shelves([block.head for block in blocks], shelf_of(ID_MARK))
        for block, body in zip(blocks, bodies, strict=True):
            count = block.head.count
            if body is not None and results_with(body, count, ID_MARK):
                block.keep_mask(results_with(body, count, id_word(item_id)))
            else:
                at = block.position_of(int(item_id)) if is_number else None
                block.keep_mask(0 if at is None else 1 << at)

    def _shelves(self, heads: list[BlockHead], shelf: int) -> list[bytes | None]:
        bodies = block_rows.shelves_of(self._connection, self._run_id, shelf, heads)
        return [bodies.get((head.evaluator_no, head.block_no)) for head in heads]


def _push(
    waiting: _Waiting,
    at: int,
    places: Iterator[_Found],
) -> None:
    place = next(places, None)
    if place is not None:
        heapq.heappush(waiting, (*place, at, places))


def _of_block(block: ResultBlock, start: tuple[float, int] | None, sign: float) -> Iterator[_Found]:
    evaluator_no = block.head.evaluator_no
    for key, number in block.by_score(start, is_falling=sign < 0):
        yield sign * key, number, evaluator_no


def _is_first(place: _Found, blocks: list[ResultBlock], sign: float) -> bool:
    """Tell whether none of the item's other results comes before."""
    _, number, evaluator_no = place
    for block in blocks:
        key = block.key_of(number) if block.head.evaluator_no != evaluator_no else None
        if key is not None and (sign * key, number, block.head.evaluator_no) < place:
            return False
    return True
