"""The type of a JSON value, as `Any` would hide what may cross a boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    JsonValue: TypeAlias = (
        bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
    )
else:  # msgspec resolves annotations, and knows no recursive alias before Python 3.12
    JsonValue = Any

JsonObject: TypeAlias = dict[str, JsonValue]
