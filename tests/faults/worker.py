"""A process that works on runs until it is killed: `worker.py DATABASE_URL`.

Its chunks are small, so that a kill at a random moment often hits one that is just being stored.
"""

from __future__ import annotations

import signal
import sys
from typing import Any, cast

from run_parts import make_parts
from scorewright.cli.server_log import start_log
from scorewright.services import run_work, run_worker
from scorewright.storage.database import Database


def main(url: str) -> None:
    start_log()  # not on stdout, which is read here
    settings = cast("Any", run_work)
    settings._MAX_ITEMS, settings._STORE_EVERY_S = 40, 0.05
    cast("Any", run_worker)._TICK_S = 0.1
    worker = run_worker.RunWorker(Database(url), url, make_parts(), workers=1, dead_after_s=2.0)
    worker.start()
    sys.stdout.write("started\n")
    sys.stdout.flush()
    signal.sigwait({signal.SIGTERM})
    worker.close()


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main(sys.argv[1])
