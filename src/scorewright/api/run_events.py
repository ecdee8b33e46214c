"""Watching runs: what changed is told from the run itself, so that any server can go on where another one left."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from scorewright.api.schemas.runs import RunView
from scorewright.services import runs
from scorewright.services.run_model import ENDED, Run
from scorewright.storage.database import Database

_EVERY_S: Final = 0.4
#: A sign of life, for proxies that would close a silent connection.
_SIGN_EVERY_S: Final = 15.0
#: Then the client connects again, with the id of the last event.
_LONGEST_S: Final = 600.0


class Watchers:
    """Who watches: so many at a time, then others are asked to come later.

    Args:
        most: How many may watch at a time.
    """

    def __init__(self, most: int = 256) -> None:
        self._free = threading.BoundedSemaphore(most)

    def take(self) -> Self:
        """Take a place, to be left by leaving the context.

        Raises:
            HTTPException: There is none.
        """
        if not self._free.acquire(blocking=False):
            raise HTTPException(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "too many watch runs already; ask for the run itself, or come again later",
                headers={"Retry-After": "5"},
            )
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._free.release()


async def stream_run(
    database: Database, project_id: str, run: Run, seen: int
) -> AsyncIterator[bytes]:
    """Stream a run whenever it changed, until it has ended.

    Args:
        database: Where it is.
        project_id: Whose it is.
        run: As it is.
        seen: The change that the client knows already.
    """
    yield b"retry: 1000\n\n"
    began_s = sent_s = time.monotonic()
    while True:
        if run.change > seen:
            seen, sent_s = run.change, time.monotonic()
            body = RunView.of(run).model_dump_json()
            yield f"id: {run.change}\nevent: run\ndata: {body}\n\n".encode()
        if run.status in ENDED or time.monotonic() - began_s > _LONGEST_S:
            return
        if time.monotonic() - sent_s > _SIGN_EVERY_S:
            sent_s = time.monotonic()
            yield b": still there\n\n"
        await asyncio.sleep(_EVERY_S)
        try:
            run = await run_in_threadpool(runs.find, database, project_id, run.run_id)
        except SQLAlchemyError:  # it comes back, or the client does
            return
