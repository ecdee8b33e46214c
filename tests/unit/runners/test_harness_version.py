"""What makes results of values has a version, which results and their cache go by."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import scorewright
from scorewright.runners.harness.protocol import VERSION

PACKAGE = Path(scorewright.__file__).parent
#: The code whose change can change a result of the same evaluator on the same item.
DECIDES = (
    "authoring/*.py",
    "domain/binding.py",
    "domain/excerpt.py",
    "domain/item_fields.py",
    "domain/json_copy.py",
    "domain/metrics.py",
    "domain/returned.py",
    "domain/script_module.py",
    "runners/deno/dialect.py",
    "runners/deno/typescript.mjs",
    "runners/deno/worker.mjs",
    "runners/harness/*.py",
    "runners/json_dialect.py",
)
RECORDED = (3, "106f11998ea62b3b")


def test_a_change_of_what_decides_results_has_a_version_of_its_own():
    """Where it fails: raise `VERSION` if a result could be another one, and record both here in any case."""
    files = sorted(path for pattern in DECIDES for path in PACKAGE.glob(pattern))
    content = b"\0".join(path.read_bytes() for path in files)

    assert len(files) > 35
    assert (VERSION, sha256(content).hexdigest()[:16]) == RECORDED
