"""What is uploaded to every remote sandbox: the loop and the harnesses, as one archive."""

from __future__ import annotations

import io
import os
import zipfile
from functools import cache
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
_INSIDE: Final = "runners/remote/inside"
#: Copied as they are: standard library only.
_COPIED: Final = (
    *(f"domain/{name}.py" for name in ("excerpt", "item_fields", "json_copy", "json_value")),
    *(
        f"runners/harness/{name}.py"
        for name in (
            "author_module",
            "determinism",
            "event_loop",
            "failure",
            "prints",
            "watchdog",
        )
    ),
    *(
        f"{_INSIDE}/{name}"
        for name in ("python_worker.py", "remote_loop.py", "shim.mjs", "worker_process.py")
    ),
)
#: Under another name: `inside/__init__.py` says why.
_STANDING_IN: Final = {
    "domain/result.py": f"{_INSIDE}/result_stand_in.py",
    "runners/harness/protocol.py": f"{_INSIDE}/protocol_stand_in.py",
    f"{_INSIDE}/worker.mjs": "runners/deno/worker.mjs",
}
_PACKAGES: Final = ("", "domain/", "runners/", "runners/harness/", "runners/remote/", f"{_INSIDE}/")
#: Imported by `determinism` for the frozen clock, which a remote sandbox has not.
_EMPTY: Final = "time_machine.py"
_LONG_AGO: Final = (2020, 1, 1, 0, 0, 0)


@cache
def harness_archive() -> bytes:
    """Return the archive; the same bytes whenever the files are the same."""
    authoring = [f"authoring/{name}" for name in sorted(os.listdir(_ROOT / "authoring"))]
    sources = {name: name for name in (*authoring, *_COPIED) if not name.endswith("__")}
    members = {f"scorewright/{package}__init__.py": b"" for package in _PACKAGES}
    members[_EMPTY] = b""
    for name, source in {**sources, **_STANDING_IN}.items():
        members[f"scorewright/{name}"] = (_ROOT / source).read_bytes()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(members.items()):
            archive.writestr(
                zipfile.ZipInfo(name, _LONG_AGO), content, compress_type=zipfile.ZIP_DEFLATED
            )
    return buffer.getvalue()
