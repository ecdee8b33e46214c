"""Code that calls the kernel directly, past everything that Python would say about it."""

from __future__ import annotations

from typing import Final

from scorewright.runners.jail.kernel.libc import MACHINE
from scorewright.runners.jail.kernel.seccomp import ALLOWED, KILLING, UNFILTERED
from scorewright.runners.jail.kernel.syscalls import number
from scorewright.runners.probes.probe import Expect, Probe

_FAMILY: Final = "kernel"

#: `call(n, …)` is a system call: its result, or the name of its error.
_CALL: Final = """\
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(*[ctypes.c_long(each) for each in (number, *arguments)])
    return result if result >= 0 else errno.errorcode.get(ctypes.get_errno(), "?")

def evaluate(x):
    got = attempt()
    if got in ("EPERM", "EACCES"):
        return {"score": 0, "explanation": f"refused: {got}"}
    return {"score": 1, "explanation": f"escaped: {got!r}"[:200]}

def attempt():
"""
_NUMBERS: Final = range(512)
_X32_FLAG: Final = 0x4000_0000
_WRITABLE, _EXECUTABLE = 0b011, 0b101
_ANONYMOUS: Final = 0x22


def calling(attempt: str) -> str:
    """Return an evaluator whose `attempt` is this expression, with `call` at hand."""
    return f"{_CALL}    return {attempt}\n"


def _refused(name: str, attempt: str) -> Probe:
    return Probe(name, _FAMILY, calling(attempt), Expect.REFUSED)


def _killed(name: str, attempt: str) -> Probe:
    return Probe(name, _FAMILY, calling(attempt), Expect.KILLED)


def refused_numbers() -> list[int]:
    """Return every number that the filter answers with an error."""
    answered = {number(name) for name in (*ALLOWED, *KILLING)}
    return [each for each in _NUMBERS if each not in answered and each not in UNFILTERED]


def _sweep() -> Probe:
    """Call every number that is to be refused; give up at once where the first one is not."""
    numbers = refused_numbers()
    attempt = (
        f"next((f'{{n}} gave {{got}}' for n in {numbers} if (got := call(n, *[-1] * 6)) != 'EPERM'), "
        "'EPERM')"
    )
    return _refused("every other system call", attempt)


def _of_another_machine() -> tuple[Probe, ...]:
    """Calls by the numbers of the second interface that x86-64 kernels have."""
    if MACHINE != "x86_64":
        return ()
    return (
        _killed("getpid by the x32 interface", f"call({_X32_FLAG} | {number('getpid')})"),
        _killed("execve by the x32 interface", f"call({_X32_FLAG} | 520, 0, 0, 0)"),
    )


_MAP: Final = f"call({number('mmap')}, 0, 4096, {{}}, {_ANONYMOUS}, -1, 0)"
_ALL_RIGHTS: Final = _WRITABLE | _EXECUTABLE
_WRITABLE_PAGE: Final = _MAP.format(_WRITABLE)

PROBES: Final = (
    _sweep(),
    _refused("executable memory", _MAP.format(_ALL_RIGHTS)),
    _refused("executable memory, read only", _MAP.format(_EXECUTABLE)),
    _refused(
        "memory made executable",
        f"call({number('mprotect')}, {_WRITABLE_PAGE}, 4096, {_EXECUTABLE})",
    ),
    _refused(
        "memory made executable with a key",
        f"call({number('pkey_mprotect')}, {_WRITABLE_PAGE}, 4096, {_EXECUTABLE}, -1)",
    ),
    *_of_another_machine(),
    *(_killed(name, f"call({number(name)}, 0, 0, 0, 0, 0, 0)") for name in KILLING),
)
