"""Code that looks for what belongs to somebody else: the host, another evaluator, another item."""

from __future__ import annotations

import textwrap
from typing import Final

from scorewright.runners.probes.probe import PATIENT_S, Expect, Probe
from scorewright.runners.probes.script.source import RESULT, escaped, evaluating, probe

_FAMILY: Final = "isolation"

#: Walks over everything that code can get hold of, from examples of all kinds, and hands each object to `visit`.
_WALK: Final = """
function examples() {
  const found = [globalThis, evaluate, (async () => {}), (function* () {}), (async function* () {}), (function* () {})(),
    (async function* () {})(), [][Symbol.iterator](), [].values().map(String), Iterator.from({ next() {} }), new Map().entries(),
    new Set().values(), "x".matchAll(/x/g), ""[Symbol.iterator](), new URL("http://h/?a=b"), new URLSearchParams("a=b"),
    new URLSearchParams("a=b").entries(), new Intl.Segmenter().segment("a"), new Intl.Segmenter().segment("a")[Symbol.iterator](),
    new Intl.NumberFormat(), new Intl.DateTimeFormat(), new TextDecoder(), new TextEncoder(), Promise.withResolvers(),
    Proxy.revocable({}, {}), new Error("x"), new WeakRef({}), structuredClone(new Error("x")), structuredClone(new Map()),
    Object.getOwnPropertyDescriptors(new Error("x")), setTimeout(() => {}), [].entries().take(1), [].values().flatMap(() => []),
    (() => { const o = {}; Error.captureStackTrace(o); return Object.getOwnPropertyDescriptors(o); })(),
    (function () { return arguments; })(), new Intl.Locale("en"), new Intl.ListFormat(), new Intl.PluralRules(),
    (() => { let all; console.log({ [Symbol.for("Deno.customInspect")](...given) { all = given; return ""; } }); return all; })(),
    (() => { let all; console.log({ [Symbol.for("nodejs.util.inspect.custom")](...given) { all = given; return ""; } }); return all; })()];
  for (const call of [() => atob("%"), () => structuredClone(() => 1), () => new URL("x"), () => new TextDecoder("x"), () => null.x,
    () => BigInt("x"), () => new Intl.Locale("?"), () => decodeURI("%"), () => new Array(-1), () => JSON.parse("?"),
    () => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])), () => URL.createObjectURL(1)]) {
    try { call(); } catch (error) { found.push(error); }
  }
  return found;
}

function walk(visit) {
  const seen = new Set();
  const todo = examples();
  while (todo.length) {
    const each = todo.pop();
    if (each === null || (typeof each !== "object" && typeof each !== "function") || seen.has(each)) continue;
    seen.add(each);
    todo.push(Object.getPrototypeOf(each));
    for (const key of Reflect.ownKeys(each)) {
      const described = Reflect.getOwnPropertyDescriptor(each, key);
      todo.push(described.value, described.get, described.set);
      if (typeof described.value === "string") visit(described.value, key, each);
    }
    visit(each);
  }
}
"""


def _walking(name: str, visit: str, *, items: int = 1) -> Probe:
    """Report what `visit` (statements about `each`, which `key` of `owner` led to) puts into `loot`."""
    source = (
        f"{_WALK}\nfunction evaluate(x) {{\n  let loot;\n  walk((each, key, owner) => {{{visit}}});\n"
        f"  if (loot !== undefined) {escaped('loot')}\n  return {RESULT};\n}}\n"
    )
    return probe(name, _FAMILY, source, Expect.CLEAN, items=items, timeout_s=PATIENT_S)


def _clean(name: str, body: str, *, items: int = 1) -> Probe:
    return probe(name, _FAMILY, evaluating(body), Expect.CLEAN, items=items, timeout_s=PATIENT_S)


def _finding(name: str, steps: str) -> Probe:
    """Report what these statements put into `loot`, should that be anything."""
    return _clean(name, f"let loot;\n{textwrap.dedent(steps)}\nif (loot) {escaped('loot')}")


def _state(name: str, before: str, after: str) -> Probe:
    """Look for what the item before has left (an expression), then leave something (statements)."""
    return _clean(
        f"state kept in {name}",
        f"let had;\ntry {{ had = {before}; }} catch {{}}\nif (had) {escaped('had')}\n"
        f"try {{ {after} }} catch {{}}",
        items=3,
    )


