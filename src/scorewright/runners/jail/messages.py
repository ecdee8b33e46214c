"""What supervisor and zygote say to each other over the control socket, as JSON."""

from __future__ import annotations

import msgspec


class Request(msgspec.Struct, frozen=True):
    """A worker is wanted; its socket and progress page come along."""

    memory_mb: int
    #: Which one, where a fork server has several; empty for the one that runs evaluators.
    program: str = ""


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The zygote's first message."""

    layers: dict[str, str]


class Forked(msgspec.Struct, frozen=True, tag="forked"):
    """A worker was forked; its pidfd comes along."""

    pid: int


class Exited(msgspec.Struct, frozen=True, tag="exited"):
    """A worker ended."""

    pid: int
    #: As waitpid gives it.
    status: int
