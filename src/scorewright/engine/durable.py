"""Durable work: what was begun is gone on with, by this process or another one, until it says that it is done.

It is DBOS that remembers it, in a database of its own kind beside ours. One step of work is done and noted as such
before the next one begins. A step that was cut off is done again, so each must bear that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from scorewright.storage.database import postgres_engine

if TYPE_CHECKING:
    from dbos import DBOS

#: Does a step of what the first text names, as the work that the second one names; tells whether there is more.
Step: TypeAlias = Callable[[str, str], bool]

QUEUE: Final = "runs"
_POLL_S: Final = 0.1
#: Connections to PostgreSQL that DBOS may have.
_CONNECTIONS: Final = 12
#: Work is given up after so many interruptions: never.
_MAX_RECOVERIES: Final = 1_000_000_000
#: Statuses of work that will not go on by itself.
_OVER: Final = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")

#: What the workflow calls: DBOS knows one set of functions per process.
_steps: dict[str, Step] = {}
#: Works that are in progress in this process.
_under_way: set[str] = set()


class Durable:
    """The durable work of one process; there can be one at a time.

    Args:
        database_url: Of our database; DBOS's is derived from it.
        executor_id: Of this process: no other one has it.
        step: Does one step of work.
        concurrency: Works that this process takes from the queue at a time.
    """

    def __init__(
        self, database_url: str, *, executor_id: str, step: Step, concurrency: int
    ) -> None:
        from dbos import DBOS

        # What it logs as errors are turns that are foreseen here, such as work that another process took over.
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        _steps["step"] = step
        self._dbos: type[DBOS] = DBOS
        self._concurrency = concurrency
        self._executor_id = executor_id
        url = system_url(database_url)
        #: Ours where it is PostgreSQL: one that notices a cut in the network.
        self._engine = _engine(url)
        DBOS(
            config={
                "name": "scorewright",
                "system_database_url": url,
                "system_database_engine": self._engine,
                "executor_id": executor_id,
                # Work that an older version of ours has left is gone on with.
                "application_version": "1",
                "log_level": "CRITICAL",
                "max_executor_threads": concurrency + 4,
                "notification_listener_polling_interval_sec": 1.0,
            }
        )
        self._workflow = _register(DBOS)

    def launch(self) -> None:
        """Begin to work."""
        self._dbos.launch()
        self._dbos.register_queue(
            QUEUE, worker_concurrency=self._concurrency, polling_interval_sec=_POLL_S
        )

    def start(self, work_id: str, subject: str) -> None:
        """Begin work in this process, whatever else it does; nothing where there is work of that id already."""
        from dbos import SetWorkflowID

        with SetWorkflowID(work_id):
            self._dbos.start_workflow(self._workflow, subject)

    def enqueue(self, work_id: str, subject: str) -> None:
        """Have work done by whoever is free; nothing where there is work of that id already."""
        from dbos import SetWorkflowID

        with SetWorkflowID(work_id):
            self._dbos.enqueue_workflow(QUEUE, self._workflow, subject)

    def is_over(self, work_id: str) -> bool:
        """Tell whether work has ended, was never begun, or was begun here and goes on no more.

        The last is what a full disk makes of it: a step that cannot be noted ends the work, and so does its end.
        """
        status = self._dbos.get_workflow_status(work_id)
        if status is None or status.status in _OVER:
            return True
        is_ours = status.status == "PENDING" and status.executor_id == self._executor_id
        return is_ours and work_id not in _under_way

    def take_over(self, executor_id: str) -> None:
        """Have others do what a process that is gone was doing."""
        left = self._dbos.list_workflows(
            status="PENDING", executor_id=executor_id, load_input=False, load_output=False
        )
        if left:
            self._dbos.resume_workflows([one.workflow_id for one in left], queue_name=QUEUE)

    def close(self, *, patience_s: int) -> None:
        """Stop, once the steps under way have ended or this time is over."""
        self._dbos.destroy(workflow_completion_timeout_sec=patience_s)
        if self._engine is not None:
            self._engine.dispose()


def system_url(database_url: str) -> str:
    """Return where DBOS keeps what it remembers: a file beside ours, or a schema of the same database."""
    parsed = make_url(database_url)
    if parsed.get_backend_name() == "sqlite":
        return _text(parsed.set(database=f"{parsed.database}-engine"))
    return _text(parsed.set(drivername="postgresql+psycopg"))


def _engine(url: str) -> sa.Engine | None:
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return None
    return postgres_engine(parsed, pool_size=_CONNECTIONS, max_overflow=0)


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def _register(dbos: type[DBOS]) -> Any:
    """Tell DBOS the two functions; telling it again changes nothing."""

    def work_step(subject: str, work_id: str) -> bool:
        return _steps["step"](subject, work_id)

    noted_step = dbos.step(name="step")(work_step)

    def work(subject: str) -> None:
        work_id = dbos.workflow_id
        assert work_id is not None  # noqa: S101 - inside a workflow
        _under_way.add(work_id)
        try:
            while noted_step(subject, work_id):
                pass
        finally:
            _under_way.discard(work_id)

    return dbos.workflow(name="work", max_recovery_attempts=_MAX_RECOVERIES)(work)
