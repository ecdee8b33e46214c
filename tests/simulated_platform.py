"""Starts a command as it would run on another machine: `simulated_platform.py PLATFORM FOLDER COMMAND…`.

What the other machine refuses is refused by an outer system call filter, the way containers do it; an ordinary
user is a user that nobody else is. FOLDER, where not empty, holds an interpreter's import paths for users who
cannot read ours.
"""

from __future__ import annotations

import errno
import os
import resource
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from scorewright.runners.jail.kernel import capabilities, privileges, seccomp
from scorewright.runners.jail.kernel.namespaces import FLAGS
from scorewright.runners.jail.kernel.syscalls import number

ORDINARY_USER = 12345
_LOAD, _IF_EQUAL, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ERRNO, _ALLOW = 0x0005_0000, 0x7FFF_0000
_AT_NUMBER, _AT_FIRST_ARGUMENT = 0, 16
_ANY_NAMESPACE = sum(FLAGS.values())
_ADMINISTRATION = (
    "setns mount umount2 pivot_root keyctl bpf userfaultfd perf_event_open io_uring_setup".split()
)
_LANDLOCK = ("landlock_create_ruleset", "landlock_restrict_self")


def main() -> None:
    """Become the platform, then the command."""
    platform, folder, *command = sys.argv[1:]
    if folder:
        command = _with_import_paths(command, folder)
    PLATFORMS[platform](command)
    os.execv(command[0], command)  # noqa: S606 - the command we were given


def _with_import_paths(command: list[str], folder: str) -> list[str]:
    """Exchange interpreter and import paths, which are what follows the program and its two arguments."""
    program = command.index("-c")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    python = f"/usr/bin/python{version}"
    return [python, *command[1 : program + 4], folder]


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value & 0xFFFF_FFFF)


def _answer(name: str, error: int) -> bytes:
    return _op(_IF_EQUAL, number(name), 0, 1) + _op(_RETURN, _ERRNO | error)


def _answer_flags(name: str, flags: int, error: int) -> bytes:
    """Refuse a call whose first argument has any of these bits."""
    return (
        _op(_IF_EQUAL, number(name), 0, 4)
        + _op(_LOAD, _AT_FIRST_ARGUMENT)
        + _op(_IF_ANY_BIT, flags, 0, 1)
        + _op(_RETURN, _ERRNO | error)
        + _op(_RETURN, _ALLOW)
    )


def _filter(*answers: bytes) -> None:
    privileges.set_no_new_privileges()
    seccomp.load(b"".join((_op(_LOAD, _AT_NUMBER), *answers, _op(_RETURN, _ALLOW))))


def _container_filter(*further: bytes) -> None:
    _filter(
        *further,
        *(_answer(name, errno.EPERM) for name in ("unshare", *_ADMINISTRATION)),
        _answer("clone3", errno.ENOSYS),
        _answer_flags("clone", _ANY_NAMESPACE, errno.EPERM),
    )


def _become_ordinary() -> None:
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(ORDINARY_USER, ORDINARY_USER, ORDINARY_USER)
        os.setresuid(ORDINARY_USER, ORDINARY_USER, ORDINARY_USER)
    capabilities.drop_all()


def _ordinary_user(_command: list[str]) -> None:
    _become_ordinary()


def _container_root(_command: list[str]) -> None:
    _container_filter()


def _container(_command: list[str]) -> None:
    _become_ordinary()
    _container_filter()


def _container_without_landlock(_command: list[str]) -> None:
    _become_ordinary()
    _container_filter(*(_answer(name, errno.ENOSYS) for name in _LANDLOCK))


def _powerless_namespaces(_command: list[str]) -> None:
    """A user namespace is granted and everything inside it refused, as AppArmor does on some desktops."""
    _become_ordinary()
    others = _ANY_NAMESPACE & ~FLAGS["user"]
    _filter(
        _answer_flags("unshare", others, errno.EPERM),
        *(_answer(name, errno.EPERM) for name in _ADMINISTRATION),
    )


def _namespaces_used_up(_command: list[str]) -> None:
    """As where user.max_user_namespaces is 0."""
    _become_ordinary()
    _filter(_answer("unshare", errno.ENOSPC))


def _without_seccomp(_command: list[str]) -> None:
    _become_ordinary()
    _container_filter(_answer("seccomp", errno.EINVAL))


def _without_pidfd(_command: list[str]) -> None:
    """As on kernels before 5.3."""
    _filter(_answer("pidfd_open", errno.ENOSYS))


def _without_processes(_command: list[str]) -> None:
    """As for a user who has as many processes as allowed."""
    _become_ordinary()
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def _with_a_thread(command: list[str]) -> None:
    """Run the command's program in a process where something has started a thread."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    program = command.index("-c")
    sys.argv[:] = ["-c", *command[program + 2 :]]
    exec(command[program + 1], {"__name__": "__main__"})  # noqa: S102 - the zygote's own program
    sys.exit(0)


PLATFORMS: dict[str, Callable[[list[str]], None]] = {
    "ordinary user": _ordinary_user,
    "container, root": _container_root,
    "container": _container,
    "container without Landlock": _container_without_landlock,
    "powerless namespaces": _powerless_namespaces,
    "namespaces used up": _namespaces_used_up,
    "without seccomp": _without_seccomp,
    "without pidfds": _without_pidfd,
    "without processes": _without_processes,
    "with a thread": _with_a_thread,
}


if __name__ == "__main__":
    main()
