"""Hosts of a test's own: network namespaces that are linked to each other and to nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from databases import skip_or_fail

#: In `SCOREWRIGHT_TESTS_REQUIRE`.
NAME: Final = "namespaces"
NETWORK: Final = "10.77.61.0/24"


class Host:
    """One namespace: what runs in it sees its own network alone."""

    def __init__(self, name: str, number: int, hub: str) -> None:
        self.address = f"10.77.61.{number}"
        self._name = name
        self._port = f"port{number}"
        self._hub = hub

    @property
    def command(self) -> list[str]:
        """What runs the command behind it here; only the network is another one."""
        return ["nsenter", f"--net=/run/netns/{self._name}"]

    def cut_off(self) -> None:
        """Pull the cable: nothing gets through, and no connection is closed."""
        _ip("-n", self._hub, "link", "set", self._port, "down")

    def link_again(self) -> None:
        """Plug it in."""
        _ip("-n", self._hub, "link", "set", self._port, "up")


def require_namespaces() -> None:
    """Skip the test that asks where there are no namespaces to be had; fail it where the environment requires them."""
    if missing := _missing():
        skip_or_fail(NAME, f"needs network namespaces: {missing}")


@contextmanager
def hosts(count: int) -> Generator[list[Host]]:
    """Make so many hosts, all linked to the first one; they are gone in the end, whoever still runs in them."""
    mark = uuid.uuid4().hex[:8]
    names = [f"scorewright-{mark}-{number}" for number in range(1, count + 1)]
    made: list[str] = []
    try:
        for name in names:
            _ip("netns", "add", name)
            made.append(name)
            _ip("-n", name, "link", "set", "lo", "up")
        hub = names[0]
        _ip("-n", hub, "link", "add", "hub", "type", "bridge")
        _ip("-n", hub, "addr", "add", "10.77.61.1/24", "dev", "hub")
        _ip("-n", hub, "link", "set", "hub", "up")
        for number, name in enumerate(names[1:], 2):
            _link(hub, name, number)
        yield [Host(name, number, hub) for number, name in enumerate(names, 1)]
    finally:
        for name in made:
            _ip("netns", "del", name)


def _link(hub: str, name: str, number: int) -> None:
    port = f"port{number}"
    _ip("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "wire", "netns", name)
    _ip("-n", hub, "link", "set", port, "master", "hub", "up")
    _ip("-n", name, "addr", "add", f"10.77.61.{number}/24", "dev", "wire")
    _ip("-n", name, "link", "set", "wire", "up")


def _missing() -> str | None:
    """Say what is missing; None when all is there."""
    if os.geteuid() != 0:
        return "only root makes them"
    for command, package in (("ip", "iproute2"), ("nsenter", "util-linux")):
        if shutil.which(command) is None:
            return f"{command} is missing: apt-get install {package}"
    try:
        with hosts(2):
            pass
    except subprocess.CalledProcessError as error:
        return f"{' '.join(map(str, error.cmd))}: {error.stderr.strip()}"
    return None


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)
