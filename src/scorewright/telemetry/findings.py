"""What was odd about trace data: counted by kind, so that a million bad spans are one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

#: Kinds of findings that are told apart; a file made to have more gets no longer list.
MAX_KINDS = 50
_MAX_TEXT_CHARS = 200


class Findings:
    """Counts records that were refused, and parts of records that were read as nothing."""

    def __init__(self, record: str = "span") -> None:
        """Start counting.

        Args:
            record: What one record is called.
        """
        self._record = record
        #: Lines and items of files that could not be read; who reads them counts and names them.
        self.unread = 0
        self._rejected: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()

    @property
    def records(self) -> str:
        """What several records are called."""
        return f"{self._record}s"

    @property
    def rejected(self) -> int:
        """How many records were left out."""
        return self._rejected.total()

    def reject(self, reason: str) -> None:
        """Count a record that cannot be used."""
        _count(self._rejected, reason)

    def note(self, text: str) -> None:
        """Count something else that was odd."""
        _count(self._notes, text)

    def notices(self) -> Iterator[str]:
        """Tell each kind once, with how often it was met."""
        for reason, count in self._rejected.items():
            yield f"{count:,} {self._record if count == 1 else self.records} rejected: {reason}"
        for text, count in self._notes.items():
            yield text if count == 1 else f"{text} ({count:,} times)"


def _count(counter: Counter[str], text: str) -> None:
    known = text in counter or len(counter) < MAX_KINDS
    counter[text[:_MAX_TEXT_CHARS] if known else "other causes"] += 1
