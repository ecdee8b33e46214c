"""Code that looks for what belongs to somebody else: the host, another evaluator, another item."""

from __future__ import annotations

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


def _walking(visit: str) -> str:
    """Return an evaluator that reports what `visit` (statements about `each`) puts into `loot`."""
    return (
        f"{_WALK}\nfunction evaluate(x) {{\n  let loot;\n  walk((each, key, owner) => {{ {visit} }});\n"
        f"  if (loot !== undefined) {escaped('loot')}\n  return {RESULT};\n}}\n"
    )


def _clean(name: str, body: str, *, items: int = 1) -> Probe:
    return probe(name, _FAMILY, evaluating(body), Expect.CLEAN, items=items, timeout_s=PATIENT_S)


def _state(name: str, before: str, after: str) -> Probe:
    """Look for what the item before has left (an expression), then leave something (statements)."""
    return _clean(
        f"state kept in {name}",
        f"let had;\ntry {{ had = {before}; }} catch {{}}\nif (had) {escaped('had')}\n"
        f"try {{ {after} }} catch {{}}",
        items=3,
    )


_SECRETS: Final = (
    probe(
        "everything that can be reached",
        _FAMILY,
        _walking(
            "if (typeof each === 'function' && /^(exit|readSync|writeSync|op_\\w+|openSync|dlopen|receive|send|serve)$/.test(each.name)) loot = each.name;"
        ),
        Expect.CLEAN,
        timeout_s=PATIENT_S,
    ),
    probe(
        "secrets among all texts",
        _FAMILY,
        _walking(
            "if (typeof each === 'string' && owner !== undefined && each.includes(['scorewright', 'canary'].join('-'))) loot = each;"
        ),
        Expect.CLEAN,
        timeout_s=PATIENT_S,
    ),
    probe(
        "secrets in the text of functions",
        _FAMILY,
        _walking(
            "if (typeof each === 'function' && Function.prototype.toString.call(each).includes(['scorewright', 'canary'].join('-'))) loot = each.name;"
        ),
        Expect.CLEAN,
        timeout_s=PATIENT_S,
    ),
    _clean("callers", f"let f = evaluate.caller;\nif (f) {escaped('f')}"),
    _clean(
        "callers by arguments",
        f"const f = (function () {{ return arguments.callee.caller.caller; }})();\nif (f) {escaped('f')}",
    ),
    _clean(
        "frames as objects",
        f"let loot;\ntry {{ Error.prepareStackTrace = (_, frames) => {{ loot = frames; }}; new Error().stack; }} catch {{}}\nif (loot) {escaped('loot[0].getFunction()')}",
    ),
    _clean(
        "frames of the harness",
        f"const s = new Error().stack;\nif (/file:|passwd|\\/home\\//.test(s.replaceAll('file:///worker.mjs', '').replaceAll(/file:\\S+\\/worker\\.mjs/g, ''))) {escaped('s')}",
    ),
    _clean(
        "module's own variables",
        f"const names = ['D', 'read', 'write', 'exit', 'LAYERS', 'prints', 'chance', 'send'].filter((n) => {{ try {{ return (0, eval)('typeof ' + n) !== 'undefined'; }} catch {{ return false; }} }});\nif (names.length) {escaped('names')}",
    ),
    _clean(
        "arguments of the factory",
        f"const m = typeof module === 'object' && (module.parent || module.constructor !== Object || module.require);\nif (m) {escaped('m')}",
    ),
    _clean(
        "real clock",
        f"const f = new Intl.DateTimeFormat('en', {{ year: 'numeric' }});\nconst seen = [Date(), new Date().getFullYear(), f.format(), f.formatToParts().map((p) => p.value).join(''), new Date(structuredClone(new Date())).getFullYear()].join();\nif (!/1970.*,1970,1970,1970,1970/.test(seen)) {escaped('seen')}",
    ),
    _clean(
        "real clock by a date's maker",
        f"const d = new (Object.getPrototypeOf(new Date()).constructor)();\nif (d.getTime() !== 0) {escaped('d')}",
    ),
    _clean(
        "real chance",
        f"const a = Math.random();\nif (globalThis.crypto) {escaped('crypto')}\nif (!(a >= 0 && a < 1)) {escaped('a')}",
    ),
    _clean(
        "language of the machine",
        f"const o = Intl.DateTimeFormat().resolvedOptions();\nif (o.timeZone !== 'UTC' || o.locale !== 'en-US') {escaped('JSON.stringify(o)')}",
    ),
)

_STATE: Final = (
    probe(
        "state kept on any object",
        _FAMILY,
        _walking(
            "if (typeof each === 'string') return; if (Object.hasOwn(each, 'left')) loot = each.name ?? String(key); try { each.left = 1; } catch {}"
            " try { if (Object.isExtensible(each)) Object.defineProperty(each, 'left', { value: 1 }); } catch {}"
        ),
        Expect.CLEAN,
        items=2,
        timeout_s=PATIENT_S,
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
