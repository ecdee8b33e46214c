"""Results that need not be computed since the same was computed before. Source: contracts §6.

A result is kept under all that it rests on: the evaluator's digest, the environment, mapping and params, the
arguments, and the item's id where chance is drawn. It is only used where the same code must give the same again: in a
sandbox whose clock stands still, by a source that does not ask for the time. Failures are never kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from scorewright.domain.argument_text import make_argument_text
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.result import Failed, ItemOutcome
from scorewright.runners.harness.protocol import Load
from scorewright.runners.process import WorkerLostError
from scorewright.runners.reply import decode_results

if TYPE_CHECKING:
    from scorewright.services.plan import Task
    from scorewright.storage.result_cache import ResultCache

#: In long runs, results are kept and looked for only where computing one takes longer than this on the mean: to compute
#: the others again is quicker than to look them up.
_WORTH_KEEPING_US = 200
_KEY_BYTES = 16
Decode: TypeAlias = Callable[[bytes], list[ItemOutcome]]
_encode = msgspec.msgpack.Encoder().encode


class Reuse:
    """One evaluator's earlier results in one run.

    Args:
        cache: Closed by the caller.
        digest: The evaluator's, behind whose results these are where there are several.
        load: As its workers get it: mapping, params and how the score is read are in it.
        is_short: Whether results are kept however quickly they are computed.
        decode: Reads what was kept.
    """

    def __init__(
        self,
        cache: ResultCache,
        *,
        digest: str,
        load: Load,
        is_short: bool,
        decode: Decode = decode_results,
    ) -> None:
        self._cache = cache
        self._decode = decode
        self._digest = digest
        # In full, not by the short digest that results show: one that two values of a param share is soon found.
        self._reading = msgspec.json.encode(
            (load.plan, load.convention, load.score_range, load.threshold)
        )
        self._read = make_argument_text(load.plan)
        self._draws_chance = load.uses_entropy
        #: Whether it pays; None while that is not known.
        self._pays: bool | None = True if is_short else None
        #: Whether anything may be found.
        self.may_find = cache.knows(digest)
        #: What all results of this run have in common; None before the environment is known.
        self.lane: bytes | None = None
        #: Item id to digest of its arguments, of what is being computed.
        self._open: dict[str, bytes] = {}
        #: What came out before it was known whether it pays.
        self._early: list[tuple[bytes, ItemOutcome]] = []
        #: Ids of the items under way that need no computing.
        self._found: set[str] = set()
        #: How many there were so far.
        self.count = 0

    def set_environment(self, environment: str) -> None:
        """Say what the machine decides about results: from now on they can be looked for and kept."""
        if self.lane is None:
            self.lane = _hash(f"{self._digest} {environment} ".encode() + self._reading)
            self.may_find = self.may_find and self._cache.has_lane(self.lane)

    @property
    def is_over(self) -> bool:
        """Whether nothing will be looked for or kept any more, and nothing is under way."""
        return self._pays is False and not self._found

    def find(self, item_id: str, data: bytes) -> ItemOutcome | None:
        """Return what is known of an item; None when it is to be computed."""
        if self._pays is False:
            return None
        # No JSON holds a raw zero byte: what comes before it cannot run into the id.
        drawn_for = b"\0" + item_id.encode() if self._draws_chance else b""
        arguments = self._read(data) + drawn_for
        known = self._look_up(digest := _hash(arguments))
        if known is None:
            self._open[item_id] = digest
        else:
            self._found.add(item_id)
            self.count += 1
        return known

    def keep(self, item_ids: Sequence[str], outcomes: Sequence[ItemOutcome]) -> list[bool]:
        """Take what came out of consecutive items; returns, for each, whether it is an earlier result."""
        computed: list[tuple[bytes, ItemOutcome]] = []
        reused: list[bool] = []
        for item_id, outcome in zip(item_ids, outcomes, strict=True):
            digest = self._open.pop(item_id, None)
            reused.append(item_id in self._found)
            self._found.discard(item_id)
            if digest is not None and type(outcome.outcome) is not Failed:
                computed.append((digest, outcome))
        if computed and self._pays is None:
            computed = self._decide(computed)
        if computed and self._pays and (lane := self.lane) is not None:
            kept = [(_hash(lane + digest), _encode([outcome])) for digest, outcome in computed]
            self._cache.put(lane, self._digest, kept)
        return reused

    def _decide(self, computed: list[tuple[bytes, ItemOutcome]]) -> list[tuple[bytes, ItemOutcome]]:
        """Find out whether keeping pays, and return what is to be kept of all that came so far."""
        is_first, self._early = not self._early, self._early + computed
        if is_first:  # its items bear what happens once, such as compiling a pattern
            return []
        total_us = sum([outcome.duration_us for _, outcome in computed])
        self._pays = total_us > len(computed) * _WORTH_KEEPING_US
        early, self._early = self._early, []
        if self._pays:
            return early
        self._open.clear()
        return []

    def _look_up(self, digest: bytes) -> ItemOutcome | None:
        if not self.may_find or self.lane is None:
            return None
        kept = self._cache.get(_hash(self.lane + digest))
        try:
            # By the rules for a worker's answers: whoever can write to the file could have forged it.
            return None if kept is None else self._decode(kept)[0]
        except WorkerLostError:
            return None


def may_be_kept(task: Task) -> bool:
    """Tell whether a run's results may serve a later one: those that are reproducible, and those that cost money."""
    return task.runner.pure or task.evaluator.type == "llm_judge"


def decoder_of(evaluator: Evaluator) -> Decode:
    """Return what reads an evaluator's results in the cache."""
    if evaluator.type != "llm_judge":
        return decode_results
    from scorewright.judges.worker import decode_judged

    return decode_judged


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=_KEY_BYTES).digest()
