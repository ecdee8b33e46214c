"""A SQLite database is for one process: two servers on one file would each take the other for dead."""

from __future__ import annotations

import fcntl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import make_url

from scorewright.domain.errors import StorageError


@contextmanager
def sole_user(url: str) -> Generator[None]:
    """Be the only process that serves, works on or migrates a SQLite database; nothing for another kind.

    The kernel holds the lock, for this process and none that it starts: it is free once the process is gone, however
    that ended.

    Args:
        url: The database's.

    Raises:
        StorageError: Ours: another process is, or the file of the lock cannot be written.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        yield
        return
    path = Path(f"{Path(parsed.database).resolve()}-lock")
    try:
        file = path.open("ab")
    except OSError as error:
        raise StorageError(f"database: {path} cannot be written: {error.strerror}") from error
    with file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StorageError(
                f"database: {parsed.database} is in use by another scorewright process; stop that one, or use "
                "PostgreSQL for several"
            ) from None
        yield
