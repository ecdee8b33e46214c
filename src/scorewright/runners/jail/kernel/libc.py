"""The C library by ctypes: calls that Python has no function for."""

from __future__ import annotations

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long

MACHINE = os.uname().machine


def check(result: int, what: str) -> int:
    """Return `result`, or raise OSError with errno and `what` when the call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, argument: int = 0) -> int:
    """Set an attribute of this process (see prctl in section 2 of the manual); -1 when refused."""
    unused = ctypes.c_ulong(0)
    return int(LIBC.prctl(option, ctypes.c_ulong(argument), unused, unused, unused))
