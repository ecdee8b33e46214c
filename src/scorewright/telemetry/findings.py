"""What was odd about trace data: counted by kind, so that a million bad spans are one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

#: Kinds of findings that are told apart; a file made to have more gets no longer list.
MAX_KINDS = 50
_MAX_TEXT_CHARS = 200


class Findings:
    """Counts spans that were refused, and parts of spans that were read as nothing."""

    def __init__(self) -> None:
        self._rejected: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()

    @property
    def rejected_spans(self) -> int:
        """How many spans were left out."""
        return self._rejected.total()

    def reject(self, reason: str) -> None:
        """Count a span that cannot be used."""
        _count(self._rejected, reason)

    def note(self, text: str) -> None:
        """Count something else that was odd."""
        _count(self._notes, text)

    def notices(self) -> Iterator[str]:
        """Tell each kind once, with how often it was met."""
        for reason, count in self._rejected.items():
            yield f"{count:,} span{'' if count == 1 else 's'} rejected: {reason}"
        for text, count in self._notes.items():
            yield text if count == 1 else f"{text} ({count:,} times)"


def _count(counter: Counter[str], text: str) -> None:
    known = text in counter or len(counter) < MAX_KINDS
    counter[text[:_MAX_TEXT_CHARS] if known else "other causes"] += 1
