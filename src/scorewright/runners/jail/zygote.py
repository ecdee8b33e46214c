"""The zygote: loads what workers need once, takes the shared layers, and forks a worker per request.

Started by `supervisor.py` as `python -s -P -S -c …` with an explicit environment and one SOCK_SEQPACKET
descriptor. Not with -I or -E: those ignore PYTHONHASHSEED, and set order would differ from run to run.

A request is JSON with two descriptors (the worker's socket and progress page); the answer carries the child's
pidfd, so that killing it cannot hit a process that took over its number.
"""

from __future__ import annotations

import array
import contextlib
import gc
import mmap
import os
import signal
import site
import socket
import sys
from functools import partial
from types import FrameType
from typing import NamedTuple, NoReturn

import msgspec

from scorewright import authoring
from scorewright.runners.harness import (
    determinism,  # noqa: F401 # pyright: ignore[reportUnusedImport] - loaded once, here, since a worker could not
    protocol,
    worker,
)
from scorewright.runners.harness.stdlib_image import (
    StdlibImage,
    read_time_zones,
    serve_time_zones,
)
from scorewright.runners.jail.kernel import privileges, seccomp
from scorewright.runners.jail.layers import (
    MANDATORY,
    Layers,
    enter_worker_layers,
    enter_zygote_layers,
    missing,
)
from scorewright.runners.jail.messages import Exited, Forked, Ready, Request

#: Processor time of a worker's life: the last ring, for a worker that lost both host and zygote.
_CPU_S = 24 * 3600
_CONTROL_BYTES = 65536
#: Loaded for our own use; the author's code has the standard library and `scorewright.authoring`.
#: (time-machine stays: its C part looks it up by name at every call.)
_FOREIGN = {"msgspec", "typing_extensions", "tzdata"}
ENGINE = f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"
#: Above every descriptor that a worker can have: the zygote has none but its four.
_MAX_FD = 32
_STDOUT_FD, _STDERR_FD = 1, 2
#: Where the control socket lies: the lowest number there is, so that a worker's own socket takes its place.
_CONTROL_FD = 3
#: The exit status of a worker that lacks a mandatory layer.
_REFUSED = 71
#: Added to a signal's number, as shells do it.
_ENDED_BY_SIGNAL = 128


def main(control: int, omitted: str) -> NoReturn:
    """Prepare, enter the layers, and serve requests until the host closes its end.

    Args:
        control: Descriptor of the control socket.
        omitted: Layers to leave out, with commas between (negative control only).
    """
    _keep_only(control)
    _load_library()
    own_bytes = _address_space_bytes()  # asked while /proc is still there
    layers = Layers(frozenset(filter(None, omitted.split(","))))
    if enter_zygote_layers(layers):
        _become_first_process()
    seccomp.assemble()  # once, for all workers
    gc.collect()
    gc.freeze()
    fork = _serve(layers, own_bytes)
    if fork is not None:
        _run_worker(fork, layers)
    sys.exit(0)


def _keep_only(control: int) -> None:
    """Close every descriptor but the standard ones and the control socket, which gets its fixed number."""
    strangers = {int(name) for name in os.listdir("/proc/self/fd")} - {0, 1, 2, control}
    for descriptor in strangers:
        with contextlib.suppress(OSError):  # the listing's own is closed already
            os.close(descriptor)
    if control == _CONTROL_FD:
        os.set_inheritable(control, False)
    else:
        os.dup2(control, _CONTROL_FD, inheritable=False)
        os.close(control)


def _load_library() -> None:
    """Make the whole standard library importable without files, and nothing else."""
    image = StdlibImage()
    image.map_extensions()
    serve_time_zones(read_time_zones())
    for name in [n for n in sys.modules if n.split(".")[0] in _FOREIGN]:
        del sys.modules[name]
    site.setquit()  # `exit` and `help` belong to the language for those who write it
    site.sethelper()
    sys.modules["amp_evaluation"] = authoring  # what authors coming from there import
    sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__name__", "") != "PathFinder"]
    sys.meta_path.append(image)
    sys.path.clear()
    sys.argv[:] = sys.orig_argv[:] = [""]  # they tell where this machine keeps things


def _address_space_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _become_first_process() -> None:
    """Go on as process 1 of the new namespace: when it ends, the kernel ends all of it."""
    child = os.fork()
    if child:
        os.close(_CONTROL_FD)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os._exit(code if code >= 0 else _ENDED_BY_SIGNAL - code)
    privileges.die_with_parent(privileges.OUTER_PARENT)


class _Fork(NamedTuple):
    """What a new worker has from the zygote."""

    descriptors: list[int]
    memory_bytes: int
    parent: int


def _serve(layers: Layers, own_bytes: int) -> _Fork | None:
    """Fork a worker per request, until the host closes its end.

    Returns:
        In the zygote None, at the end; in each worker what it is to become: it shall not go on below a frame
        that holds the control socket.
    """
    control = socket.socket(fileno=_CONTROL_FD)
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
            return _Fork(descriptors, (request.memory_mb << 20) + own_bytes, own_pid)
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


def _run_worker(fork: _Fork, zygote: Layers) -> NoReturn:
    """Become a worker: take its layers, and only then read what the author wrote."""
    end = os._exit
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        page = _take_descriptors(fork.descriptors)
        privileges.die_with_parent(fork.parent)
        layers = Layers(zygote.omitted, zygote.report)
        enter_worker_layers(layers, memory_bytes=fork.memory_bytes, cpu_s=_CPU_S)
        hello = protocol.Hello(layers=layers.report, engine=ENGINE)
        if missing(layers.report, MANDATORY - zygote.omitted):
            worker.Wire(protocol.SOCKET_FD).send(protocol.HELLO, msgspec.json.encode(hello))
            end(_REFUSED)
        worker.serve(protocol.SOCKET_FD, page, hello, jailed=True)
    finally:  # whatever happened, a worker never becomes anything else
        end(worker.HARNESS_BROKE)


def _take_descriptors(received: list[int]) -> memoryview:
    """Keep the standard streams, which lead nowhere, and the worker's socket; return the progress page."""
    stream, page_file = received
    os.dup2(_STDOUT_FD, _STDERR_FD)  # the zygote's own goes to the host
    os.dup2(stream, protocol.SOCKET_FD)  # where the control socket was: that is closed by it
    os.dup2(page_file, protocol.PAGE_FD)
    page = memoryview(mmap.mmap(protocol.PAGE_FD, protocol.PAGE_BYTES)).cast("Q")
    # The mapping stays without them; the module made a copy of the descriptor for itself.
    os.closerange(protocol.PAGE_FD, _MAX_FD)
    return page
