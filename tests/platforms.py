"""Other machines than this one, as far as they can be simulated here (`simulated_platform.py`)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("simulated_platform.py")
SYSTEM_PYTHON = Path(f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")

#: Platforms on which everything must be contained, with the layers that have to be off there.
WEAKER = {
    "ordinary user": set[str](),
    "container, root": {"user_namespace"},
    "container": {"user_namespace"},
    "container without Landlock": {"user_namespace", "landlock"},
    "powerless namespaces": {
        *("mount_namespace", "ipc_namespace", "uts_namespace"),
        *("net_namespace", "cgroup_namespace", "pid_namespace"),
    },
    "namespaces used up": {"user_namespace"},
}


def is_readable_for_all(path: Path) -> bool:
    """Whether any user gets to a file."""
    folders = [*path.resolve().parents, *path.parents]
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in folders)


def prefix(platform: str, folder: Path | None) -> tuple[str, ...]:
    """Return the command through which a zygote starts as if on `platform`."""
    return (sys.executable, str(SCRIPT), platform, "" if folder is None else str(folder))


def readable_copy(folder: Path) -> Iterator[Path | None]:
    """Provide import paths for a user who cannot read ours; None where that is not necessary."""
    if os.getuid() != 0 or is_readable_for_all(Path(sys.executable)):
        yield None
        return
    if not SYSTEM_PYTHON.exists():
        pytest.skip(f"no interpreter that other users may run: {SYSTEM_PYTHON} is not there")
    for name in ("scorewright", "msgspec", "time_machine", "tzdata"):
        _copy_package(name, folder)
    folder.chmod(0o755)
    yield folder


def _copy_package(name: str, folder: Path) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    shutil.copytree(package, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for extension in package.parent.glob(f"_{name}*.so"):
        shutil.copy(extension, folder)
