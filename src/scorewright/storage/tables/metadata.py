"""What all tables have in common: the metadata they are part of, and types of columns."""

from __future__ import annotations

import secrets
import time
from typing import Any, Final, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Dialect

#: Names of constraints are the same on both databases, so that migrations can speak of them.
METADATA: Final = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Text(sa.types.TypeDecorator[str]):
    """Text as people write it; PostgreSQL cannot hold U+0000, so it becomes U+FFFD on both databases."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002, D102 - as in the base
        return value if value is None else value.replace("\0", "\ufffd")


class Json(sa.types.TypeDecorator[Any]):
    """A JSON value that can be asked for its members; null in it is SQL's NULL. U+0000 as in `Text`."""

    impl = sa.JSON(none_as_null=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> sa.types.TypeEngine[Any]:  # noqa: D102 - as in the base
        if dialect.name == "postgresql":
            return dialect.type_descriptor(JSONB(none_as_null=True))
        return dialect.type_descriptor(sa.JSON(none_as_null=True))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002, D102 - as in the base
        return without_nul(value)


#: A moment: microseconds since 1970, UTC.
Moment: Final = sa.BigInteger
#: An id of ours: 32 hexadecimal digits that sort by the time they were made.
Id: Final = sa.String(32)


def new_id() -> str:
    """Make an id: the time in milliseconds, and chance that nobody guesses."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def now_us() -> int:
    """Return the present moment."""
    return time.time_ns() // 1000


def without_nul(value: Any) -> Any:
    """Copy a JSON value with U+FFFD for U+0000; the very same one where there is none, as nearly always."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd") if "\0" in value else value
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {without_nul(name): without_nul(part) for name, part in members.items()}
    if isinstance(value, list):
        return [without_nul(part) for part in cast("list[Any]", value)]
    return value
