"""What is kept of one evaluator's results in a run beside the results, so that nobody has to read them all again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from scorewright.domain.aggregate import Summary, SummaryState
from scorewright.domain.result import ItemOutcome, Scored
from scorewright.domain.score_counts import CountsState, ScoreCounts


class RollupState(msgspec.Struct, frozen=True, array_like=True):
    """A roll-up as it is stored."""

    summary: SummaryState
    scores: CountsState
    #: Results taken over from an earlier run; and of the second look: items judged twice, and those that differed.
    reused: int = 0
    judged_twice: int = 0
    nondeterministic: int = 0


_decode = msgspec.msgpack.Decoder(RollupState).decode
_encode = msgspec.msgpack.Encoder().encode


class Rollup:
    """The sum of any number of parts of a run, in any order.

    Args:
        evaluator: Its name.
        score_range: Smallest and largest score that it declares.
        stored: What `encoded` gave, to go on from.
    """

    def __init__(
        self,
        evaluator: str,
        *,
        score_range: tuple[float, float] | None,
        stored: bytes | None = None,
    ) -> None:
        self.summary = Summary(evaluator, score_range=score_range)
        self.scores = ScoreCounts()
        self.reused = self.judged_twice = self.nondeterministic = 0
        if stored is not None:
            self.merge(stored)

    def add(self, numbers: Sequence[int], items: Sequence[ItemOutcome]) -> None:
        """Add the outcomes of some items; `numbers` are the items'."""
        self.summary.add_batch(numbers, items)
        found = [one.outcome for one in items if isinstance(one.outcome, Scored)]
        self.scores.add(
            Counter([o.score for o in found if o.score is not None and not o.out_of_range])
        )

    def merge(self, stored: bytes) -> None:
        """Add what another roll-up of the same evaluator was given."""
        state = _decode(stored)
        self.summary.merge(state.summary)
        self.scores.merge(state.scores)
        self.reused += state.reused
        self.judged_twice += state.judged_twice
        self.nondeterministic += state.nondeterministic

    def encoded(self) -> bytes:
        """Return it as it is stored."""
        return _encode(
            RollupState(
                self.summary.state(),
                self.scores.state(),
                self.reused,
                self.judged_twice,
                self.nondeterministic,
            )
        )
