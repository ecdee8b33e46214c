"""The whole standard library, importable where there is no file system.

Before the lock, every pure module's compiled code is read into memory (about 10 MB, shared by all forks) and
every extension module is mapped by dlopen. After it, a finder serves imports from there: what the author's
code imports, and what the standard library imports lazily, needs no file and no executable page.

Left out are the modules of `domain.refused_modules`: they need a display, files or an installer.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import io
import marshal
import os
import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

from scorewright.domain.refused_modules import REFUSED_MODULES

#: Modules that work in the jail once one of ours has been at them.
_ADAPTED = {
    "asyncio": "scorewright.runners.harness.event_loop",
    "sqlite3": "scorewright.runners.harness.sqlite_memory",
}
_NOT_THE_LIBRARY = {"site-packages", "dist-packages", "__pycache__", "lib-dynload"}
#: A .pyc starts with magic number, flags, and source time and size or hash.
_PYC_HEADER_BYTES = 16
#: How extension modules begin that exist for the interpreter's own tests.
_FOR_TESTS = ("_test", "_xx", "xx")


class StdlibImage:
    """Finder and loader of the pure modules; extension modules go to importlib's own loader."""

    def __init__(self) -> None:
        #: Name to file path and bytes: compiled code where the file ends in .pyc, else source text.
        self._modules: dict[str, tuple[str, bytes]] = {}
        self._packages: set[str] = set()
        self._extensions: dict[str, str] = {}
        root = os.path.dirname(os.__file__)
        for name, path, is_package in _pure_modules(root):
            with open(path, "rb", buffering=0) as file:
                self._modules[name] = (path, file.read())
            if is_package:
                self._packages.add(name)
        for name, path in _extension_modules():
            self._extensions[name] = path
        for name, path in _own_modules():
            with open(path, "rb", buffering=0) as file:
                self._modules[name] = (path, file.read())

    def map_extensions(self) -> None:
        """Map every extension module, so that a later import finds it mapped and opens no file."""
        import ctypes

        for path in self._extensions.values():
            with contextlib.suppress(OSError):  # a missing system library: the import will say so
                ctypes.CDLL(path)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002, D102
        if fullname in self._modules:
            is_package = fullname in self._packages
            loader: Any = self
            spec = importlib.machinery.ModuleSpec(fullname, loader, is_package=is_package)
            spec.origin = f"<standard library>/{fullname}"
            return spec
        if fullname in self._extensions:
            file = self._extensions[fullname]
            loader = importlib.machinery.ExtensionFileLoader(fullname, file)
            return importlib.machinery.ModuleSpec(fullname, loader, origin=file)
        return None

    def create_module(self, spec: Any) -> ModuleType | None:  # noqa: ARG002, D102
        return None

    def exec_module(self, module: ModuleType) -> None:  # noqa: D102
        path, data = self._modules[module.__name__]
        module.__file__ = path
        exec(_code(path, data), module.__dict__)  # noqa: S102 - the standard library itself
        if module.__name__ in _ADAPTED:
            importlib.import_module(_ADAPTED[module.__name__]).install()


def _code(path: str, data: bytes) -> CodeType:
    if path.endswith(".pyc"):
        code = marshal.loads(memoryview(data)[_PYC_HEADER_BYTES:])  # noqa: S302 - written by this interpreter
        assert isinstance(code, CodeType)  # noqa: S101 - what a .pyc holds
        return code
    return compile(data, path, "exec", dont_inherit=True)


def _pure_modules(root: str) -> Iterator[tuple[str, str, bool]]:
    folders = [(root, "")]
    while folders:
        folder, prefix = folders.pop()
        compiled = _compiled_files(folder)
        for entry in os.scandir(folder):
            stem, ending = os.path.splitext(entry.name)
            if ending == ".py":
                name = prefix[:-1] if stem == "__init__" else prefix + stem
                if name and name not in REFUSED_MODULES:
                    yield name, compiled.get(stem, entry.path), stem == "__init__"
            elif not ending and entry.is_dir() and _is_package(entry, prefix):
                folders.append((entry.path, f"{prefix}{entry.name}."))


def _own_modules() -> Iterator[tuple[str, str]]:
    """Our modules that are imported late, as source: a .pyc of ours may be older than its source."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    for folder in ("authoring", "domain", "runners/harness"):
        for entry in os.scandir(os.path.join(package, folder)):
            stem, ending = os.path.splitext(entry.name)
            if ending == ".py" and stem != "__init__":
                yield f"scorewright.{folder.replace('/', '.')}.{stem}", entry.path


def _is_package(entry: os.DirEntry[str], prefix: str) -> bool:
    name = prefix + entry.name
    if entry.name in _NOT_THE_LIBRARY or name in REFUSED_MODULES or entry.name in ("test", "tests"):
        return False
    return os.path.exists(os.path.join(entry.path, "__init__.py"))


def _compiled_files(folder: str) -> dict[str, str]:
    """Stem to path of this interpreter's .pyc files; the official container images have none."""
    ending = f".{sys.implementation.cache_tag}.pyc"
    try:
        entries = list(os.scandir(os.path.join(folder, "__pycache__")))
    except OSError:
        return {}
    return {e.name.removesuffix(ending): e.path for e in entries if e.name.endswith(ending)}


def _extension_modules() -> Iterator[tuple[str, str]]:
    for folder in sys.path:
        if os.path.basename(folder) != "lib-dynload":
            continue
        for entry in os.scandir(folder):
            name = entry.name.split(".")[0]
            if not entry.name.endswith(".so") or name.startswith(_FOR_TESTS):
                continue
            if name not in REFUSED_MODULES:
                yield name, entry.path


def read_time_zones() -> dict[str, bytes]:
    """Return every zone of the `tzdata` package by key: results must not depend on the machine's own."""
    import tzdata

    root = os.path.join(os.path.dirname(tzdata.__file__), "zoneinfo")
    with open(os.path.join(os.path.dirname(root), "zones"), encoding="utf-8") as file:
        keys = file.read().split()
    zones: dict[str, bytes] = {}
    for key in keys:
        with open(os.path.join(root, key), "rb", buffering=0) as zone:
            zones[key] = zone.read()
    return zones


def serve_time_zones(zones: dict[str, bytes]) -> None:
    """Have `zoneinfo` read from memory; called when `zoneinfo` is first imported costs nothing before."""
    import zoneinfo
    import zoneinfo._common as common

    def load_tzdata(key: str) -> io.BytesIO:
        if key not in zones:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(zones[key])

    zoneinfo.reset_tzpath(to=())
    common.load_tzdata = load_tzdata  # type: ignore[attr-defined]
    zoneinfo.available_timezones = lambda: set(zones)  # type: ignore[assignment]
