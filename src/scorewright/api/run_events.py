"""Watching runs: what changed is told from the run itself, so that any server can go on where another one left."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final

from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from scorewright.api.problem import problem
from scorewright.api.schemas.runs import RunView
from scorewright.services import runs
from scorewright.services.run_model import ENDED, Run
from scorewright.storage.database import Database

_EVERY_S: Final = 0.4
#: A sign of life, for proxies that would close a silent connection.
_SIGN_EVERY_S: Final = 15.0
#: Then the client connects again, with the id of the last event.
_LONGEST_S: Final = 600.0
_LATER: Final = {"Retry-After": "5"}


class Watchers:
    """Who watches: so many at a time, then others are asked to come later.

    Args:
        most: How many may watch at a time.
        most_each: How many of them one caller may be.
    """

    def __init__(self, most: int = 256, most_each: int = 64) -> None:
        self._most = most
        self._most_each = most_each
        self._by_caller = Counter[str]()
        self._lock = threading.Lock()

    def check(self, caller: str) -> None:
        """Make sure that there is a place: before anything is looked up for whoever will get none.

        Raises:
            HTTPException: There is none: 429 where the caller has them, 503 where all have.
        """
        with self._lock:
            self._check(caller)

    @contextmanager
    def place(self, caller: str) -> Generator[None]:
        """Hold a place.

        Raises:
            HTTPException: As for `check`.
        """
        with self._lock:
            self._check(caller)
            self._by_caller[caller] += 1
        try:
            yield
        finally:
            with self._lock:
                self._by_caller[caller] -= 1
                if not self._by_caller[caller]:
                    del self._by_caller[caller]

    def __len__(self) -> int:
        """Count those who watch."""
        with self._lock:
            return self._by_caller.total()

    def _check(self, caller: str) -> None:
        if self._by_caller[caller] >= self._most_each:
            raise HTTPException(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"you watch {self._most_each} runs already; end some, ask for the run itself, or come again later",
                headers=_LATER,
            )
        if self._by_caller.total() >= self._most:
            raise HTTPException(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "too many watch runs already; ask for the run itself, or come again later",
                headers=_LATER,
            )


class RunEvents(StreamingResponse):
    """A stream of events that holds a place while it is sent, and not a moment longer however it ends.

    Args:
        events: What is sent.
        watchers: Whose place it takes.
        caller: Who watches.
    """

    def __init__(self, events: AsyncIterator[bytes], watchers: Watchers, caller: str) -> None:
        super().__init__(
            events, media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )
        self._watchers = watchers
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, until it ends or the client is gone."""
        place = self._watchers.place(self._caller)
        try:
            place.__enter__()
        except HTTPException as full:  # since it was looked whether there is one
            answer = problem(HTTPStatus(full.status_code), full.detail, headers=full.headers)
            await answer(scope, receive, send)
            return
        try:
            await super().__call__(scope, receive, send)
        finally:
            place.__exit__(None, None, None)


async def stream_run(
    database: Database, find: Callable[[], Run], run: Run, seen: int
) -> AsyncIterator[bytes]:
    """Stream a run whenever it changed, until it has ended.

    Args:
        database: Where it is.
        find: Reads it again.
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
            if await run_in_threadpool(runs.change_of, database, run.run_id) != run.change:
                run = await run_in_threadpool(find)
        except SQLAlchemyError:  # it comes back, or the client does
            return
