"""What the judges of a run have asked, and what that took."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from scorewright.domain.result import ItemOutcome, JudgedOutcome


class JudgeTotals(msgspec.Struct):
    """Sums over the results that were computed in this run; what earlier runs have paid is not in them."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    #: Results whose cost is not known, and so not in the sum.
    unpriced: int = 0

    def add(self, outcomes: Iterable[ItemOutcome]) -> None:
        """Add what was asked for some results."""
        for outcome in outcomes:
            used = outcome.judge if isinstance(outcome, JudgedOutcome) else None
            if used is None or not used.requests:
                continue
            self.requests += used.requests
            self.tokens_in += used.tokens_in or 0
            self.tokens_out += used.tokens_out or 0
            self.cost_usd += used.cost_usd or 0.0
            self.unpriced += used.cost_usd is None
