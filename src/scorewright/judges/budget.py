"""What a run may spend on models, and what it has spent."""

from __future__ import annotations

from threading import Lock


class Budget:
    """Shared by all judges of one run, whichever thread they ask in.

    Args:
        max_usd: Nothing is asked any more that could take the run beyond it; None for no bound.
    """

    def __init__(self, max_usd: float | None = None) -> None:
        self.max_usd = max_usd
        self._lock = Lock()
        self._spent_usd = 0.0
        self._reserved_usd = 0.0

    @property
    def spent_usd(self) -> float:
        """What is known to be spent; requests to models without a known price are not in it."""
        return self._spent_usd

    def reserve(self, usd: float) -> bool:
        """Set aside what a request may cost; False where that is more than is left."""
        with self._lock:
            total_usd = self._spent_usd + self._reserved_usd + usd
            if self.max_usd is not None and total_usd > self.max_usd:
                return False
            self._reserved_usd += usd
            return True

    def settle(self, reserved_usd: float, cost_usd: float) -> None:
        """Give back what was set aside, and note what the request has cost."""
        with self._lock:
            self._reserved_usd -= reserved_usd
            self._spent_usd += cost_usd
