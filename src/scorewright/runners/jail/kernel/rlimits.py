"""Resource limits of one worker. It cannot clone, so limits per process are limits per evaluator."""

from __future__ import annotations

import resource

#: Descriptors a worker may hold: three standard streams, its socket, and a little air.
_MAX_OPEN_FILES = 8
#: Deep recursion raises RecursionError long before; this bounds the C stack under it.
STACK_BYTES = 16 << 20


def set_limits(*, memory_bytes: int, cpu_s: int, stack_bytes: int = STACK_BYTES) -> None:
    """Bound address space and processor time; forbid files, processes, core dumps and queues.

    Args:
        memory_bytes: The whole address space, the interpreter's own part included.
        cpu_s: Processor seconds of the worker's life: the last ring, for when the host is gone.
        stack_bytes: How far the stack may grow.
    """
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_NOFILE: _MAX_OPEN_FILES,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_STACK: stack_bytes,
    }
    for name, value in limits.items():
        resource.setrlimit(name, (value, value))
    # The first signal tells what a process has died of, the second one cannot be ignored.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
