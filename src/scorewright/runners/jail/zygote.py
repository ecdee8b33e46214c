"""The zygote: loads what workers need once, takes the shared layers, and forks a worker per request.

Started by `supervisor.py` as `python -s -P -S -c …` with an explicit environment and one SOCK_SEQPACKET
descriptor. Not with -I or -E: those ignore PYTHONHASHSEED, and set order would differ from run to run.
"""

from __future__ import annotations

import gc
import importlib
import mmap
import os
import signal
import site
import sys
from typing import NoReturn

import msgspec

from scorewright import authoring
from scorewright.authoring import (  # loaded once, here: a worker would have to compile them
    from_item,  # noqa: F401 # pyright: ignore[reportUnusedImport]
    trace_dict,  # noqa: F401 # pyright: ignore[reportUnusedImport]
)
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
from scorewright.runners.jail.fork_server import Fork, become_first_process, keep_only, serve
from scorewright.runners.jail.kernel import privileges, seccomp
from scorewright.runners.jail.layers import (
    MANDATORY,
    Layers,
    enter_worker_layers,
    enter_zygote_layers,
    missing,
)

#: Processor time of a worker's life: the last ring, for a worker that lost both host and zygote.
_CPU_S = 24 * 3600
#: Loaded for our own use; the author's code has the standard library and `scorewright.authoring`.
#: (time-machine stays: its C part looks it up by name at every call.)
_FOREIGN = {"RestrictedPython", "msgspec", "typing_extensions", "tzdata"}
ENGINE = f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"
#: Above every descriptor that a worker can have: the zygote has none but its four.
_MAX_FD = 32
_STDOUT_FD, _STDERR_FD = 1, 2
#: The exit status of a worker that lacks a mandatory layer.
_REFUSED = 71


def main(control: int, omitted: str, policy: protocol.Policy) -> NoReturn:
    """Prepare, enter the layers, and serve requests until the host closes its end.

    Args:
        control: Descriptor of the control socket.
        omitted: Layers to leave out, with commas between (negative control only).
        policy: The one that workers shall be able to apply.
    """
    keep_only(control)
    if policy == "restricted":  # while there are files to import from
        importlib.import_module("scorewright.runners.harness.restricted")
    _load_library()
    own_bytes = _address_space_bytes()  # asked while /proc is still there
    layers = Layers(frozenset(filter(None, omitted.split(","))))
    if enter_zygote_layers(layers):
        become_first_process()
    seccomp.assemble()  # once, for all workers
    gc.collect()
    gc.freeze()
    fork = serve(layers)
    if fork is not None:
        _run_worker(fork, layers, own_bytes)
    sys.exit(0)


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


def _run_worker(fork: Fork, zygote: Layers, own_bytes: int) -> NoReturn:
    """Become a worker: take its layers, and only then read what the author wrote."""
    end = os._exit
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        memory = _take_descriptors(fork.descriptors)
        privileges.die_with_parent(fork.parent)
        layers = Layers(zygote.omitted, zygote.report)
        memory_bytes = (fork.memory_mb << 20) + own_bytes
        enter_worker_layers(layers, memory_bytes=memory_bytes, cpu_s=_CPU_S)
        hello = protocol.Hello(layers=layers.report, engine=ENGINE)
        if missing(layers.report, MANDATORY - zygote.omitted):
            worker.Wire(protocol.SOCKET_FD).send(protocol.HELLO, msgspec.json.encode(hello))
            end(_REFUSED)
        worker.serve(protocol.SOCKET_FD, memory, hello, jailed=True)
    finally:  # whatever happened, a worker never becomes anything else
        end(worker.HARNESS_BROKE)


def _take_descriptors(received: list[int]) -> protocol.SharedMemory:
    """Keep the standard streams, which lead nowhere, and the worker's socket; return the shared memory."""
    stream, page_file = received
    os.dup2(_STDOUT_FD, _STDERR_FD)  # the zygote's own goes to the host
    os.dup2(stream, protocol.SOCKET_FD)  # where the control socket was: that is closed by it
    os.dup2(page_file, protocol.PAGE_FD)
    memory = protocol.SharedMemory(mmap.mmap(protocol.PAGE_FD, protocol.SHARED_BYTES))
    # The mapping stays without them; the module made a copy of the descriptor for itself.
    os.closerange(protocol.PAGE_FD, _MAX_FD)
    return memory
