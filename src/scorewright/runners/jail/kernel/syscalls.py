"""System call numbers by name for the two architectures we run on."""

from __future__ import annotations

from scorewright.runners.jail.kernel.libc import MACHINE

#: name: (x86-64, aarch64); None where the architecture has no such call.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "setitimer": (38, 103),
    "getpid": (39, 172),
    "clone": (56, 220),
    "execve": (59, 221),
    "exit": (60, 93),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "ptrace": (101, 117),
    "capset": (126, 91),
    "sigaltstack": (131, 132),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "gettid": (186, 178),
    "futex": (202, 98),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "exit_group": (231, 94),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "perf_event_open": (298, 241),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "finit_module": (313, 273),
    "seccomp": (317, 277),
    "getrandom": (318, 278),
    "bpf": (321, 280),
    "execveat": (322, 281),
    "userfaultfd": (323, 282),
    "membarrier": (324, 283),
    "pkey_mprotect": (329, 288),
    "rseq": (334, 293),
    "io_uring_setup": (425, 425),
    "pidfd_open": (434, 434),
    "clone3": (435, 435),
    "landlock_create_ruleset": (444, 444),
    "open": (2, None),
    "stat": (4, None),
    "lstat": (6, None),
    "poll": (7, None),
    "ioctl": (16, 29),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "access": (21, None),
    "dup": (32, 23),
    "nanosleep": (35, 101),
    "socketpair": (53, 199),
    "uname": (63, 160),
    "fcntl": (72, 25),
    "ftruncate": (77, 46),
    "getcwd": (79, 17),
    "readlink": (89, None),
    "sysinfo": (99, 179),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "capget": (125, 90),
    "getpriority": (140, 141),
    "setpriority": (141, 140),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "prctl": (157, 167),
    "arch_prctl": (158, None),
    "tkill": (200, 130),
    "sched_getaffinity": (204, 123),
    "getdents64": (217, 61),
    "set_tid_address": (218, 96),
    "clock_nanosleep": (230, 115),
    "epoll_wait": (232, None),
    "epoll_ctl": (233, 21),
    "tgkill": (234, 131),
    "openat": (257, 56),
    "newfstatat": (262, 79),
    "readlinkat": (267, 78),
    "faccessat": (269, 48),
    "ppoll": (271, 73),
    "set_robust_list": (273, 99),
    "epoll_pwait": (281, 22),
    "eventfd2": (290, 19),
    "epoll_create1": (291, 20),
    "pipe2": (293, 59),
    "prlimit64": (302, 261),
    "pkey_alloc": (330, 289),
    "pkey_free": (331, 290),
    "statx": (332, 291),
    "faccessat2": (439, 439),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}


def is_known(name: str) -> bool:
    """Whether this architecture has a system call of that name."""
    column = {"x86_64": 0, "aarch64": 1}.get(MACHINE)
    return column is not None and _NUMBERS[name][column] is not None


def number(name: str) -> int:
    """Return the number of a system call on this machine.

    Raises:
        OSError: this architecture is not one of ours, or has no such call.
    """
    column = {"x86_64": 0, "aarch64": 1}.get(MACHINE)
    found = None if column is None else _NUMBERS[name][column]
    if found is None:
        raise OSError(0, f"no number for system call {name} on {MACHINE}")
    return found
