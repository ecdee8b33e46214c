"""Code that looks for the file system: nothing that the language has leads there."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import PATIENT_S, Expect, Probe
from scorewright.runners.probes.script.source import attempting, evaluating, probe

_FAMILY: Final = "files"


def _refused(name: str, steps: str) -> Probe:
    return probe(name, _FAMILY, attempting(steps), Expect.REFUSED, timeout_s=PATIENT_S)


PROBES: Final = (
    _refused("Deno.readTextFileSync", 'Deno.readTextFileSync("/etc/passwd")'),
    _refused("Deno.writeTextFileSync", 'Deno.writeTextFileSync("/tmp/x", "x")'),
    _refused("Deno.openSync", 'Deno.openSync("/etc/passwd")'),
    _refused("Deno.makeTempFileSync", "Deno.makeTempFileSync()"),
    _refused("Deno.stdin", "Deno.stdin.readSync(new Uint8Array(9))"),
    _refused("Deno.cwd", "Deno.cwd()"),
    _refused(
        "node:fs in a function's text",
        "await Function(\"return import('node:fs').then((m) => m.readFileSync('/etc/passwd', 'utf8'))\")()",
    ),
    _refused("fetch of a file", 'await fetch("file:///etc/passwd")'),
    _refused(
        "module of a file", 'await import("file:///etc/hostname", { with: { type: "json" } })'
    ),
    _refused("web storage", 'localStorage.setItem("x", "y")'),
    _refused("caches", 'await caches.open("x")'),
    _refused("key-value store", "await Deno.openKv()"),
    _refused("address of an object", "URL.createObjectURL({})"),
    _refused(
        "source map of its own",
        "new Function('throw new Error(1)\\n//# sourceMappingURL=file:///etc/passwd')()",
    ),
    probe(
        "source under another file's name",
        _FAMILY,
        evaluating("new Function('throw new Error(1)\\n//# sourceURL=file:///etc/passwd')();"),
        Expect.FAILS,
    ),
    probe(
        "static import",
        _FAMILY,
        'import { readFileSync } from "node:fs";\nexport function evaluate(x) { return readFileSync("/etc/passwd", "utf8"); }\n',
        Expect.FAILS,
    ),
    probe(
        "static export from a module",
        _FAMILY,
        'export * from "node:fs";\nexport function evaluate(x) { return 1; }\n',
        Expect.FAILS,
    ),
)
