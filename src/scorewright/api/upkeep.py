"""What a server does by itself now and then: puts large traces together, writes when keys were used, forgets what is over."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from scorewright.api.context import Context
from scorewright.services.access import forget_expired_sessions
from scorewright.services.ingest import settle_traces
from scorewright.services.once import forget_old

_EVERY_S: Final = 1.0
#: These are rarer: once in so many times.
_STORE_EVERY: Final = 30
_FORGET_EVERY: Final = 1_800
_log = structlog.get_logger(__name__)


async def look_after(context: Context) -> None:
    """Do it again and again, until cancelled."""
    times = 0
    while True:
        if times % _FORGET_EVERY == 0:
            await asyncio.to_thread(_forget, context)
        if times % _STORE_EVERY == _STORE_EVERY - 1:
            await asyncio.to_thread(store_last_used, context)
        await asyncio.to_thread(_settle, context)
        await asyncio.sleep(_EVERY_S)
        times += 1


def store_last_used(context: Context) -> None:
    """Write when keys were used last; a database that cannot be written to now is tried again with later uses."""
    try:
        context.last_used.store(context.database)
    except SQLAlchemyError as error:
        _log.warning("uses of keys are not stored", error=type(error).__name__)


def _settle(context: Context) -> None:
    try:
        settle_traces(context.database)
    except SQLAlchemyError as error:
        _log.warning("large traces are not put together", error=type(error).__name__)


def _forget(context: Context) -> None:
    try:
        forget_old(context.database)
        forget_expired_sessions(context.database)
    except SQLAlchemyError as error:
        _log.warning("old rows are not removed", error=type(error).__name__)