_SECRETS: Final = (
    _walking(
        "everything that can be reached",
        """
        if (typeof each !== "function") return;
        const text = Function.prototype.toString.call(each);
        if (/^(exit|readSync|writeSync|openSync|dlopen|receive|send|serve|op_.*)$/.test(each.name)) loot = each.name;
        if (/\\b(exit|readSync|receive|serve)\\(/.test(text) && !text.includes("loot")) loot = text;
        """,
    ),
    _walking(
        "secrets among all texts",
        """
        const needle = ["scorewright", "canary"].join("-");
        if (typeof each === "string" && each.includes(needle)) loot = each;
        """,
    ),
    _walking(
        "secrets in the text of functions",
        """
        const needle = ["scorewright", "canary"].join("-");
        if (typeof each === "function" && Function.prototype.toString.call(each).includes(needle)) loot = each.name;
        """,
    ),
    _finding("callers", "loot = evaluate.caller;"),
    _finding(
        "callers by arguments",
        "loot = (function () { return arguments.callee.caller.caller; })();",
    ),
    _finding(
        "frames as objects",
        """
        try { Error.prepareStackTrace = (_, frames) => { loot = frames; }; } catch {}
        void new Error().stack;
        """,
    ),
    _finding(
        "files in the text of frames",
        """
        const others = new Error().stack.match(/file:\\S+/g).filter((at) => !at.includes("/worker.mjs:"));
        if (others.length) loot = others;
        """,
    ),
    _finding(
        "variables of the harness",
        """
        const names = ["D", "read", "write", "exit", "LAYERS", "prints", "chance", "send", "runMicrotasks"];
        loot = names.filter((name) => (0, eval)(`typeof ${name}`) !== "undefined").join();
        """,
    ),
    _finding(
        "arguments of the factory",
        "loot = module.parent || module.require || module.constructor !== Object || arguments.callee.caller;",
    ),
    _finding(
        "real clock",
        """
        const format = new Intl.DateTimeFormat("en", { year: "numeric" });
        const parts = format.formatToParts().map((part) => part.value).join("");
        const years = [new Date().getFullYear(), format.format(), format.format(undefined), parts, Date().slice(11, 15),
          structuredClone(new Date()).getFullYear(), new (Object.getPrototypeOf(new Date()).constructor)().getFullYear()];
        if (years.some((year) => Number(year) !== 1970)) loot = years;
        """,
    ),
    _finding(
        "real chance",
        "loot = globalThis.crypto || (Math.random() === Math.random() && 'none');",
    ),
    _finding(
        "language and place of the machine",
        """
        const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
        if (timeZone !== "UTC" || locale !== "en-US") loot = [timeZone, locale];
        """,
    ),
)

