"""What a reader must not be able to do, tried from inside: the proof that its jail is one."""

from __future__ import annotations

import mmap
import os
import socket
import threading
from collections.abc import Callable
from typing import Final

import msgspec

_PATH: Final = "/etc/passwd"


def _start_thread() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


ATTEMPTS: Final[dict[str, Callable[[], object]]] = {
    "read a file": lambda: os.open(_PATH, os.O_RDONLY),
    "write a file": lambda: os.open("/tmp/reader", os.O_CREAT | os.O_WRONLY),  # noqa: S108 - to be refused
    "list a folder": lambda: os.listdir("/"),
    "ask for a path": lambda: os.stat(_PATH),
    "open a TCP socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "open a UDP socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "open a Unix socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
    "make a pair of sockets": socket.socketpair,
    "fork": _fork,
    "start a thread": _start_thread,
    "signal its parent": lambda: os.kill(os.getppid(), 0),
    "make an executable page": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC),
}


def try_all() -> bytes:
    """Try each and encode by name why it was refused; null where it was not."""
    return msgspec.json.encode({name: _refusal(attempt) for name, attempt in ATTEMPTS.items()})


def _refusal(attempt: Callable[[], object]) -> str | None:
    try:
        attempt()
    except (OSError, RuntimeError) as error:
        return str(error)
    return None
