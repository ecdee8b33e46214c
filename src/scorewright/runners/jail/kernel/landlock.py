"""Landlock: deny every file, TCP and scoping access that this kernel's version can deny, or all but reading."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from scorewright.runners.jail.kernel.libc import LIBC, check
from scorewright.runners.jail.kernel.syscalls import number

_GET_VERSION = 1
#: File access rights known to each version of the interface; later ones know as many as the last.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_FILE_RIGHTS_SINCE_5 = 16
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6


#: Rights of one rule: execute and read a file, read a folder.
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
_RULE_PATH_BENEATH = 1


def restrict_to_nothing() -> int:
    """Handle every right and allow none of them.

    Returns:
        The version of the interface (ABI) that was used.

    Raises:
        OSError: The kernel has no Landlock, or it is not enabled.
    """
    return restrict_to(())


def restrict_to(readable: Iterable[int]) -> int:
    """Handle every right, and allow reading and executing beneath the given files and folders alone.

    Args:
        readable: O_PATH descriptors.

    Returns:
        The version of the interface (ABI) that was used.

    Raises:
        OSError: The kernel has no Landlock, or it is not enabled.
    """
    create = ctypes.c_long(number("landlock_create_ruleset"))
    abi = int(LIBC.syscall(create, None, ctypes.c_size_t(0), ctypes.c_uint(_GET_VERSION)))
    check(abi, "landlock")
    rights = (1 << _FILE_RIGHTS.get(abi, _FILE_RIGHTS_SINCE_5)) - 1
    fields = [rights]
    if abi >= _NETWORK_SINCE:
        fields.append(_BIND_AND_CONNECT_TCP)
    if abi >= _SCOPES_SINCE:
        fields.append(_ABSTRACT_SOCKETS_AND_SIGNALS)
    attributes = struct.pack(f"<{len(fields)}Q", *fields)
    size = ctypes.c_size_t(len(attributes))
    made = LIBC.syscall(create, ctypes.c_char_p(attributes), size, ctypes.c_uint(0))
    ruleset = check(int(made), "landlock_create_ruleset")
    try:
        for descriptor in readable:
            _allow_reading(ruleset, descriptor)
        restrict = ctypes.c_long(number("landlock_restrict_self"))
        done = LIBC.syscall(restrict, ctypes.c_int(ruleset), ctypes.c_uint(0))
        check(int(done), "landlock_restrict_self")
    finally:
        os.close(ruleset)
    return abi


def _allow_reading(ruleset: int, descriptor: int) -> None:
    is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    rights = _EXECUTE | _READ_FILE | (_READ_FOLDER if is_folder else 0)
    rule = struct.pack("<Qi", rights, descriptor)
    add = ctypes.c_long(number("landlock_add_rule"))
    kind = ctypes.c_int(_RULE_PATH_BENEATH)
    done = LIBC.syscall(add, ctypes.c_int(ruleset), kind, ctypes.c_char_p(rule), ctypes.c_uint(0))
    check(int(done), "landlock_add_rule")
