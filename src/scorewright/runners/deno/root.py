"""The few files that Deno needs, and where a jailed one finds them."""

from __future__ import annotations

import contextlib
import os

from scorewright.runners.jail.kernel import landlock, namespaces
from scorewright.runners.jail.kernel.root import enter_bound_root, make_reachable

DENO = "/deno"
WORKER_SCRIPT = "/worker.mjs"
TYPESCRIPT_SCRIPT = "/typescript.mjs"
ATTEMPT_SCRIPT = "/attempt.mjs"
#: All that Deno's environment holds. The language of the machine must not show in results.
ENVIRONMENT = {
    "HOME": "/nonexistent",
    "DENO_DIR": "/nonexistent",
    "DENO_NO_UPDATE_CHECK": "1",
    "NO_COLOR": "1",
    "TZ": "UTC",
    "LANG": "en_US.UTF-8",
}
#: Where the C library and its loader are; those that a machine does not have are left out.
_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib")
_LIBRARY_PREFIXES = (
    "ld-linux",
    "libc.so",
    "libdl.so",
    "libgcc_s.so",
    "libm.so",
    "libpthread.so",
    "librt.so",
)
#: Where Deno asks for its own name, without the rest of /proc.
_LINKS = {"/proc/self/exe": DENO}
_DEVICES = ("/dev/null", "/dev/urandom")


class Root:
    """The files that Deno needs, by their path inside.

    Args:
        deno: Path of the binary.
        scripts: Folder of the scripts.
    """

    def __init__(self, deno: str, scripts: str) -> None:
        same = {path: path for path in (*_libraries(), *_DEVICES)}
        names = (WORKER_SCRIPT, TYPESCRIPT_SCRIPT, ATTEMPT_SCRIPT)
        own = {inside: scripts + inside for inside in names}
        ours = {DENO: deno, **own}
        if os.getuid() == 0:
            # Soon nobody: and nobody may not be able to walk to where root keeps its files.
            with contextlib.suppress(
                OSError
            ):  # where that is not to be had, they are looked for where they are
                namespaces.unshare("mount")
                ours = make_reachable(ours)
        self._outside = {**ours, **same}
        self._descriptors = self._open()
        self._is_entered = False

    def enter(self) -> None:
        """Make these files the whole root. Needs a mount namespace of its own."""
        # Opened anew: only what was found through a mount of this namespace can be bound in it.
        before, self._descriptors = self._descriptors, self._open()
        for descriptor in before.values():
            os.close(descriptor)
        enter_bound_root(self._descriptors, _LINKS)
        self._is_entered = True

    def _open(self) -> dict[str, int]:
        return {
            inside: os.open(outside, os.O_PATH | os.O_CLOEXEC)
            for inside, outside in self._outside.items()
        }

    def allow(self) -> int:
        """Have Landlock allow reading and executing these files and nothing else."""
        return landlock.restrict_to(self._descriptors.values())

    def path(self, inside: str) -> str:
        """Return where a file is found now."""
        return inside if self._is_entered else self._outside[inside]


def _libraries() -> set[str]:
    """Find the shared libraries that the binary is linked to, by the paths the loader looks at."""
    found: set[str] = set()
    for folder in _LIBRARY_FOLDERS:
        for place in (folder, f"{folder}/{os.uname().machine}-linux-gnu"):
            try:
                entries = list(os.scandir(place))
            except OSError:
                continue
            for entry in entries:
                if entry.name.startswith(_LIBRARY_PREFIXES) and entry.is_file():
                    found.add(entry.path)
    return found