_STATE: Final = (
    _walking(
        "state kept on any object",
        """
        if (typeof each === "string") return;
        if (Object.hasOwn(each, "left")) loot = each.name ?? typeof each;
        try { each.left = 1; } catch {}
        try { if (Object.isExtensible(each)) Object.defineProperty(each, "left", { value: 1 }); } catch {}
        """,
        items=2,
    ),
    probe(
        "state kept in the module",
        _FAMILY,
        f"let n = 0;\nconst seen = [];\nfunction evaluate(x) {{\n  n++; seen.push(x); evaluate.n = (evaluate.n ?? 0) + 1;\n"
        f"  if (n > 1 || seen.length > 1 || evaluate.n > 1) {escaped('seen')}\n  return {RESULT};\n}}\n",
        Expect.CLEAN,
        items=3,
    ),
    _state(
        "the global object",
        "globalThis.left",
        "globalThis.left = 1; Object.defineProperty(globalThis, 'left', { value: 1 });",
    ),
    _state("an undeclared name", "typeof left !== 'undefined' && left", "left = 1;"),
    _state(
        "a variable by eval",
        "(0, eval)('typeof left !== \"undefined\" && left')",
        "(0, eval)('var left = 1');",
    ),
    _state(
        "a let by eval",
        "(0, eval)('typeof left !== \"undefined\" && left')",
        "(0, eval)('let left = 1'); Function('let left = 1')();",
    ),
    _state(
        "a function by eval",
        "(0, eval)('typeof left !== \"undefined\"')",
        "(0, eval)('function left() {}');",
    ),
    _state(
        "the last match",
        "RegExp.$1 || RegExp.lastMatch || RegExp.input || RegExp['$`']",
        "/(.+)/.exec('left by ' + x);",
    ),
    _state("the text of the last match", "RegExp.input", "RegExp.input = 'left';"),
    _state("a pattern's place", "/x/g.lastIndex", "/x/g.exec('xx');"),
    _state("the registry of symbols", "Symbol.for('left').left", "Symbol.for('left').left = 1;"),
    _state(
        "a prototype",
        "({}).left ?? [].left ?? ''.left ?? (() => 1).left",
        "Object.prototype.left = Array.prototype.left = String.prototype.left = Function.prototype.left = 1;",
    ),
    _state(
        "a prototype, by definition",
        "({}).left",
        "Object.defineProperty(Object.prototype, 'left', { value: 1 });",
    ),
    _state(
        "the prototype of the global object",
        "globalThis.left",
        "Object.setPrototypeOf(globalThis, { left: 1 }); globalThis.__proto__.left = 1;",
    ),
    _state("the depth of stacks", "Error.stackTraceLimit !== 10", "Error.stackTraceLimit = 3;"),
    _state(
        "the maker of stacks", "Error.prepareStackTrace", "Error.prepareStackTrace = () => 'left';"
    ),
    _state("a function of Math", "Math.random() > 1", "Math.random = () => 9; Math.left = 1;"),
    _state("the console", "console.left", "console.left = 1; console.log.left = 1;"),
    _state(
        "the numbers of timers",
        "setTimeout(() => {}) > 1",
        "setTimeout(() => {}); setTimeout(() => {});",
    ),
    _state(
        "Intl",
        "Intl.left ?? Intl.DateTimeFormat.prototype.left",
        "Intl.left = Intl.DateTimeFormat.prototype.left = 1;",
    ),
    _state(
        "an object that is thrown",
        "(() => { try { atob('%'); } catch (e) { return e.constructor.left ?? e.left; } })()",
        "try { atob('%'); } catch (e) { e.constructor.left = Object.getPrototypeOf(e).left = 1; }",
    ),
    _state(
        "the text of a template",
        "((s) => s.left)`x`",
        "((s) => { s.left = 1; s.raw.left = 1; })`x`;",
    ),
    _state(
        "a moment of a date",
        "new Date().toTemporalInstant().constructor.left",
        "new Date().toTemporalInstant().constructor.left = 1;",
    ),
    _state(
        "a getter's function",
        "Object.getOwnPropertyDescriptor(RegExp.prototype, 'source').get.left",
        "Object.getOwnPropertyDescriptor(RegExp.prototype, 'source').get.left = 1;",
    ),
    _state(
        "the prototype of generators",
        "(function* () {}).prototype.left ?? Object.getPrototypeOf(function* () {}).left",
        "Object.getPrototypeOf(function* () {}).left = 1; Object.getPrototypeOf((function* () {}).prototype).left = 1;",
    ),
    _state(
        "a weak reference's maker",
        "WeakRef.left ?? WeakRef.prototype.left",
        "WeakRef.left = WeakRef.prototype.left = 1;",
    ),
)

_WORK: Final = (
    probe(
        "work left behind: print",
        _FAMILY,
        evaluating(
            "(async () => { for (let n = 0; n < 9999; n++) await 0; console.log('late'); })();"
        ),
        Expect.CLEAN,
        items=3,
    ),
    probe(
        "work left behind: timer",
        _FAMILY,
        evaluating("setTimeout(() => { for (;;); }, 0); setInterval(() => { for (;;); }, 1);"),
        Expect.CLEAN,
        items=3,
    ),
    probe(
        "work left behind: timer while loading",
        _FAMILY,
        f"setTimeout(() => {{ throw 1; }}, 0);\nasync function evaluate(x) {{ return {RESULT}; }}\n",
        Expect.CLEAN,
        items=3,
    ),
    probe(
        "work left behind: microtask that throws",
        _FAMILY,
        evaluating("queueMicrotask(() => { throw new Error('late'); });"),
        Expect.CLEAN,
        items=3,
    ),
    probe(
        "work left behind: import",
        _FAMILY,
        evaluating("import('data:text/javascript,for(;;);').then(() => { for (;;); });"),
        Expect.CLEAN,
        items=3,
    ),
)

PROBES: Final = (*_SECRETS, *_STATE, *_WORK)
