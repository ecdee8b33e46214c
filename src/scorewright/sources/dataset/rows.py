"""Rows given in memory: mappings, or a Polars or pandas frame."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from scorewright.domain.json_text import decode_object
from scorewright.domain.json_value import JsonValue
from scorewright.sources.dataset.columns import ColumnTally
from scorewright.sources.dataset.file import MAX_LINE_BYTES
from scorewright.sources.dataset.model import Dataset
from scorewright.sources.dataset.refusal import BadPlaces, PlaceList, mending, refuse
from scorewright.sources.source import Notice

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Rows: TypeAlias = "Iterable[Mapping[str, object]] | pl.DataFrame | pl.LazyFrame | pd.DataFrame"

_HALF_SURROGATE = re.compile("[\ud800-\udfff]")
_CHUNK_ROWS = 5_000
_TEXT_TYPES = frozenset({"datetime64", "timedelta64"})
_NULL_TYPES = frozenset({"NaTType", "NAType"})


def from_rows(rows: Rows) -> Dataset:
    """Take rows in memory as a dataset; what the caller changes later does not reach it.

    Args:
        rows: Mappings, or a Polars or pandas frame (without its index). Besides JSON's own types,
            values may be dates, times, `Decimal`, `UUID`, bytes, enums, and NumPy's scalars and
            arrays. NaN, infinities, NaT and NA become null.

    Returns:
        A dataset that holds the rows as JSON.

    Raises:
        DatasetError: Some rows are no mappings or hold values that JSON has no form for.
    """
    owner = type(rows).__module__.partition(".")[0]
    if owner == "polars":
        from scorewright.sources.dataset.frame import read_frame

        return read_frame(cast("pl.DataFrame | pl.LazyFrame", rows))
    if owner == "pandas":
        return _from_mappings(_pandas_rows(cast("pd.DataFrame", rows)))
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        kind = type(cast("object", rows)).__name__
        raise refuse(None, f"not one {kind} but an iterable of mappings or a frame")
    return _from_mappings(cast("Iterable[object]", rows))


def _from_mappings(rows: Iterable[object]) -> Dataset:
    encoder = _RowEncoder()
    items: list[bytes] = []
    tally = ColumnTally(None)
    tally.add(map(decode_object, encoder.encode_all(rows, items)))
    if encoder.bad.total:
        raise encoder.bad.refusal(len(items))
    return Dataset(
        path=None,
        format="rows",
        rows=len(items),
        columns=tally.columns(len(items)),
        notices=encoder.notices(),
        reader=lambda: _items(items),
    )


def _items(items: list[bytes]) -> Generator[bytes]:
    yield from items


class _RowEncoder:
    """Encodes rows as JSON and remembers what could not stay as it was."""

    def __init__(self) -> None:
        from json import JSONEncoder

        self._json = JSONEncoder(
            ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
        ).encode
        self.bad = BadPlaces(None, "row")
        self._halves = PlaceList("row")
        self._non_finite = PlaceList("row")

    def encode_all(self, rows: Iterable[object], items: list[bytes]) -> Iterator[bytes]:
        """Yield each good row's JSON, which is also put into `items`."""
        for number, row in enumerate(rows, 1):
            if not isinstance(row, Mapping):
                self.bad.add(number, f"not a mapping but {type(row).__name__}")
                continue
            try:
                item = self._encode(number, cast("Mapping[object, object]", row))
            except (TypeError, ValueError, RecursionError) as error:
                self.bad.add(number, str(error)[:200])
                continue
            if len(item) > MAX_LINE_BYTES:
                self.bad.add(number, f"longer than {MAX_LINE_BYTES >> 20} MiB as JSON")
                continue
            items.append(item)
            yield item

    def notices(self) -> tuple[Notice, ...]:
        """Tell what became of values without a JSON form."""
        if not self._non_finite.total:
            return mending(self._halves)
        text = f"{self._non_finite}: NaN or infinite numbers became null"
        return (Notice(None, text), *mending(self._halves))

    def _encode(self, number: int, row: Mapping[object, object]) -> bytes:
        row = row if isinstance(row, dict) else dict(row)
        try:
            return self._json(row).encode()
        except ValueError:
            # NaN, half a surrogate pair or a circle: the careful way finds out which.
            found: set[str] = set()
            item = self._json(_mend(row, found)).encode()
            if "half" in found:
                self._halves.add(number)
            if "non_finite" in found:
                self._non_finite.add(number)
            return item


def _plain(value: Any) -> JsonValue:
    """Turn a value of another type into one of JSON's, or something that leads there."""
    from datetime import date, time, timedelta
    from decimal import Decimal
    from enum import Enum
    from uuid import UUID

    kind = type(value).__name__
    if kind in _NULL_TYPES:
        return None
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta | Decimal | UUID | bytes | Enum):
        return cast("JsonValue", msgspec.to_builtins(value))
    if kind in _TEXT_TYPES:
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, JsonValue]", value))
    if hasattr(value, "tolist"):
        return cast("JsonValue", value.tolist())
    raise TypeError(f"a value of type {kind} has no form in JSON; convert it first")


def _mend(value: Any, found: set[str]) -> Any:
    """Copy a value with null for NaN and infinities, U+FFFD for halves of surrogate pairs."""
    if isinstance(value, str):
        mended = _HALF_SURROGATE.sub("\ufffd", value)
        if mended != value:
            found.add("half")
        return mended
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        found.add("non_finite")
        return None
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value).items()
        return {_mend(key, found): _mend(part, found) for key, part in pairs}
    if isinstance(value, list | tuple):
        return [_mend(part, found) for part in cast("list[object]", value)]
    if value is None or isinstance(value, int):
        return value
    return _mend(_plain(value), found)


def _pandas_rows(frame: pd.DataFrame) -> Iterator[object]:
    if not frame.columns.is_unique:
        raise refuse(None, "two columns of the frame have the same name; rename one")
    for start in range(0, len(frame), _CHUNK_ROWS):
        yield from frame.iloc[start : start + _CHUNK_ROWS].to_dict("records")
