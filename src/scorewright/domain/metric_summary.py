"""What one metric looks like over all items, whatever types its values have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from scorewright.domain.exact_sum import ExactSum, SumState
from scorewright.domain.json_value import JsonObject, JsonValue

#: Different texts counted one by one; texts first seen after them share one count.
MAX_VALUES: Final = 100
SHOWN_VALUES: Final = 20
MAX_VALUE_CHARS: Final = 200


class MetricState(msgspec.Struct, frozen=True, array_like=True):
    """A metric's summary as it is stored."""

    numbers: SumState
    truths: int
    trues: int
    texts: dict[str, int]
    other_texts: int
    json: int
    nulls: int

    @property
    def values(self) -> int:
        """How many values there were, nulls among them."""
        texts = sum(self.texts.values()) + self.other_texts
        return self.numbers.count + self.truths + texts + self.json + self.nulls


class MetricSummary:
    """Accumulates one metric; memory does not grow with the number of values."""

    __slots__ = ("_json", "_nulls", "_numbers", "_other_texts", "_texts", "_trues", "_truths")

    def __init__(self) -> None:
        self._numbers = ExactSum()
        self._truths = 0
        self._trues = 0
        self._texts: Counter[str] = Counter()
        self._other_texts = 0
        self._json = 0
        self._nulls = 0

    def add(self, values: Sequence[JsonValue]) -> None:
        """Add the values of some items."""
        numbers: Counter[float] = Counter()
        for value in values:
            if isinstance(value, bool):
                self._truths += 1
                self._trues += value
            elif isinstance(value, int | float):
                numbers[value] += 1
            elif isinstance(value, str):
                self._add_text(value)
            elif value is None:
                self._nulls += 1
            else:
                self._json += 1
        self._numbers.add(numbers)

    def state(self) -> MetricState:
        """Return all that was added, to be stored."""
        return MetricState(
            self._numbers.state(),
            self._truths,
            self._trues,
            dict(self._texts),
            self._other_texts,
            self._json,
            self._nulls,
        )

    def merge(self, state: MetricState) -> None:
        """Add all that another summary of the metric was given."""
        self._numbers.merge(state.numbers)
        self._truths += state.truths
        self._trues += state.trues
        self._other_texts += state.other_texts
        self._json += state.json
        self._nulls += state.nulls
        for text, count in state.texts.items():
            if text in self._texts or len(self._texts) < MAX_VALUES:
                self._texts[text] += count
            else:
                self._other_texts += count

    def document(self) -> JsonObject:
        """Describe the metric.

        Returns:
            `type` and `count` (of values that are not null), `nulls`, and what the type has: `n`,
            `mean`, `min` and `max` of numbers; `n` and `share_true` of booleans; `n`, `values`
            (text to count, the most frequent first) and `other_values` of texts. A metric of several
            types is `mixed` and has all this under `types`, by type: no value is dropped.
        """
        found: dict[str, JsonObject] = {}
        if self._numbers.count:
            found["number"] = self._describe_numbers()
        if self._truths:
            found["boolean"] = {"n": self._truths, "share_true": self._trues / self._truths}
        texts = self._texts.total() + self._other_texts
        if texts:
            found["string"] = self._describe_texts(texts)
        # Also a metric that was never anything but null: it has no other type.
        if self._json or not found:
            found["json"] = {"n": self._json}
        count = self._numbers.count + self._truths + texts + self._json
        if len(found) > 1:
            return {"type": "mixed", "count": count, "nulls": self._nulls, "types": {**found}}
        ((kind, details),) = found.items()
        return {"type": kind, "count": count, "nulls": self._nulls, **details}

    def _add_text(self, text: str) -> None:
        shown = text if len(text) <= MAX_VALUE_CHARS else text[:MAX_VALUE_CHARS] + "…"
        if shown in self._texts or len(self._texts) < MAX_VALUES:
            self._texts[shown] += 1
        else:
            self._other_texts += 1

    def _describe_numbers(self) -> JsonObject:
        numbers = self._numbers
        return {
            "n": numbers.count,
            "mean": numbers.mean(),
            "min": numbers.min,
            "max": numbers.max,
        }

    def _describe_texts(self, count: int) -> JsonObject:
        # By count, then by text: the order in which texts came does not matter.
        ranked = sorted(self._texts.items(), key=lambda entry: (-entry[1], entry[0]))
        shown: JsonObject = dict(ranked[:SHOWN_VALUES])
        rest = sum(times for _, times in ranked[SHOWN_VALUES:])
        return {"n": count, "values": shown, "other_values": rest + self._other_texts}
