"""A root of our own: empty and read-only, or with a few files bound into it. Nothing else of the host exists."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Mapping

from scorewright.runners.jail.kernel.libc import LIBC, check
from scorewright.runners.jail.kernel.syscalls import number

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
_MNT_DETACH = 2
_NOTHING_USABLE = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC


def _mount(
    source: bytes | None, target: bytes, kind: bytes | None, flags: int, data: bytes | None
) -> None:
    done = LIBC.mount(source, target, kind, ctypes.c_ulong(flags), data)
    check(done, f"mount {target.decode()}")


def enter_empty_root() -> None:
    """Replace `/` by a tmpfs of one page and two inodes, then make it read-only.

    Needs a mount namespace of its own. The old root is detached, so that nothing refers to it.
    """
    _mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    _mount(b"none", b"/tmp", b"tmpfs", _NOTHING_USABLE, b"size=4k,nr_inodes=2,mode=555")
    os.chdir("/tmp")  # noqa: S108 - a mount point of our own namespace
    check(LIBC.syscall(ctypes.c_long(number("pivot_root")), b".", b"."), "pivot_root")
    check(LIBC.umount2(b".", ctypes.c_int(_MNT_DETACH)), "umount")
    os.chdir("/")
    _mount(None, b"/", None, _MS_REMOUNT | _MS_RDONLY | _NOTHING_USABLE, None)


def make_reachable(files: Mapping[str, str]) -> dict[str, str]:
    """Bind files to places that every user may walk to, below a `/tmp` of this mount namespace alone.

    Args:
        files: Name, beginning with a slash, to path.

    Returns:
        Name to the path it has now.
    """
    # Opened first: they may lie below /tmp themselves.
    opened = {name: os.open(path, os.O_PATH | os.O_CLOEXEC) for name, path in files.items()}
    _mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    _mount(b"none", b"/tmp", b"tmpfs", _MS_NOSUID | _MS_NODEV, b"size=64k,mode=755")
    places: dict[str, str] = {}
    for name, descriptor in opened.items():
        places[name] = place = f"/tmp{name}"  # noqa: S108 - a mount point of our own namespace
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o444))
        _mount(f"/proc/self/fd/{descriptor}".encode(), place.encode(), None, _MS_BIND, None)
        os.close(descriptor)
    return places


def enter_bound_root(files: Mapping[str, int], links: Mapping[str, str]) -> None:
    """Replace `/` by a read-only tmpfs that holds nothing but the given files and folders.

    Args:
        files: Path inside to an O_PATH descriptor of what is bound there, read-only. By descriptor, since the
            process may have given up the rights to walk to it.
        links: Path inside to what a symbolic link there names.
    """
    _mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    _mount(b"none", b"/tmp", b"tmpfs", _MS_NOSUID | _MS_NODEV, b"size=64k,mode=755")
    for path, descriptor in files.items():
        target = f"/tmp{path}"  # noqa: S108 - as below
        source = f"/proc/self/fd/{descriptor}".encode()
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.makedirs(target, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
        _mount(source, target.encode(), None, _MS_BIND | _MS_REC, None)
        # What the mount it comes from is not allowed, may not be allowed here either.
        kept = os.fstatvfs(descriptor).f_flag & (_MS_NODEV | _MS_NOEXEC)
        flags = _MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | kept
        _mount(None, target.encode(), None, flags, None)
    for path, target in links.items():
        os.makedirs(os.path.dirname(f"/tmp{path}"), exist_ok=True)  # noqa: S108 - as below
        os.symlink(target, f"/tmp{path}")  # noqa: S108 - as below
    os.chdir("/tmp")  # noqa: S108 - a mount point of our own namespace
    check(LIBC.syscall(ctypes.c_long(number("pivot_root")), b".", b"."), "pivot_root")
    check(LIBC.umount2(b".", ctypes.c_int(_MNT_DETACH)), "umount")
    os.chdir("/")
    _mount(None, b"/", None, _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV, None)
