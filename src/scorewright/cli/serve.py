"""The bodies of `scorewright serve`, `scorewright worker` and `scorewright migrate`."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn
from sqlalchemy.engine import make_url

from scorewright.api.app import create_app
from scorewright.api.composition import make_context, make_pool
from scorewright.api.context import Context
from scorewright.cli.demo_report import print_demo
from scorewright.cli.server_log import start_log
from scorewright.cli.speech import say
from scorewright.domain.errors import UsageError
from scorewright.services.access import NewKey, ensure_first_key, make_general_key
from scorewright.services.demo import load_demo, wait_for_runs
from scorewright.services.run_worker import RunWorker
from scorewright.services.runner_pool import RunnerPool
from scorewright.services.server_parts import make_parts
from scorewright.services.settings import Settings, read_settings, url_host
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import ensure_default_project
from scorewright.storage.schema import migrate, require_current
from scorewright.storage.sole_user import sole_user

#: How long requests may take that are in progress when the server is told to stop.
_FINISH_S: Final = 30
_BACKLOG: Final = 2048
#: How long a link serves that replaces a lost one.
_LINK_DAYS: Final = 7
_LINK_US: Final = _LINK_DAYS * 24 * 3600 * 1_000_000
#: How long the demo's runs may take; they need about a second.
_DEMO_S: Final = 60
#: How long a server waits for them before it answers.
_DEMO_AT_START_S: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What `serve` was given; None where the environment or a default decides."""

    host: str | None
    port: int | None
    database_url: str | None
    runs_per_project: int | None
    no_auth: bool
    migrate: bool
    login_link: bool
    no_worker: bool
    demo: bool


class _Server(uvicorn.Server):
    """Lets long answers know that they should end."""

    def __init__(self, config: uvicorn.Config, context: Context) -> None:
        super().__init__(config)
        self._context = context

    def handle_exit(self, sig: int, frame: object) -> None:
        """Take the signal to stop."""
        self._context.stopping.set()
        super().handle_exit(sig, frame)  # pyright: ignore[reportArgumentType] - a frame, as it was given


@contextmanager
def _opened(settings: Settings) -> Generator[Database]:
    """Open the database; a SQLite file for this process alone."""
    database = _open(settings)
    try:
        with sole_user(settings.database_url):
            yield database
    finally:
        database.close()


def serve_command(options: ServeOptions) -> int:
    """Serve until told to stop; what is in progress then is finished.

    Args:
        options: What was asked for.

    Returns:
        The exit code.

    Raises:
        UsageError: Settings that cannot be used, or an address that cannot be listened at.
        StorageError: The database is not there, or its tables are of another version.
    """
    settings = read_settings(
        os.environ,
        host=options.host,
        port=options.port,
        database_url=options.database_url,
        runs_per_project=options.runs_per_project,
        no_auth=options.no_auth,
    )
    with _opened(settings) as database:
        if database.is_sqlite and options.no_worker:
            raise UsageError(
                "--no-worker: with SQLite nobody else can work on runs; use PostgreSQL"
            )
        _serve_with(database, settings, options)
    return 0


def _serve_with(database: Database, settings: Settings, options: ServeOptions) -> None:
    with closing(_listen(settings)) as listener:
        if database.is_sqlite or options.migrate:
            migrate(database)
        require_current(database)
        start_log()
        ensure_default_project(database)
        started = load_demo(database, make_parts(database)) if options.demo else []
        signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
        pool = make_pool(settings, os.environ)
        working = nullcontext() if options.no_worker else _working(database, settings, pool)
        with working as worker:
            if started and worker and wait_for_runs(database, started, at_most_s=_DEMO_AT_START_S):
                print_demo(database, started)
            _tell(settings, listener.getsockname()[1], _login_key(database, settings, options))
            _serve(database, settings, listener, pool, worker)


def demo_command(database_url: str | None) -> int:
    """Put the demo into a database, and run its tasks.

    Args:
        database_url: None where the environment or a default decides.

    Returns:
        The exit code.

    Raises:
        StorageError: The database is not there, or its tables are of another version.
    """
    settings = read_settings(os.environ, database_url=database_url)
    with _opened(settings) as database:
        if database.is_sqlite:
            migrate(database)
        require_current(database)
        ensure_default_project(database)
        started = load_demo(database, make_parts(database))
        if not started:
            say("the demo is there already")
            return 0
        with _working(database, settings):
            if not wait_for_runs(database, started, at_most_s=_DEMO_S):
                say("the demo is loaded, but its runs do not end; see scorewright runner check")
                return 1
        print_demo(database, started)
    say("the demo is loaded: scorewright serve shows it")
    return 0


