"""Code that wants to talk to somebody."""

from __future__ import annotations

from typing import Final

from scorewright.runners.harness.protocol import SOCKET_FD
from scorewright.runners.probes.probe import Expect, Probe
from scorewright.runners.probes.python.source import attempting

_FAMILY: Final = "network"


def _refused(name: str, steps: str) -> Probe:
    return Probe(name, _FAMILY, attempting(steps), Expect.REFUSED)


PROBES: Final = (
    _refused("TCP connection", '__import__("socket").create_connection(("127.0.0.1", 1), 1)'),
    _refused("TCP listener", '__import__("socket").create_server(("127.0.0.1", 0))'),
    _refused("UDP socket", "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)"),
    _refused("raw socket", "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
    _refused("packet socket", "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    _refused(
        "kernel socket", "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)"
    ),
    _refused(
        "socket of the host", 'import socket\nsocket.socket(socket.AF_UNIX).connect("/run/x")'
    ),
    _refused("abstract socket", 'import socket\nsocket.socket(socket.AF_UNIX).connect("\\0x")'),
    _refused("pair of sockets", '__import__("socket").socketpair()'),
    _refused("virtual machine socket", "import socket\nsocket.socket(socket.AF_VSOCK)"),
    _refused("name lookup", '__import__("socket").getaddrinfo("localhost", 80)'),
    _refused("host name", '__import__("socket").gethostname()'),
    _refused("web request", 'import urllib.request\nurllib.request.urlopen("http://127.0.0.1:1/")'),
    _refused(
        "web client",
        'import http.client\nhttp.client.HTTPConnection("127.0.0.1", 1).request("GET", "/")',
    ),
    _refused(
        "asyncio connection",
        'import asyncio\nasyncio.run(asyncio.open_connection("127.0.0.1", 1))',
    ),
    _refused(
        "descriptors over the worker's own socket",
        f"""
        import socket
        own = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno={SOCKET_FD})
        try:
            own.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b"\\1\\0\\0\\0")])
        finally:
            own.detach()
        """,
    ),
    _refused("poll", "import select\nselect.epoll()"),
)
