"""Polars types and what becomes of them in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from scorewright.sources.dataset.model import ColumnType
from scorewright.sources.dataset.refusal import quoted, refuse

if TYPE_CHECKING:
    import polars as pl
    from polars.datatypes import DataTypeClass

    PolarsDataType = pl.DataType | DataTypeClass

_NAIVE = "%Y-%m-%dT%H:%M:%S%.f"
_AWARE = _NAIVE + "%:z"
_TIME = "%H:%M:%S%.f"


def column_type(name: str, kind: pl.DataType, path: Path | None) -> ColumnType:
    """Name a column's type in JSON.

    Raises:
        DatasetError: There is none, as for Python objects in a frame.
    """
    import polars as pl

    for leaf in leaves(kind):
        if not (leaf.is_numeric() or leaf.is_temporal() or isinstance(leaf, _text_types())):
            text = f"column {quoted(name)} is of type {leaf}, which has no form in JSON; convert it"
            raise refuse(path, text)
    if kind.is_nested():
        return "json"
    if kind.is_integer():
        return "integer"
    if kind.is_float():
        return "number"
    if isinstance(kind, pl.Boolean):
        return "boolean"
    return "null" if isinstance(kind, pl.Null) else "string"


def _text_types() -> tuple[type[pl.DataType], ...]:
    import polars as pl

    return (pl.String, pl.Binary, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)


def is_extension(kind: pl.DataType) -> bool:
    """Tell whether a type is another one with a name, which older versions of Polars leave out."""
    return hasattr(kind, "ext_storage")


def plain_type(kind: pl.DataType) -> pl.DataType:
    """Replace maps by lists of pairs, as which older versions of Polars read them anyway.

    An extension type is replaced by what it is stored as; inside of another type it stays.
    """
    if is_extension(kind):
        return _without_maps(_instance(cast("Any", kind).ext_storage()))
    return _without_maps(kind)


def _without_maps(kind: pl.DataType) -> pl.DataType:
    import polars as pl

    # By name, as those older versions lack the class.
    if type(kind).__name__ == "Map":
        pair = cast("Any", kind)
        key, value = _instance(pair.key), _instance(pair.value)
        return pl.List(pl.Struct({"key": _without_maps(key), "value": _without_maps(value)}))
    if isinstance(kind, pl.Struct):
        return pl.Struct({part.name: _without_maps(_instance(part.dtype)) for part in kind.fields})
    if isinstance(kind, pl.List):
        return pl.List(_without_maps(_instance(kind.inner)))
    if isinstance(kind, pl.Array):
        return pl.Array(_without_maps(_instance(kind.inner)), kind.size)
    return kind


def conversions(kind: pl.DataType) -> Iterator[str]:
    """Say what an author may not expect of a type, in a fixed order."""
    import polars as pl

    found = list(leaves(kind))
    if any(isinstance(leaf, pl.Binary) for leaf in found):
        yield "bytes became base64 text"
    if any(isinstance(leaf, pl.Duration) for leaf in found):
        yield "durations became ISO 8601 text"
    if any(leaf.is_decimal() for leaf in found):
        yield "decimals became text, exactly"


def leaves(kind: pl.DataType) -> Iterator[pl.DataType]:
    """List the types that a type is built from."""
    import polars as pl

    if isinstance(kind, pl.Struct):
        for field in kind.fields:
            yield from leaves(_instance(field.dtype))
    elif isinstance(kind, pl.List | pl.Array):
        yield from leaves(_instance(kind.inner))
    else:
        yield kind


def to_json_type(name: str, kind: pl.DataType) -> pl.Expr:
    """Make the expression that turns a column into what the JSON encoder writes as wanted."""
    import polars as pl

    return _convert(pl.col(name), kind).alias(name)


def count_non_finite(series: pl.Series) -> int:
    """Count NaN and infinities at any depth."""
    import polars as pl

    kind = series.dtype
    if kind.is_float():
        return int((~series.is_finite()).sum())
    if not any(leaf.is_float() for leaf in leaves(kind)):
        return 0
    if isinstance(kind, pl.Struct):
        return sum(map(count_non_finite, series.struct.unnest().get_columns()))
    return count_non_finite(series.explode())


def _convert(value: pl.Expr, kind: pl.DataType) -> pl.Expr:
    import polars as pl

    if isinstance(kind, pl.Datetime):
        # As text here: Python's own type ends at microseconds and at the year 9999.
        return value.dt.strftime(_AWARE if kind.time_zone else _NAIVE)
    if isinstance(kind, pl.Time):
        return value.dt.strftime(_TIME)
    if isinstance(kind, pl.Date | pl.Duration):
        return value.dt.to_string("iso")
    if kind.is_decimal():
        return value.cast(pl.String)
    if not any(leaf.is_temporal() or leaf.is_decimal() for leaf in leaves(kind)):
        return value
    return _convert_nested(value, kind)


def _convert_nested(value: pl.Expr, kind: pl.DataType) -> pl.Expr:
    import polars as pl

    if isinstance(kind, pl.Array):
        return _convert_nested(value.arr.to_list(), pl.List(kind.inner))
    if isinstance(kind, pl.List):
        return value.list.eval(_convert(pl.element(), _instance(kind.inner)))
    fields = kind.fields if isinstance(kind, pl.Struct) else []
    parts = [
        _convert(value.struct.field(part.name), _instance(part.dtype)).alias(part.name)
        for part in fields
    ]
    # A struct of nulls is not a null.
    return pl.when(value.is_not_null()).then(pl.struct(parts))


def _instance(kind: PolarsDataType) -> pl.DataType:
    # A type inside another one may be given as its class.
    return kind() if isinstance(kind, type) else kind
