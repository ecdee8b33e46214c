"""The launcher: takes the shared layers once, and starts a jailed Deno per request.

Started like the jail's zygote (`jail/launch.py`), and forks like it. A child takes its own layers and becomes Deno: the
system call filter binds what it executes, and nothing of Deno runs before. The harness in there says hello, with the
state of the layers that it was given as its argument.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

import msgspec

from scorewright.runners.deno.attempts import ATTEMPTS, PREFIX
from scorewright.runners.deno.import_map import import_map_url
from scorewright.runners.deno.layers import (
    MANDATORY,
    enter_launcher_layers,
    enter_worker_layers,
)
from scorewright.runners.deno.root import (
    ATTEMPT_SCRIPT,
    DENO,
    ENVIRONMENT,
    TYPESCRIPT_SCRIPT,
    WORKER_SCRIPT,
    Root,
)
from scorewright.runners.harness import protocol
from scorewright.runners.jail.fork_server import Fork, become_first_process, keep_only, serve
from scorewright.runners.jail.kernel import privileges
from scorewright.runners.jail.layers import Layers, missing

#: The program that translates TypeScript.
TYPESCRIPT = "typescript"
#: The exit statuses of a child that lacks a mandatory layer, and of one that could not become Deno.
_REFUSED, _BROKE = 71, 70
_STDIN, _STDOUT, _STDERR = 0, 1, 2
#: Above every descriptor that a child can have: the launcher has its control socket and one per file of the root.
_MAX_FD = 128
_FLAGS = (
    "run --quiet --no-prompt --no-remote --no-npm --no-config --no-lock --cached-only --no-code-cache --seed=0"
).split()


def main(control: int, omitted: str, deno: str) -> NoReturn:
    """Prepare, enter the layers, and serve requests until the host closes its end.

    Args:
        control: Descriptor of the control socket.
        omitted: Layers to leave out, with commas between (negative control only).
        deno: Path of the binary.
    """
    keep_only(control)
    root = Root(deno, os.path.dirname(__file__))
    layers = Layers(frozenset(filter(None, omitted.split(","))))
    if enter_launcher_layers(layers, root):
        become_first_process()
    fork = serve(layers)
    if fork is not None:
        _become_deno(fork, layers, root)
    sys.exit(0)


def _become_deno(fork: Fork, launcher: Layers, root: Root) -> NoReturn:
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        stream, progress = fork.descriptors
        for target in (_STDIN, _STDOUT):
            os.dup2(stream, target)
        os.dup2(progress, _STDERR)
        privileges.die_with_parent(fork.parent)
        layers = Layers(launcher.omitted, launcher.report)
        enter_worker_layers(layers, root, memory_mb=fork.memory_mb)
        os.closerange(_STDERR + 1, _MAX_FD)
        report = msgspec.json.encode(layers.report).decode()
        if missing(layers.report, MANDATORY - launcher.omitted):
            _say_hello(report)
            os._exit(_REFUSED)
        heap = f"--v8-flags=--max-old-space-size={fork.memory_mb}"
        command = [DENO, *_FLAGS, heap, *further_arguments(fork.program, root.path, report)]
        os.execve(root.path(DENO), command, ENVIRONMENT)  # noqa: S606 - what it is all about
    except OSError as error:
        os.write(_STDERR, f"Deno cannot be executed: {error}".encode())
    finally:  # whatever happened, a child never becomes anything else
        os._exit(_BROKE)


def further_arguments(program: str, place: Callable[[str], str], report: str) -> list[str]:
    """Return what Deno is told about a program of the launcher beside the usual flags.

    None that reads what a host sends gets a permission: an attempt is a text of this package's, asked for by name.

    Args:
        program: As in `Request`.
        place: Gives the path of a script.
        report: The state of the layers, for the script to pass on.

    Raises:
        KeyError: There is no such attempt.
    """
    if program.startswith(PREFIX):
        steps = ATTEMPTS[program.removeprefix(PREFIX)]
        return ["--allow-all", place(ATTEMPT_SCRIPT), report, steps]
    if program == TYPESCRIPT:
        return [place(TYPESCRIPT_SCRIPT), report]
    return [f"--import-map={import_map_url()}", place(WORKER_SCRIPT), report]


def _say_hello(report: str) -> None:
    body = f'{{"layers":{report},"engine":"none"}}'.encode()
    os.write(_STDOUT, protocol.HEADER.pack(protocol.HELLO, len(body)) + body)
