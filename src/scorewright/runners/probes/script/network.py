"""Code that wants to talk to somebody: nothing that the language has leads there."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import PATIENT_S, Expect, Probe
from scorewright.runners.probes.script.source import attempting, probe

_FAMILY: Final = "network"
_PLACE: Final = "127.0.0.1:54321"


def _refused(name: str, steps: str) -> Probe:
    return probe(name, _FAMILY, attempting(steps), Expect.REFUSED, timeout_s=PATIENT_S)


PROBES: Final = (
    _refused("fetch", f'await fetch("http://{_PLACE}/")'),
    _refused("fetch of data", 'await (await fetch("data:,x")).text()'),
    _refused("fetch of an object's address", 'await fetch("blob:null/x")'),
    _refused("WebSocket", f'new WebSocket("ws://{_PLACE}/")'),
    _refused("EventSource", f'new EventSource("http://{_PLACE}/")'),
    _refused("XMLHttpRequest", "new XMLHttpRequest()"),
    _refused("Deno.connect", "await Deno.connect({ port: 54321 })"),
    _refused("Deno.listen", "Deno.listen({ port: 0 })"),
    _refused("Deno.resolveDns", 'await Deno.resolveDns("localhost", "A")'),
    _refused("Deno.serve", "Deno.serve(() => {})"),
    _refused("WebTransport", f'new WebTransport("https://{_PLACE}/")'),
    _refused("RTCPeerConnection", "new RTCPeerConnection()"),
    _refused("sendBeacon", f'navigator.sendBeacon("http://{_PLACE}/")'),
    _refused(
        "module over the network, by eval", f"await (0, eval)(\"import('http://{_PLACE}/x.js')\")"
    ),
    _refused(
        "source map over the network",
        f"new Function('throw new Error(1)\\n//# sourceMappingURL=http://{_PLACE}/x.map')()",
    ),
    _refused("channel to others", 'new BroadcastChannel("x").postMessage("y")'),
)
