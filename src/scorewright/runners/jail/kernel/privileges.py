"""No new privileges, no inherited identity, no way to be looked into, no outliving the parent."""

from __future__ import annotations

import os
import signal

from scorewright.runners.jail.kernel.libc import check, prctl

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38

#: The kernel's overflow id, known as nobody and nogroup.
NOBODY = 65534
#: What getppid(2) returns where the parent lives in an outer process namespace.
OUTER_PARENT = 0


def set_no_new_privileges() -> None:
    """Make execve unable to gain rights; also what lets an ordinary user load a seccomp filter."""
    check(prctl(_PR_SET_NO_NEW_PRIVS, 1), "no_new_privs")


def become_nobody() -> None:
    """Give up root's identity before anything else is set up: what leaks later leaks as nobody."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    # A change of ids clears the flag, and /proc/self/uid_map would then belong to root.
    set_dumpable(allowed=True)


def set_dumpable(*, allowed: bool) -> None:
    """Say whether others of this user may read this process's memory and /proc entries."""
    check(prctl(_PR_SET_DUMPABLE, int(allowed)), "dumpable")


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends.

    Args:
        parent: The parent's process id as this process sees it: one that has ended already kills nobody.
    """
    check(prctl(_PR_SET_PDEATHSIG, signal.SIGKILL), "pdeathsig")
    if os.getppid() != parent:
        raise OSError(0, "the parent has ended")
