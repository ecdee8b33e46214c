"""The layers around Deno: those of the jail, with room for a compiler."""

from __future__ import annotations

import os
import resource

from scorewright.runners.deno.root import Root
from scorewright.runners.jail import layers as jail_layers
from scorewright.runners.jail.kernel import capabilities, privileges, seccomp
from scorewright.runners.jail.layers import Layers, enter_zygote_layers

MANDATORY = frozenset(
    {"single_thread", "no_new_privs", "rlimits", "capabilities", "seccomp", "files"}
)
"""Without one of these Deno is not started. `files` is an own root, or else Landlock: V8 needs open and read."""

PURPOSES = {
    "files": "every file but those that Deno needs, by an own root or else by Landlock",
    "own_root": "every path but those of Deno, its libraries and scripts",
}
"""The layers that it does not share with the jail, and what they take away."""

NAMES = frozenset({*PURPOSES, *jail_layers.PURPOSES}) - {"dumpable", "empty_root"}
"""Every layer that it may have. What it executes can be looked into by its own user again, and its root is not empty."""

PROFILE = seccomp.Profile(
    allowed=tuple(
        (
            "read write close mmap munmap mremap brk madvise mprotect futex rt_sigreturn rt_sigaction "
            "rt_sigprocmask setitimer getpid gettid exit exit_group clock_gettime clock_getres gettimeofday "
            "sched_yield restart_syscall sigaltstack fstat lseek getrusage membarrier rseq getrandom "
            "pread64 pwrite64 openat open stat lstat statx newfstatat readlink readlinkat "
            "set_robust_list geteuid getuid getgid getegid pkey_mprotect pkey_alloc pkey_free "
            "sched_getscheduler sched_getparam getcwd epoll_ctl epoll_wait epoll_pwait uname sysinfo "
            "set_tid_address eventfd2 epoll_create1 arch_prctl access faccessat faccessat2 writev "
            "readv poll ppoll clock_nanosleep nanosleep sched_getaffinity execve"
        ).split()
    ),
    killing=tuple(name for name in seccomp.KILLING if name not in ("execve", "process_vm_readv")),
    compiles=True,
)
"""What a worker may call. `execve` is how Deno itself comes in; no later one finds another program."""

#: V8 reserves this much for code, and RLIMIT_DATA counts it.
_CODE_RANGE_MB = 600
_MAX_OPEN_FILES = 64
#: Threads of V8, and of other processes of this user where there is no namespace of its own.
_MAX_TASKS = 4096
#: The progress file gets one byte per item.
_MAX_FILE_BYTES = 64 << 20
_CPU_S = 24 * 3600


def enter_launcher_layers(layers: Layers, root: Root) -> bool:
    """Take the layers that all workers share.

    Returns:
        Whether the next child is the first process of a new process namespace.
    """
    own_processes = enter_zygote_layers(layers, enter_root=root.enter, root_layer="own_root")
    # The launcher's alone: what it executes can be looked into by its own user again.
    layers.report.pop("dumpable")
    return own_processes


def enter_worker_layers(layers: Layers, root: Root, *, memory_mb: int) -> None:
    """Take the layers of one worker, the system call filter last.

    Args:
        layers: Where what became of each is noted.
        root: The files that Deno needs.
        memory_mb: What the author's code may use.
    """
    layers.apply("rlimits", lambda: _set_limits(memory_mb))
    layers.apply("capabilities", capabilities.drop_all)
    layers.apply("no_new_privs", privileges.set_no_new_privileges)
    layers.apply("landlock", root.allow)
    layers.apply("files", lambda: _require_files(layers))
    profile = PROFILE._replace(own_pid=os.getpid())
    layers.apply("seccomp", lambda: seccomp.load(seccomp.assemble(profile)))


def _require_files(layers: Layers) -> None:
    if not any(layers.holds(name) for name in ("own_root", "landlock")):
        raise OSError(0, "neither an own root nor Landlock keeps the host's files away")


def _set_limits(memory_mb: int) -> None:
    limits = {
        resource.RLIMIT_DATA: (_CODE_RANGE_MB + memory_mb) << 20,
        resource.RLIMIT_NOFILE: _MAX_OPEN_FILES,
        resource.RLIMIT_FSIZE: _MAX_FILE_BYTES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: _MAX_TASKS,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_CPU: _CPU_S,
    }
    for name, value in limits.items():
        resource.setrlimit(name, (value, value))
