"""Code that does not come to an end: only the host looks at the clock, and ends it."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import PATIENT_S, Expect, Probe
from scorewright.runners.probes.script.source import RESULT, evaluating, probe, waiting

_FAMILY: Final = "time"
#: Deno itself takes a tenth of this from the start to the first item.
_TIMEOUT_S: Final = 0.15


def _endless(name: str, source: str) -> Probe:
    return probe(name, _FAMILY, source, Expect.TIMES_OUT, timeout_s=_TIMEOUT_S)


def _fails(name: str, source: str) -> Probe:
    return probe(name, _FAMILY, source, Expect.FAILS, timeout_s=PATIENT_S)


PROBES: Final = (
    _endless("endless loop", evaluating("for (;;);")),
    _endless("loop in finally", evaluating("try { for (;;); } finally { for (;;); }")),
    _endless(
        "loop that swallows everything",
        evaluating("for (;;) try { for (;;) null.x; } catch { continue; } finally { continue; }"),
    ),
    _endless("backtracking pattern", evaluating('/^(a+)+$/.test("a".repeat(60) + "b");')),
    _endless(
        "backtracking replacement",
        evaluating('"x".repeat(1e5).replace(/(x+x+)+y/g, () => "z");'),
    ),
    _endless("loop while loading", f"function evaluate(x) {{ return {RESULT}; }}\nfor (;;);\n"),
    _endless("loop in a promise", waiting("for (;;);")),
    _endless("promises without end", waiting("for (;;) await 0;")),
    _endless(
        "promises without end, left behind",
        evaluating("(async () => { for (;;) await 0; })();"),
    ),
    _endless(
        "timers without end",
        evaluating("setInterval(() => {}, 1); return new Promise(() => {});"),
    ),
    _endless(
        "timer that sets the next",
        evaluating("(function again() { setTimeout(again, 0); })(); return new Promise(() => {});"),
    ),
    _endless(
        "microtasks that queue the next",
        evaluating(
            "(function again() { queueMicrotask(again); })(); return new Promise(() => {});"
        ),
    ),
    _endless("promise of itself", evaluating("const t = { then(ok) { ok(t); } };\nreturn t;")),
    _endless(
        "generator without end",
        evaluating("for (const n of (function* () { for (;;) yield 1; })());"),
    ),
    _endless(
        "iterator helper without end",
        evaluating("Iterator.from({ next: () => ({ done: false }) }).filter(() => false).next();"),
    ),
    _endless(
        "iterator that never says done",
        evaluating(
            "new Map({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: [1, 1] }) }) });"
        ),
    ),
    _endless(
        "sort that compares for ever",
        evaluating("[3, 2, 1].sort(() => { for (;;); });"),
    ),
    _endless(
        "result: getter that never returns", evaluating("return { get score() { for (;;); } };")
    ),
    _endless("result: toJSON that never returns", evaluating("return { toJSON() { for (;;); } };")),
    _endless(
        "result: list longer than time",
        evaluating(
            "return { score: 0, explanation: '', m: new Proxy([], { get: (_, key) => key === 'length' ? 2 ** 53 : undefined }) };"
        ),
    ),
    _endless(
        "result: keys for ever",
        evaluating("return new Proxy({}, { ownKeys() { for (;;); } });"),
    ),
    _endless(
        "print: text that never comes",
        evaluating("console.log({ get [Symbol.toStringTag]() { for (;;); } });"),
    ),
    _endless(
        "exception whose text never comes",
        evaluating("throw Object.assign(new Error(), { message: { toString() { for (;;); } } });"),
    ),
    _endless(
        "exception whose name never comes",
        evaluating(
            "throw new (class extends Error { get name() { for (;;); } get message() { for (;;); } })();"
        ),
    ),
    _endless(
        "exception whose stack never comes",
        evaluating("throw Object.defineProperty(new Error(), 'stack', { get() { for (;;); } });"),
    ),
    _endless(
        "exception that never says what it is",
        evaluating("throw new Proxy(new Error(), { getPrototypeOf() { for (;;); } });"),
    ),
    _endless("wait by the date", evaluating("const t = Date.now(); while (Date.now() < t + 1);")),
    _endless(
        "copy that never ends",
        evaluating("structuredClone({ get a() { for (;;); } });"),
    ),
    _fails("promise that never settles", evaluating("return new Promise(() => {});")),
    _fails("thenable that never settles", evaluating("return { then() {} };")),
    _fails(
        "asynchronous iterator that never comes",
        waiting(
            "for await (const n of { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) });"
        ),
    ),
    probe(
        "timer of a hundred days",
        _FAMILY,
        evaluating(f"return new Promise((go) => setTimeout(() => go({RESULT}), 1e10));"),
        Expect.CLEAN,
    ),
)
