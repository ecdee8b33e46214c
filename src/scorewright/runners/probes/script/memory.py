"""Code that takes more memory than it may have, or answers with more than anybody wants."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import PATIENT_S, Expect, Probe
from scorewright.runners.probes.script.source import evaluating, probe

_FAMILY: Final = "memory"


def _contained(name: str, body: str) -> Probe:
    return probe(name, _FAMILY, evaluating(body), Expect.CONTAINED)


def _fails(name: str, body: str) -> Probe:
    """Nothing but a failure will do: the code comes to its end only when it was not stopped."""
    done = 'return { score: 1, explanation: "escaped: it was all had" };'
    return probe(name, _FAMILY, evaluating(f"{body}\n{done}"), Expect.CONTAINED, timeout_s=0.3)


def _harmless(name: str, body: str) -> Probe:
    return probe(name, _FAMILY, evaluating(body), Expect.HARMLESS, timeout_s=0.3)


PROBES: Final = (
    _fails("list that grows", "const a = []; for (;;) a.push(new Array(1000).fill(1.5));"),
    _fails(
        "typed arrays that grow", "const a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(1));"
    ),
    _fails("many small objects", "const a = []; for (let n = 0; ; n++) a.push({ n, next: a });"),
    _fails("map that grows", "const m = new Map(); for (let n = 0; ; n++) m.set(n, { n });"),
    _fails("set that grows", "const s = new Set(); for (let n = 0; ; n++) s.add(`key ${n}`);"),
    _fails("object of many keys", "const o = {}; for (let n = 0; ; n++) o[`key ${n}`] = n;"),
    _fails("text that doubles", 'let s = "x"; for (;;) s += s;'),
    _fails(
        "texts that are kept",
        'const a = []; for (let n = 0; ; n++) a.push(("x" + n).repeat(1e5).normalize());',
    ),
    _fails(
        "list of a billion", "const a = new Array(1e9).fill(0);\nif (a.length !== 1e9) throw 1;"
    ),
    _fails("buffer of 100 GB", "const b = new ArrayBuffer(1e11);"),
    _fails(
        "buffer that is resized",
        "const b = new ArrayBuffer(0, { maxByteLength: 2 ** 33 });\nb.resize(2 ** 33);\nnew Uint8Array(b).fill(1);",
    ),
    _fails("number of a gigabyte", "let n = 3n; for (;;) n *= n;"),
    _fails(
        "closures that are kept",
        "let f = () => 0; for (;;) { const g = f; const a = new Array(50); f = () => [g, a]; }",
    ),
    _fails(
        "copies that are kept",
        "const a = []; const b = new Uint8Array(1 << 22); for (;;) a.push(structuredClone(b));",
    ),
    _fails(
        "encoded texts that are kept",
        'const a = []; const t = "é".repeat(1 << 20); for (;;) a.push(new TextEncoder().encode(t));',
    ),
    _fails(
        "addresses that are kept",
        'const a = []; for (let n = 0; ; n++) a.push(new URL(`http://h/${n}?${"q".repeat(1e4)}`));',
    ),
    _fails(
        "promises that are kept", "const a = []; for (;;) a.push(new Promise(() => {}).then());"
    ),
    _fails("timers that pile up", "for (;;) setTimeout(() => {}, 1, new Array(1000));"),
    _fails("rejections that pile up", "for (;;) Promise.reject(new Array(1000).fill(0));"),
    _fails(
        "generators that are kept",
        "const a = []; for (;;) { const g = (function* () { yield 1; })(); g.next(); a.push(g); }",
    ),
    _fails(
        "code that is kept",
        "const a = []; for (let n = 0; ; n++) a.push(new Function(`return ${'n+'.repeat(5000)}${n}`));",
    ),
    _fails(
        "formatters that are kept",
        "const a = []; for (;;) a.push(new Intl.NumberFormat('en'), new Intl.DateTimeFormat('en'));",
    ),
    _fails(
        "pattern that matches everything",
        'const a = []; for (;;) a.push("ab".repeat(1e5).match(/./g));',
    ),
    _fails(
        "error of no memory caught again and again",
        "const a = []; for (;;) try { for (;;) a.push(new Uint8Array(1 << 24).fill(1)); } catch { continue; }",
    ),
    _contained(
        "result of 200 MB", 'return { score: 0, explanation: "", more: "a".repeat(200 << 20) };'
    ),
    _contained(
        "result of many values",
        'return { score: 0, explanation: "", more: new Array(1e6).fill(1) };',
    ),
    _contained(
        "result of many names",
        'const o = { score: 0, explanation: "" };\nfor (let n = 0; n < 1e5; n++) o[n] = n;\nreturn o;',
    ),
    _contained(
        "result that doubles at each level",
        'let a = ["x"];\nfor (let n = 0; n < 40; n++) a = [a, a];\nreturn { score: 0, explanation: "", more: a };',
    ),
    _contained(
        "result whose text doubles in JSON",
        'return { score: 0, explanation: "\\u0000".repeat(2e5) };',
    ),
    _harmless("explanation of 50 MB", 'return { score: 0, explanation: "a".repeat(50 << 20) };'),
    _harmless("print of 150 MB", 'for (let n = 0; n < 3; n++) console.log("a".repeat(50 << 20));'),
    _harmless("print a million times", 'for (let n = 0; n < 1e6; n++) console.log("aaaaaaaaaa");'),
    _harmless("print of a large object", "console.log(new Array(1e6).fill({ a: [1, 2, 3] }));"),
    probe(
        "exception text of 100 MB",
        _FAMILY,
        evaluating('throw new Error("a".repeat(100 << 20));'),
        Expect.CONTAINED,
        timeout_s=PATIENT_S,
    ),
    _contained(
        "exception stack of a hundred million lines",
        'const e = new Error("x"); e.stack = "\\n".repeat(1e8); throw e;',
    ),
    _contained(
        "exception that holds everything",
        "const a = []; a.push(a, new Array(1e6).fill(a)); throw { a };",
    ),
)
