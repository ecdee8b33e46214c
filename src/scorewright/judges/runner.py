"""Judges of one connection: an event loop in a thread of its own, whatever the number of judges and models."""

from __future__ import annotations

import asyncio
from threading import Thread
from typing import Final

from scorewright.domain.result import Failed, FailureCode
from scorewright.judges.asking import AskError, ModelAsker
from scorewright.judges.budget import Budget
from scorewright.judges.connection import VENDORS, Connection, find_connection
from scorewright.judges.definition import read_prompt
from scorewright.judges.limits import Gate
from scorewright.judges.prompt import WRAPPER_VERSION
from scorewright.judges.verdict import Judge, JudgeModel
from scorewright.judges.worker import JudgeDialect, JudgeWorker
from scorewright.runners.base import Limits, RunnerReport
from scorewright.runners.harness.protocol import Load

#: Seconds that open connections get to be closed.
_JOIN_S: Final = 5.0


class JudgeRunner:
    """Asks the models of one connection.

    Args:
        connection: Where they are.
        budget: Of the whole run.
    """

    tier = "judge"
    #: No code of an author runs here.
    jailed = True
    #: A model may say something else the next time. Its results are kept all the same: each has cost money.
    pure = False
    most_workers = 1

    def __init__(self, connection: Connection, budget: Budget) -> None:
        self._connection = connection
        self._budget = budget
        self._models: dict[str, JudgeModel] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        #: So that there are always as many items under way as may be asked about at a time.
        self.least_batch = connection.concurrency

    def start(self) -> None:
        """Start the loop."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(
                target=self._work, args=(self._loop,), name="scorewright-judges", daemon=True
            )
            self._thread.start()

    def spawn(self, limits: Limits) -> JudgeWorker:  # noqa: ARG002 - as in `Runner`: code has bounds, a request has its connection's
        """As in `Runner`."""
        self.start()
        assert self._loop is not None  # noqa: S101 - started
        return JudgeWorker(self._loop, self._make_judge)

    def prepare(self, limits: Limits) -> None:
        """Nothing: there is no worker to be made ready."""

    def dialect(self, load: Load) -> JudgeDialect:
        """As in `Runner`."""
        return JudgeDialect(load)

    def report(self) -> RunnerReport:
        """Say what results rest on beside the judge: whom is asked, and our own words."""
        engine = f"{self._connection.place} / prompt {WRAPPER_VERSION}"
        return RunnerReport(self.tier, engine, ("no_author_code",))

    def close(self) -> None:
        """Give up what is under way, and end the loop."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = self._thread = None
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_JOIN_S)

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            for model in self._models.values():
                loop.run_until_complete(model.asker.close())
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    def _make_judge(self, load: Load) -> Judge | Failed:
        name = next((str(one.value) for one in load.plan if one.name == "model"), "")
        try:
            model = self._models.get(name) or self._add_model(name)
        except AskError as error:
            return Failed(FailureCode.JUDGE_ERROR, str(error))
        return Judge(load, read_prompt(load), model, self._budget)

    def _add_model(self, name: str) -> JudgeModel:
        _, own_name = find_connection(name, {self._connection.name: self._connection})
        model = JudgeModel(
            name,
            own_name,
            VENDORS.get(self._connection.kind),
            ModelAsker(self._connection, own_name),
            Gate(self._connection),
            [],
        )
        self._models[name] = model
        return model
