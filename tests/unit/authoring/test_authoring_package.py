"""The package as every sandbox process loads it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from scorewright import authoring

PACKAGE = Path(authoring.__file__).parents[1]

# The parent package is stood in for, so that only what `authoring` itself imports is seen.
PROBE = """
import sys, types
parent = types.ModuleType("scorewright")
parent.__path__ = [sys.argv[1]]
sys.modules["scorewright"] = parent
before = set(sys.modules)
import scorewright.authoring
print(*sorted(name for name in set(sys.modules) - before if not name.startswith("scorewright")))
"""


def test_importing_it_loads_nothing_else():
    run = subprocess.run(
        [sys.executable, "-S", "-c", PROBE, str(PACKAGE)],
        check=True,
        capture_output=True,
        text=True,
    )

    assert run.stdout.split() == ["__future__"]


def test_everything_it_lists_is_there_and_in_order():
    assert authoring.__all__ == sorted(
        authoring.__all__, key=lambda n: (not n.isupper(), n[0].islower(), n)
    )
    assert all(hasattr(authoring, name) for name in authoring.__all__)
