"""Results of earlier runs by what they rest on, in one SQLite file.

Nothing here is needed to be right: a file that is damaged, locked or full costs time, never a result.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import msgspec

from scorewright.domain.result import ItemOutcome

#: Part of the file's name: another form gets another file.
_FORM = 1
_MAX_BYTES = 512 << 20
#: How long to wait for another run that writes.
_BUSY_S = 1.0
_TABLES = """
create table if not exists lane (id blob primary key, evaluator text, used_s real) without rowid;
create table if not exists result (key blob primary key, lane blob, outcome blob) without rowid;
create index if not exists lane_of_evaluator on lane (evaluator);
create index if not exists result_of_lane on result (lane);
"""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ItemOutcome).decode


class ResultCache:
    """The cache of one folder.

    A *lane* is what all results of one evaluator have in common: its digest, the environment, mapping and params.

    Args:
        folder: Made when the first result is kept.
        max_bytes: Above this the lanes that were not used for longest go.
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

    def get(self, key: bytes) -> ItemOutcome | None:
        """Return the outcome that is kept under a key."""
        rows = self._ask("select outcome from result where key = ?", (key,))
        if not rows:
            return None
        try:
            return _decode(rows[0][0])
        except msgspec.DecodeError:
            return None

    def put(
        self, lane: bytes, evaluator: str, results: Sequence[tuple[bytes, ItemOutcome]]
    ) -> None:
        """Keep outcomes of one lane under their keys.

        Args:
            lane: What they have in common.
            evaluator: The digest of their evaluator.
            results: Keys and outcomes.
        """
        connection = self._open()
        if connection is None:
            return
        with self._watching(), connection:  # one transaction
            connection.execute(
                "insert or replace into lane values (?, ?, ?)", (lane, evaluator, time.time())
            )
            connection.executemany(
                "insert or replace into result values (?, ?, ?)",
                [(key, lane, _encode(outcome)) for key, outcome in results],
            )

    def drop(self, lane: bytes) -> None:
        """Forget all results of a lane: they are not what they were taken for."""
        if self._connection is not None:
            with self._watching(), self._connection as connection:
                _drop(connection, lane)

    def close(self, used: Sequence[bytes] = ()) -> None:
        """Note which lanes were used, let the oldest go where there is too much, and close the file."""
        connection = self._connection
        if connection is None:
            return
        with self._watching():
            with connection:
                connection.executemany(
                    "update lane set used_s = ? where id = ?", [(time.time(), one) for one in used]
                )
            self._shrink(connection)
        connection.close()
        self._connection = None

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is None and self.trouble is None:
            with self._watching():
                self._make_folder()
                connection = sqlite3.connect(self._path, timeout=_BUSY_S)
                try:
                    # What a loss of power takes away is computed again.
                    connection.executescript(
                        "pragma journal_mode = wal; pragma synchronous = off;" + _TABLES
                    )
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

    def _ask(self, query: str, values: Sequence[object]) -> list[tuple[bytes]]:
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

    def _shrink(self, connection: sqlite3.Connection) -> None:
        (size,) = connection.execute("pragma page_size").fetchone()
        while True:
            pages, free = (
                connection.execute(f"pragma {name}").fetchone()[0]
                for name in ("page_count", "freelist_count")
            )
            oldest = connection.execute("select id from lane order by used_s limit 1").fetchone()
            if (pages - free) * size <= self._max_bytes or oldest is None:
                return
            with connection:
                _drop(connection, oldest[0])


def _drop(connection: sqlite3.Connection, lane: bytes) -> None:
    connection.execute("delete from result where lane = ?", (lane,))
    connection.execute("delete from lane where id = ?", (lane,))
