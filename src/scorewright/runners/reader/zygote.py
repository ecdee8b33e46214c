"""The zygote of readers: has all that parses loaded, takes the shared layers, and forks a reader per source.

Started like the jail's zygote (`jail/launch.py`), and forks like it; apart from that one, so that evaluators find no parser
in their process. A reader takes its layers, reads one source, answers, and ends: what one author's source may do to it
meets no other's.
"""

from __future__ import annotations

import difflib  # noqa: F401  # pyright: ignore[reportUnusedImport] - loaded once, here, like all below: a reader has no files
import gc
import os
import signal
import sys
import unicodedata  # noqa: F401  # pyright: ignore[reportUnusedImport] - names of characters in texts
from typing import Final, NoReturn

import msgspec

from scorewright.domain.definition import Definition
from scorewright.domain.param import ConfigParam
from scorewright.domain.source_language import Language
from scorewright.runners.harness import protocol
from scorewright.runners.harness.worker import HARNESS_BROKE, Wire
from scorewright.runners.jail.fork_server import Fork, become_first_process, keep_only, serve
from scorewright.runners.jail.kernel import privileges, seccomp
from scorewright.runners.jail.launch import READER_STACK_BYTES
from scorewright.runners.jail.layers import (
    MANDATORY,
    Layers,
    enter_worker_layers,
    enter_zygote_layers,
    missing,
)
from scorewright.runners.reader.attempts import try_all
from scorewright.runners.reader.messages import ANSWER, CPU_S, answer, encode_question

#: The program that tries what a reader must not be able to do.
ATTEMPTS: Final = "attempts"
_ENGINE: Final = f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"
#: Above every descriptor that a reader can have.
_MAX_FD: Final = 32
_STDOUT_FD, _STDERR_FD = 1, 2
_REFUSED: Final = 71
#: Between them they bring in whatever reading loads when it is first needed.
_PYTHON: Final = r"""
import json, requests, sokcet
def evaluate(a: "Literal[1, 2]", b=Param(1, min=0), *, c: list = [1]):
    try:
        return f"{a!r:>{b}} \N{BULLET}" is 1
    finally:
        "\d"
"""
_WARMING: Final[tuple[tuple[str, Language], ...]] = (
    (_PYTHON, "python"),
    ("def evaluate(a, b=2, *c, **d):\n    match a:\n        case 1: return\n", "python"),
    ("def evaluat(a): pass\n", "python"),
    ("def evaluate(\n", "python"),
    (
        'import fs from "node:fs"; function evaluate(a, {b} = {}, c = [1]) { return a; }',
        "javascript",
    ),
    ("function evaluate(a: string) { return a; }", "javascript"),
    (
        "const evaluate = (a: number, b?: string): number => a; export default evaluate;",
        "typescript",
    ),
    ("function evaluate(a {", "typescript"),
)


def main(control: int, omitted: str, _further: str) -> NoReturn:
    """Prepare, enter the layers, and serve requests until the host closes its end.

    Args:
        control: Descriptor of the control socket.
        omitted: Layers to leave out, with commas between (negative control only).
    """
    keep_only(control)
    warm_up()
    own_bytes = _address_space_bytes()  # asked while /proc is still there
    layers = Layers(frozenset(filter(None, omitted.split(","))))
    if enter_zygote_layers(layers):
        become_first_process()
    seccomp.assemble()  # once, for all readers
    gc.collect()
    gc.freeze()
    fork = serve(layers)
    if fork is not None:
        _run_reader(fork, layers, own_bytes)
    sys.exit(0)


def warm_up() -> None:
    """Read sources of all kinds, so that whatever is loaded late is there."""
    params = (ConfigParam(key="b", type="integer"),)
    for source, language in _WARMING:
        for definition in (
            Definition(language=language),
            Definition(language=language, params=params),
        ):
            answer(encode_question(source, definition))


def _address_space_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _run_reader(fork: Fork, zygote: Layers, own_bytes: int) -> NoReturn:
    """Become a reader: take its layers, and only then read what the author wrote."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        stream, _ = fork.descriptors
        os.dup2(_STDOUT_FD, _STDERR_FD)  # the zygote's own goes to the host
        os.dup2(stream, protocol.SOCKET_FD)  # where the control socket was: that is closed by it
        os.closerange(protocol.SOCKET_FD + 1, _MAX_FD)
        privileges.die_with_parent(fork.parent)
        layers = Layers(zygote.omitted, zygote.report)
        memory_bytes = (fork.memory_mb << 20) + own_bytes
        enter_worker_layers(
            layers, memory_bytes=memory_bytes, cpu_s=CPU_S, stack_bytes=READER_STACK_BYTES
        )
        wire = Wire(protocol.SOCKET_FD)
        wire.send(protocol.HELLO, msgspec.json.encode(protocol.Hello(layers.report, _ENGINE)))
        if missing(layers.report, MANDATORY - zygote.omitted):
            os._exit(_REFUSED)
        _, question = wire.receive()
        wire.send(ANSWER, try_all() if fork.program == ATTEMPTS else answer(question))
        os._exit(0)
    finally:  # whatever happened, a reader never becomes anything else
        os._exit(HARNESS_BROKE)
