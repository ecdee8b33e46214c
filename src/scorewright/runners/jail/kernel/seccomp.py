"""The system call filter of a Python worker, as classic BPF assembled here.

A pure function of Python objects needs memory, its socket, signals for its own timer, and the clock.
Everything else is refused. Two ways of refusing: a call that ordinary Python code can reach by accident
(open, socket, clone …) gets EPERM, which Python turns into an exception the author understands; a call that
only an attack makes kills the process.

Own assembler rather than a binding: forty lines, no system library, no import cost, and the whole table is
proven by calling every number (`tests/contract/test_syscall_sweep.py`).
"""

from __future__ import annotations

import ctypes
import errno
import functools
import struct
from collections.abc import Sequence
from typing import NamedTuple

from scorewright.runners.jail.kernel.libc import LIBC, MACHINE, check
from scorewright.runners.jail.kernel.syscalls import is_known, number

ALLOWED = (
    "read write close mmap munmap mremap brk madvise mprotect futex rt_sigreturn rt_sigaction "
    "rt_sigprocmask setitimer getpid gettid exit exit_group clock_gettime clock_getres gettimeofday "
    "sched_yield restart_syscall sigaltstack fstat lseek getrusage membarrier rseq getrandom"
).split()
"""What a worker may call.

`getrandom` gives nothing away, and without it the C library ends the process: its own generator, which expat and
with it `xml` uses, knows no other answer to a refusal. Python's functions draw from the seeded stream instead.
"""

KILLING = (
    "ptrace process_vm_readv process_vm_writev bpf keyctl add_key mount umount2 pivot_root setns unshare "
    "init_module finit_module kexec_load perf_event_open userfaultfd io_uring_setup open_by_handle_at "
    "reboot execve execveat"
).split()
"""What ends the worker at once: nothing that a pure function reaches by accident."""

#: These two pass every filter by the kernel's own design; without a probe set they lead nowhere.
UNFILTERED = (335, 336) if MACHINE == "x86_64" else ()

_AUDIT_ARCH = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_X32_FLAG = 0x4000_0000
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL_PROCESS, _ERRNO, _ALLOW = 0x8000_0000, 0x0005_0000, 0x7FFF_0000
#: Offsets in struct seccomp_data: number, architecture, low halves of the first three arguments.
_AT_NUMBER, _AT_ARCH, _AT_FIRST_ARGUMENT, _AT_SECOND_ARGUMENT, _AT_THIRD_ARGUMENT = 0, 4, 16, 24, 32
#: What may be asked of a descriptor: copies, flags, blocking, whether it is a terminal and how much can be read. Owners of
#: sockets get signals, and any socket tells of the network's devices: there is nothing to be asked about these.
_FCNTL_COMMANDS = (0, 1, 2, 3, 4, 1030)
_IOCTL_COMMANDS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
_CLONE_THREAD = 0x1_0000
_PROT_EXEC = 4
_SECCOMP_SET_MODE_FILTER = 1


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


class Profile(NamedTuple):
    """What a kind of worker may call."""

    allowed: tuple[str, ...]
    #: What ends the process; anything in neither list gets EPERM.
    killing: tuple[str, ...]
    #: Whether it compiles at run time, and so needs executable pages and helper threads of its own.
    compiles: bool = False
    #: With that: the process that may be signalled, which is the worker itself.
    own_pid: int = 0


PYTHON = Profile(tuple(ALLOWED), tuple(KILLING))


@functools.cache
def assemble(profile: Profile = PYTHON) -> bytes:
    """Return the filter program for this machine.

    Raises:
        OSError: The architecture is not one of ours.
    """
    if MACHINE not in _AUDIT_ARCH:
        raise OSError(0, f"no system call filter for {MACHINE}")
    program = [
        _op(_LOAD, _AT_ARCH),
        _op(_IF_EQUAL, _AUDIT_ARCH[MACHINE], 1, 0),
        _op(_RETURN, _KILL_PROCESS),
        _op(_LOAD, _AT_NUMBER),
    ]
    if MACHINE == "x86_64":
        program += [_op(_IF_AT_LEAST, _X32_FLAG, 0, 1), _op(_RETURN, _KILL_PROCESS)]
    program += _thread_rules(profile) if profile.compiles else _no_executable_page()
    for name in filter(is_known, profile.allowed):
        program += [_op(_IF_EQUAL, number(name), 0, 1), _op(_RETURN, _ALLOW)]
    for name in filter(is_known, profile.killing):
        program += [_op(_IF_EQUAL, number(name), 0, 1), _op(_RETURN, _KILL_PROCESS)]
    program.append(_op(_RETURN, _ERRNO | errno.EPERM))
    return b"".join(program)


def _no_executable_page() -> list[bytes]:
    rules: list[bytes] = []
    for name in ("mmap", "mprotect"):  # whatever the other arguments say
        rules += [
            _op(_IF_EQUAL, number(name), 0, 4),
            _op(_LOAD, _AT_THIRD_ARGUMENT),
            _op(_IF_ANY_BIT, _PROT_EXEC, 0, 1),
            _op(_RETURN, _ERRNO | errno.EACCES),
            _op(_RETURN, _ALLOW),
        ]
    return rules


def _thread_rules(profile: Profile) -> list[bytes]:
    """Allow threads and no processes, signals and limits for this process alone, and little about descriptors.

    clone3 hides its flags in memory: libc falls back to clone without it.
    """
    return [
        *_only_for("tgkill", profile.own_pid),
        *_only_for("prlimit64", 0),
        *_only_with("fcntl", _FCNTL_COMMANDS),
        *_only_with("ioctl", _IOCTL_COMMANDS),
        _op(_IF_EQUAL, number("clone3"), 0, 1),
        _op(_RETURN, _ERRNO | errno.ENOSYS),
        _op(_IF_EQUAL, number("clone"), 0, 4),
        _op(_LOAD, _AT_FIRST_ARGUMENT),
        _op(_IF_ANY_BIT, _CLONE_THREAD, 0, 1),
        _op(_RETURN, _ALLOW),
        _op(_RETURN, _ERRNO | errno.EPERM),
    ]


def _only_for(name: str, first_argument: int) -> list[bytes]:
    return [
        _op(_IF_EQUAL, number(name), 0, 4),
        _op(_LOAD, _AT_FIRST_ARGUMENT),
        _op(_IF_EQUAL, first_argument, 0, 1),
        _op(_RETURN, _ALLOW),
        _op(_RETURN, _ERRNO | errno.EPERM),
    ]


def _only_with(name: str, second_arguments: Sequence[int]) -> list[bytes]:
    allowed = [
        op
        for value in second_arguments
        for op in (_op(_IF_EQUAL, value, 0, 1), _op(_RETURN, _ALLOW))
    ]
    return [
        _op(_IF_EQUAL, number(name), 0, len(allowed) + 2),
        _op(_LOAD, _AT_SECOND_ARGUMENT),
        *allowed,
        _op(_RETURN, _ERRNO | errno.EPERM),
    ]


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def load(program: bytes) -> None:
    """Put a filter on this process for good. Needs no_new_privs.

    Raises:
        OSError: The kernel refused it: there is no sandbox then.
    """
    buffer = ctypes.create_string_buffer(program, len(program))
    described = _Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    call = ctypes.c_long(number("seccomp"))
    mode, flags = ctypes.c_ulong(_SECCOMP_SET_MODE_FILTER), ctypes.c_ulong(0)
    check(int(LIBC.syscall(call, mode, flags, ctypes.byref(described))), "seccomp")
