"""A server that works on runs itself until it is killed: `server.py DATABASE_URL`; prints its address. As `worker.py`."""

from __future__ import annotations

import socket
import sys
from typing import Any, cast

import uvicorn

from run_parts import make_parts
from scorewright.api.app import create_app
from scorewright.api.context import Context
from scorewright.cli.server_log import start_log
from scorewright.services import run_work, run_worker
from scorewright.services.settings import Settings
from scorewright.storage.database import Database
from scorewright.storage.sole_user import sole_user


def main(url: str) -> None:
    start_log()  # not on stdout, which is read here
    work = cast("Any", run_work)
    work._MAX_ITEMS, work._STORE_EVERY_S = 40, 0.05
    cast("Any", run_worker)._TICK_S = 0.1
    database = Database(url)
    with sole_user(url), socket.create_server(("127.0.0.1", 0)) as listener:
        worker = run_worker.RunWorker(database, url, make_parts(), workers=1, dead_after_s=2.0)
        context = Context(
            database,
            run_parts=make_parts(),
            wake_worker=worker.wake,
            settings=Settings(no_auth=True),
        )
        config = uvicorn.Config(create_app(context), log_config=None)
        worker.start()
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
