"""SQLite where there is no file system, and where the same item gives the same result.

What it would sort in a temporary file, it sorts in memory; its chance is drawn from the seeded stream. Its clock
(`'now'`, `CURRENT_TIMESTAMP`) is its own and goes on.
"""

from __future__ import annotations

import functools
import random
import sqlite3
import sqlite3.dbapi2
from typing import Any


def install() -> None:
    """Adapt every connection that is made from now on."""
    original = sqlite3.connect

    @functools.wraps(original)
    def connect(*args: Any, **keywords: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = original(*args, **keywords)
        connection.execute("pragma temp_store = memory")
        connection.create_function("random", 0, _random)
        connection.create_function("randomblob", 1, random.randbytes)
        return connection

    sqlite3.connect = sqlite3.dbapi2.connect = connect


def _random() -> int:
    return random.getrandbits(64) - (1 << 63)
