"""Every system call number, called from inside a worker: the filter's whole table, proven on this kernel."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import pytest

from scorewright.domain.result import Failed
from scorewright.runners.jail.kernel.libc import MACHINE
from scorewright.runners.jail.kernel.seccomp import ALLOWED, KILLING, UNFILTERED
from scorewright.runners.jail.kernel.syscalls import number
from scorewright.runners.jail.supervisor import JailRunner
from scorewright.runners.loss import FORBIDDEN_CALL
from scorewright.runners.probes.python.kernel import refused_numbers
from workbench import explanation, run

X32 = 0x4000_0000
needs_x86 = pytest.mark.skipif(MACHINE != "x86_64", reason="this interface is x86-64's alone")

PRELUDE = """
import ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(*[ctypes.c_long(each) for each in (number, *arguments)])
    return result if result >= 0 else errno.errorcode.get(ctypes.get_errno(), "?")
"""
CALL_ONE = (
    PRELUDE
    + """
def evaluate(x):
    return {"score": 0, "explanation": json.dumps(call(x, -1, -1, -1, -1, -1, -1))}
"""
)
#: Jumps to a place in the C library, as many bytes after its function `qsort`.
JUMP = """
import ctypes
start = ctypes.cast(ctypes.CDLL(None).qsort, ctypes.c_void_p).value

def evaluate(x):
    ctypes.CFUNCTYPE(None)(start + x)()
    return {"score": 1, "explanation": "escaped: the call was made"}
"""
#: The instruction `int 0x80`, by which 32-bit programs call the kernel.
INTERRUPT = b"\xcd\x80"


def offset_of_an_interrupt() -> int | None:
    """Find where the C library's code happens to hold the instruction's bytes, counted from `qsort`."""
    start = ctypes.cast(ctypes.CDLL(None).qsort, ctypes.c_void_p).value
    assert start is not None
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        low, high = (int(end, 16) for end in line.split()[0].split("-"))
        if low <= start < high:
            found = ctypes.string_at(low, high - low).find(INTERRUPT)
            return None if found < 0 else low + found - start
    return None


def call_all(jail: JailRunner, numbers: list[int]) -> dict[str, str | int]:
    """Call numbers in one worker, each with six arguments of -1; returns all that did not give EPERM."""
    source = f"""{PRELUDE}
def evaluate(x):
    answers = {{n: call(n, *[-1] * 6) for n in {numbers}}}
    return {{"score": 0, "explanation": json.dumps({{n: a for n, a in answers.items() if a != "EPERM"}})}}
"""
    (outcome,) = run(jail, source, timeout_s=5.0)
    return json.loads(explanation(outcome))


def test_every_number_is_allowed_or_killing_or_refused():
    named = {number(name) for name in (*ALLOWED, *KILLING)}

    assert len(named) == len(ALLOWED) + len(KILLING)
    assert sorted({*refused_numbers(), *named, *UNFILTERED}) == list(range(512))


def test_every_number_that_is_not_named_is_refused(jail: JailRunner):
    assert call_all(jail, refused_numbers()) == {}


def test_numbers_beyond_every_table_are_refused(jail: JailRunner):
    assert call_all(jail, [512, 1023, 4095, 65_535, X32 - 1]) == {}


@pytest.mark.parametrize("name", KILLING)
def test_a_killing_call_ends_the_worker(jail: JailRunner, name: str):
    (outcome,) = run(jail, CALL_ONE, [number(name)])

    assert isinstance(outcome, Failed)
    assert outcome.message == FORBIDDEN_CALL


@needs_x86
@pytest.mark.parametrize("low", [0, 1, 39, 57, 59, 101, 511, 520, 547])
def test_a_call_by_the_x32_interface_ends_the_worker(jail: JailRunner, low: int):
    (outcome,) = run(jail, CALL_ONE, [X32 | low])

    assert isinstance(outcome, Failed)
    assert outcome.message == FORBIDDEN_CALL


@needs_x86
def test_a_call_by_the_interrupt_of_32_bit_programs_ends_the_worker(jail: JailRunner):
    offset = offset_of_an_interrupt()
    if offset is None:
        pytest.skip("the C library of this machine holds no `int 0x80` to jump to")

    (outcome,) = run(jail, JUMP, [offset])

    assert isinstance(outcome, Failed)
    assert outcome.message == FORBIDDEN_CALL


@needs_x86
@pytest.mark.parametrize("unfiltered", UNFILTERED)
def test_what_no_filter_sees_leads_nowhere(jail: JailRunner, unfiltered: int):
    """uretprobe and uprobe: the kernel lets them past every filter, and answers nobody who was not sent."""
    outcomes = run(jail, CALL_ONE, [unfiltered])

    (outcome,) = outcomes
    ended = isinstance(outcome, Failed) and "Illegal instruction" in outcome.message
    assert ended or explanation(outcome) in {'"EPERM"', '"ENXIO"', '"ENOSYS"', '"EPROTO"'}


def test_an_executable_page_cannot_be_had(jail: JailRunner):
    source = f"""{PRELUDE}
def evaluate(x):
    answers = []
    for rights in range(8):
        page = call({number("mmap")}, 0, 4096, rights, 0x22, -1, 0)
        answers.append(page if isinstance(page, str) else "mapped")
    page = call({number("mmap")}, 0, 4096, 3, 0x22, -1, 0)
    for rights in (4, 5, 6, 7):
        answers.append(call({number("mprotect")}, page, 4096, rights))
    answers.append(call({number("pkey_mprotect")}, page, 4096, 5, -1))
    return {{"score": 0, "explanation": json.dumps(answers)}}
"""

    (outcome,) = run(jail, source)

    assert json.loads(explanation(outcome)) == [*["mapped"] * 4, *["EACCES"] * 8, "EPERM"]
