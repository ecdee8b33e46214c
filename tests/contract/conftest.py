from __future__ import annotations

import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from platforms import readable_copy
from scorewright.runners.jail.supervisor import JailRunner


@pytest.fixture(scope="session")
def shared_folder() -> Generator[Path | None]:
    """Import paths for other users, in a place that they can reach."""
    with tempfile.TemporaryDirectory(prefix="scorewright-") as folder:
        yield from readable_copy(Path(folder))


@pytest.fixture(scope="module")
def jail() -> Generator[JailRunner]:
    """The jail of this machine, as this user has it."""
    runner = JailRunner()
    yield runner
    runner.close()
