"""A disk of a test's own, which can be full and have room again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from databases import skip_or_fail

#: In `SCOREWRIGHT_TESTS_REQUIRE`.
NAME: Final = "mounts"
_BALLAST: Final = "ballast"


class SmallDisk:
    """A file system in memory, of a few megabytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / _BALLAST

    def fill(self) -> None:
        """Leave no byte."""
        with self._ballast.open("ab", buffering=0) as ballast:
            for size in (1 << 16, 1):
                try:
                    while ballast.write(b"x" * size):
                        pass
                except OSError:
                    continue

    def make_room(self) -> None:
        """Have all of it free again that nobody else holds."""
        self._ballast.unlink()


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Generator[SmallDisk]:
    """Have a small disk at a folder; skips the test that asks where nobody may mount one, or fails it where that is required."""
    folder.mkdir()
    how = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "scorewright-tests", folder]
    try:
        if os.geteuid() != 0:
            skip_or_fail(NAME, "needs a disk of its own: only root mounts one")
        mounted = subprocess.run(how, check=False, capture_output=True, text=True)
        if mounted.returncode:
            skip_or_fail(NAME, f"needs a disk of its own: {mounted.stderr.strip()}")
        yield SmallDisk(folder)
    finally:
        # Lazily: whoever still has a file open there does not keep the test from ending.
        subprocess.run(["umount", "-l", folder], check=False, capture_output=True)
