"""Results of earlier runs by what they rest on, in one SQLite file.

Nothing here is needed to be right: a file that is damaged, locked or full costs time, never a result.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Generator, Sequence
from hashlib import blake2b
from pathlib import Path

#: Part of the file's name: another form gets another file.
_FORM = 1
_MAX_BYTES = 512 << 20
#: How long to wait for another run that writes.
_BUSY_S = 1.0
#: What a loss of power takes away is computed again.
_SETTINGS = "pragma auto_vacuum = incremental; pragma journal_mode = wal; pragma synchronous = off;"
_TABLES = """
create table if not exists lane (id blob primary key, evaluator text, used_s real) without rowid;
create table if not exists result (key blob primary key, lane blob, seal blob, outcome blob) without rowid;
create index if not exists lane_of_evaluator on lane (evaluator);
create index if not exists result_of_lane on result (lane);
"""


class ResultCache:
    """The cache of one folder.

    A *lane* is what all results of one evaluator have in common: its digest, the environment, mapping and params.

    Args:
        folder: Made when the first result is kept.
        max_bytes: Above this nothing more is kept, and the lanes that were not used for longest go.
    """

    def __init__(self, folder: Path, *, max_bytes: int = _MAX_BYTES) -> None:
        self._folder = folder
        self._path = folder / f"results-{_FORM}.sqlite"
        self._max_bytes = max_bytes
        self._connection: sqlite3.Connection | None = None
        #: Why nothing more is read from or written to it; None while all is well.
        self.trouble: str | None = None
        if self._path.exists():
            self._open()

    def knows(self, evaluator: str) -> bool:
        """Whether there may be any result of an evaluator, by its digest."""
        return bool(self._ask("select 1 from lane where evaluator = ? limit 1", (evaluator,)))

    def has_lane(self, lane: bytes) -> bool:
        """Whether there may be any result in a lane."""
        return bool(self._ask("select 1 from lane where id = ?", (lane,)))

    def get(self, key: bytes) -> bytes | None:
        """Return what is kept under a key; None also for what is not as it was put in."""
        rows = self._ask("select seal, outcome from result where key = ?", (key,))
        seal, outcome = rows[0] if rows else (None, None)
        if isinstance(outcome, bytes) and seal == _seal(key, outcome):
            return outcome
        return None

    def put(self, lane: bytes, evaluator: str, results: Sequence[tuple[bytes, bytes]]) -> None:
        """Keep outcomes of one lane under their keys, while there is room.

        Args:
            lane: What they have in common.
            evaluator: The digest of their evaluator.
            results: Keys, and outcomes as bytes.
        """
        connection = self._open()
        if connection is None:
            return
        with self._watching(), connection:  # one transaction
            if _used_bytes(connection) > self._max_bytes:
                return
            connection.execute(
                "insert or replace into lane values (?, ?, ?)", (lane, evaluator, time.time())
            )
            connection.executemany(
                "insert or replace into result values (?, ?, ?, ?)",
                [(key, lane, _seal(key, outcome), outcome) for key, outcome in results],
            )

    def drop(self, lane: bytes) -> None:
        """Forget all results of a lane: they are not what they were taken for."""
        if self._connection is not None:
            with self._watching(), self._connection as connection:
                _drop(connection, lane)

    def close(self, used: Sequence[bytes] = ()) -> None:
        """Make room by letting the oldest lanes go, but none of those that were used, and close the file."""
        connection = self._connection
        if connection is None:
            return
        with self._watching():
            with connection:
                connection.executemany(
                    "update lane set used_s = ? where id = ?", [(time.time(), one) for one in used]
                )
            self._shrink(connection, set(used))
        connection.close()
        self._connection = None

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is None and self.trouble is None:
            with self._watching():
                self._make_folder()
                connection = sqlite3.connect(self._path, timeout=_BUSY_S)
                try:
                    connection.executescript(_SETTINGS + _TABLES)
                except sqlite3.Error:
                    connection.close()
                    raise
                self._connection = connection
        return self._connection

    def _make_folder(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        ignore = self._folder.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")

    def _ask(self, query: str, values: Sequence[object]) -> list[tuple[object, ...]]:
        if self._connection is None:
            return []
        with self._watching():
            return self._connection.execute(query, values).fetchall()
        return []

    @contextlib.contextmanager
    def _watching(self) -> Generator[None]:
        """Do without the cache from now on where SQLite or the file system does not play along."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self.trouble = f"{self._path}: {error}"
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if type(error) is sqlite3.DatabaseError:  # it is no database: the next run starts a new one
            with contextlib.suppress(OSError):
                for path in self._folder.glob(f"{self._path.name}*"):
                    path.unlink()

    def _shrink(self, connection: sqlite3.Connection, used: set[bytes]) -> None:
        for (lane,) in connection.execute("select id from lane order by used_s").fetchall():
            if _used_bytes(connection) <= self._max_bytes:
                break
            if lane not in used:
                with connection:
                    _drop(connection, lane)
        connection.execute("pragma incremental_vacuum").fetchall()


def _seal(key: bytes, outcome: bytes) -> bytes:
    """Return what tells an outcome from one that a fault of the disk has made of it."""
    return blake2b(outcome, key=key, digest_size=8).digest()


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"pragma {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _drop(connection: sqlite3.Connection, lane: bytes) -> None:
    connection.execute("delete from result where lane = ?", (lane,))
    connection.execute("delete from lane where id = ?", (lane,))
