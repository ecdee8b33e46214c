"""No capability in any set, and none to be had again."""

from __future__ import annotations

import ctypes
import struct

from scorewright.runners.jail.kernel.libc import LIBC, check, prctl
from scorewright.runners.jail.kernel.syscalls import number

_PR_CAPBSET_DROP = 24
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_VERSION_3 = 0x2008_0522
#: More than any kernel defines; the first unknown number ends the loop.
_CAPABILITY_NUMBERS = range(64)


def drop_all() -> None:
    """Empty the bounding, ambient, inheritable, permitted and effective sets."""
    for capability in _CAPABILITY_NUMBERS:
        if prctl(_PR_CAPBSET_DROP, capability) < 0:
            break
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("<Ii", _VERSION_3, 0)
    nothing = bytes(24)
    call = ctypes.c_long(number("capset"))
    check(LIBC.syscall(call, ctypes.c_char_p(header), ctypes.c_char_p(nothing)), "capset")
