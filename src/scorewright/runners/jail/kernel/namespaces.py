"""Namespaces: own users, mounts, processes, network, IPC, host name and cgroup view."""

from __future__ import annotations

import ctypes

from scorewright.runners.jail.kernel.libc import LIBC, check
from scorewright.runners.jail.kernel.privileges import NOBODY

#: Flags of unshare(2). `user` first: it is what grants the rights for the others.
FLAGS = {
    "user": 0x1000_0000,
    "mount": 0x0002_0000,
    "ipc": 0x0800_0000,
    "uts": 0x0400_0000,
    "net": 0x4000_0000,
    "cgroup": 0x0200_0000,
    "pid": 0x2000_0000,
}

HOST_NAME = b"sandbox"
"""What the machine is called inside."""


def unshare(name: str) -> None:
    """Enter a new namespace of one kind; a new `pid` one holds only children forked afterwards."""
    check(LIBC.unshare(ctypes.c_int(FLAGS[name])), f"unshare {name}")


def enter_own_host_name() -> None:
    """Enter a new `uts` namespace, which would still have the host's name."""
    unshare("uts")
    check(LIBC.sethostname(HOST_NAME, ctypes.c_size_t(len(HOST_NAME))), "sethostname")


def map_identity(uid: int, gid: int) -> None:
    """Map one outer user and group to nobody inside; every other id has no meaning there."""
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{NOBODY} {uid} 1"),
        ("gid_map", f"{NOBODY} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "wb", buffering=0) as file:
            file.write(line.encode())
