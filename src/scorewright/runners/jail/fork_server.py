"""A process that forks workers on request: what the zygote of the jail and the launcher of Deno have in common.

A request is JSON with two descriptors (the worker's socket and progress page); the answer carries the child's
pidfd, so that killing it cannot hit a process that took over its number.
"""

from __future__ import annotations

import array
import contextlib
import os
import signal
import socket
from functools import partial
from types import FrameType
from typing import NamedTuple

import msgspec

from scorewright.runners.jail.kernel import privileges
from scorewright.runners.jail.layers import Layers
from scorewright.runners.jail.messages import Exited, Forked, Ready, Request

#: Where the control socket lies: the lowest number there is, so that a worker's own socket takes its place.
CONTROL_FD = 3
_CONTROL_BYTES = 65536
#: Added to a signal's number, as shells do it.
_ENDED_BY_SIGNAL = 128


def keep_only(control: int) -> None:
    """Close every descriptor but the standard ones and the control socket, which gets its fixed number."""
    strangers = {int(name) for name in os.listdir("/proc/self/fd")} - {0, 1, 2, control}
    for descriptor in strangers:
        with contextlib.suppress(OSError):  # the listing's own is closed already
            os.close(descriptor)
    if control == CONTROL_FD:
        os.set_inheritable(control, False)
    else:
        os.dup2(control, CONTROL_FD, inheritable=False)
        os.close(control)


def become_first_process() -> None:
    """Go on as process 1 of the new namespace: when it ends, the kernel ends all of it."""
    child = os.fork()
    if child:
        os.close(CONTROL_FD)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os._exit(code if code >= 0 else _ENDED_BY_SIGNAL - code)
    privileges.die_with_parent(privileges.OUTER_PARENT)


class Fork(NamedTuple):
    """What a new worker has from the zygote."""

    descriptors: list[int]
    memory_mb: int
    parent: int
    program: str


def serve(layers: Layers) -> Fork | None:
    """Fork a worker per request, until the host closes its end.

    Returns:
        In the zygote None, at the end; in each worker what it is to become: it shall not go on below a frame
        that holds the control socket.
    """
    control = socket.socket(fileno=CONTROL_FD)
    signal.signal(signal.SIGCHLD, partial(_report_exits, control))
    own_pid = os.getpid()
    os.close(
        os.pidfd_open(own_pid)
    )  # a kernel without pidfds is told of now, not at the first request
    control.send(msgspec.json.encode(Ready(layers.report)))
    while True:
        try:
            message, ancillary, *_ = control.recvmsg(
                _CONTROL_BYTES, socket.CMSG_SPACE(64), socket.MSG_CMSG_CLOEXEC
            )
        except OSError:
            return None
        if not message:
            return None
        request = msgspec.json.decode(message, type=Request)
        descriptors = _descriptors(ancillary)
        # A worker that ends at once must not be reaped before its pidfd is had.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        pid = os.fork()
        if pid == 0:
            control.detach()
            return Fork(descriptors, request.memory_mb, own_pid, request.program)
        pidfd = os.pidfd_open(pid)
        for descriptor in descriptors:
            os.close(descriptor)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [pidfd]))]
        control.sendmsg([msgspec.json.encode(Forked(pid))], rights)
        os.close(pidfd)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    found = array.array("i")
    for _, _, data in ancillary:
        found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return found.tolist()


def _report_exits(control: socket.socket, _number: int, _frame: FrameType | None) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        with contextlib.suppress(OSError):  # a host that does not listen needs no answer
            control.send(msgspec.json.encode(Exited(pid, status)), socket.MSG_DONTWAIT)
