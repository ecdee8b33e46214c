"""Whether the server can do its work: its database, the tables in it, and the sandboxes of this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec
import sqlalchemy as sa
import structlog
from sqlalchemy.exc import SQLAlchemyError

from scorewright.services.self_check import Breached, TierCheck, Unavailable, check_tiers
from scorewright.storage.database import Database
from scorewright.storage.schema import is_current

State = Literal["ok", "failing", "checking", "unavailable", "not checked"]
_JAIL: Final = "jail"
_log = structlog.get_logger(__name__)


class Readiness(msgspec.Struct, frozen=True):
    """What was found."""

    is_ready: bool
    #: By what was checked; sandboxes as `runner.NAME`.
    checks: dict[str, State]


class SandboxCheck:
    """Checks the sandboxes in the background.

    Args:
        check: What tries them.
    """

    def __init__(self, check: Callable[[], Sequence[TierCheck]] = check_tiers) -> None:
        self._check = check
        self._thread: threading.Thread | None = None
        self._states: dict[str, State] = {"runner": "not checked"}
        self._is_ready = True

    def start(self) -> None:
        """Begin; until it is done the server is not ready."""
        self._states = {"runner": "checking"}
        self._is_ready = False
        self._thread = threading.Thread(target=self._run, name="sandbox check", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until it is done."""
        if self._thread is not None:
            self._thread.join()

    def state(self) -> tuple[bool, dict[str, State]]:
        """Return whether evaluators may run, and the state of each sandbox."""
        return self._is_ready, dict(self._states)

    def _run(self) -> None:
        try:
            checks = self._check()
        except Exception as error:  # noqa: BLE001 - a thread's end would be silent
            _log.exception("sandbox check failed", exc_info=error)
            self._states = {"runner": "failing"}
            return
        for one in checks:
            _tell(one)
        self._states = {f"runner.{one.tier}": _state(one) for one in checks}
        # What leaks must not be used; what is not there is refused by name when it is asked for. Without the jail
        # nothing that most evaluators are written in can run.
        self._is_ready = "failing" not in self._states.values() and (
            self._states.get(f"runner.{_JAIL}", "ok") == "ok"
        )


def readiness(database: Database, sandboxes: SandboxCheck, reader: State) -> Readiness:
    """Find out whether the server can do its work.

    Args:
        database: Where everything is.
        sandboxes: What was found out about them.
        reader: Whether author sources are read in the jail; without one they are still read.
    """
    checks: dict[str, State] = {"database": "ok", "migrations": "ok"}
    try:
        with database.read() as connection:
            connection.execute(sa.select(1))
        if not is_current(database):
            checks["migrations"] = "failing"
    except SQLAlchemyError as error:
        _log.warning("database cannot be reached", error=type(error).__name__)
        checks.update(database="failing", migrations="failing")
    may_run, states = sandboxes.state()
    is_ready = may_run and "failing" not in checks.values()
    return Readiness(is_ready, {**checks, **states, "reader": reader})


def _state(check: TierCheck) -> State:
    if isinstance(check.state, Breached):
        return "failing"
    return "unavailable" if isinstance(check.state, Unavailable) else "ok"


def _tell(check: TierCheck) -> None:
    if isinstance(check.state, Breached):
        _log.error("sandbox leaks", tier=check.tier, probes=list(check.state.probes))
    elif isinstance(check.state, Unavailable):
        _log.warning("sandbox is not to be had", tier=check.tier, reason=check.state.reason)
    else:
        _log.info("sandbox holds", tier=check.tier, probes=check.probes_tried)