def worker_command(database_url: str | None, *, runs_per_project: int | None = None) -> int:
    """Work on the runs of a server until told to stop; what is under way then is handed back.

    Args:
        database_url: None where the environment or a default decides.
        runs_per_project: Runs of one project that are worked on at a time; None likewise.

    Returns:
        The exit code.

    Raises:
        UsageError: The database is SQLite, whose server works by itself.
        StorageError: The database is not there, or its tables are of another version.
    """
    settings = read_settings(
        os.environ, database_url=database_url, runs_per_project=runs_per_project
    )
    database = _open(settings)
    try:
        if database.is_sqlite:
            raise UsageError(
                "worker: SQLite is for one process, the server, which works on runs by itself; "
                "with PostgreSQL, workers on any machine can help: --database postgresql://USER@HOST/NAME"
            )
        require_current(database)
        start_log()
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: stop.set())
        with _working(database, settings) as worker:
            print(f"working on runs as {worker.executor_id}")
            sys.stdout.flush()
            stop.wait()
    finally:
        database.close()
    return 0


@contextmanager
def _working(
    database: Database, settings: Settings, pool: RunnerPool | None = None
) -> Generator[RunWorker]:
    """Work on runs until the block ends; what is under way then is handed back."""
    worker = RunWorker(
        database,
        settings.database_url,
        make_parts(database, runs_per_project=settings.runs_per_project),
        pool=pool or make_pool(settings, os.environ, is_warm=False),
        cache_folder=settings.data_folder / "cache",
    )
    worker.start()
    try:
        yield worker
    finally:
        worker.close()


def migrate_command(database_url: str | None) -> int:
    """Bring the tables of the database to where this version has them.

    Args:
        database_url: None where the environment or a default decides.

    Returns:
        The exit code.
    """
    with _opened(read_settings(os.environ, database_url=database_url)) as database:
        is_changed = migrate(database)
    say("migrated" if is_changed else "nothing to migrate")
    return 0


def _open(settings: Settings) -> Database:
    database = Database(settings.database_url)
    if database.is_sqlite:
        file = make_url(settings.database_url).database
        folder = Path(file or ".").parent
        if folder == settings.data_folder:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return database


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server(
            (settings.host, settings.port), family=family, backlog=_BACKLOG, reuse_port=False
        )
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen at {settings.host}, port {settings.port}: {error}; choose others with --host and --port"
        ) from None


def _login_key(database: Database, settings: Settings, options: ServeOptions) -> NewKey | None:
    if settings.no_auth:
        return None
    first = ensure_first_key(database)
    if first is None and options.login_link:
        return make_general_key(database, "login link", for_us=_LINK_US)
    return first


def _tell(settings: Settings, port: int, key: NewKey | None) -> None:
    """Print where the server is, for people and for whoever waits for it."""
    address = f"http://{url_host(settings.host)}:{port}"
    if settings.no_auth:
        print(f"Scorewright is at {address} without authentication")
    elif key is None:
        print(f"Scorewright is at {address}")
    else:
        lasts = "" if key.key.expires_us is None else f" for {_LINK_DAYS} days"
        print(f"Scorewright is at {address}; this link logs in{lasts} and is shown once:")
        print(f"{address}/login?token={key.secret}")
    sys.stdout.flush()


def _serve(
    database: Database,
    settings: Settings,
    listener: socket.socket,
    pool: RunnerPool,
    worker: RunWorker | None,
) -> None:
    wake = worker.wake if worker else lambda: None
    context = make_context(database, settings, wake_worker=wake, pool=pool)
    context.sandboxes.start()
    config = uvicorn.Config(
        create_app(context),
        log_config=None,
        access_log=False,  # ours has no query strings, where tokens are
        server_header=False,
        timeout_graceful_shutdown=_FINISH_S,
    )
    server = _Server(config, context)
    # Before it runs the signal would end us at once, and when it has stopped it sends the signal again.
    signal.signal(signal.SIGTERM, server.handle_exit)
    server.run(sockets=[listener])
