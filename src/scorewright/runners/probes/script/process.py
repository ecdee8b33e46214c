"""Code that looks for anything but the language: modules, threads, the runtime's own objects, other ways to run text."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import PATIENT_S, Expect, Probe
from scorewright.runners.probes.script.source import RESULT, attempting, evaluating, probe

_FAMILY: Final = "process"
#: Tells what of the runtime a text sees that runs in another way.
_SEEN: Final = (
    "[typeof Deno, typeof process, typeof require, typeof fetch, typeof Worker, typeof WebAssembly]"
    ".filter((t) => t !== 'undefined').join() || undefined"
)
#: Names that a runtime may offer, and the language does not: the dangerous ones by themselves.
_DANGEROUS: Final = (
    "Deno process require Worker SharedArrayBuffer Atomics WebAssembly ShadowRealm FinalizationRegistry crypto"
).split()
#: All there may be: the language, and what authors expect beside it.
_LANGUAGE: Final = (
    "globalThis Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI "
    "encodeURIComponent escape unescape Object Function Boolean Symbol Error AggregateError EvalError RangeError "
    "ReferenceError SyntaxError TypeError URIError SuppressedError Number BigInt Math Date String RegExp Array Int8Array "
    "Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float16Array Float32Array Float64Array "
    "BigInt64Array BigUint64Array Map Set WeakMap WeakSet WeakRef ArrayBuffer DataView JSON Promise Reflect Proxy "
    "Iterator Intl console TextEncoder TextDecoder URL URLSearchParams structuredClone atob btoa queueMicrotask "
    "setTimeout clearTimeout setInterval clearInterval"
)
#: Built-in functions by whose constructor a text becomes a function.
_CONSTRUCTORS: Final = {
    "a function": "(() => {}).constructor",
    "an asynchronous function": "(async () => {}).constructor",
    "a generator": "(function* () {}).constructor",
    "an asynchronous generator": "(async function* () {}).constructor",
    "a class": "(class {}).constructor",
    "a method of a list": "[].map.constructor",
    "a bound function": "(() => {}).bind().constructor",
    "a getter": "Object.getOwnPropertyDescriptor(RegExp.prototype, 'source').get.constructor",
    "a proxy of Function": "new Proxy(Function, {})",
    "the console": "console.log.constructor",
    "a timer": "setTimeout.constructor",
    "the date": "Date.constructor",
    "an error's maker": "Error.captureStackTrace.constructor",
    "a reflected call": "Reflect.apply.constructor",
    "a promise's resolver": "Promise.withResolvers().resolve.constructor",
    "a revoked proxy's maker": "Proxy.revocable({}, {}).revoke.constructor",
    "what the inspector gives": (
        "(() => { let f; console.log({ [Symbol.for('Deno.customInspect')](inspect) { f = inspect; return ''; } }); return f.constructor; })()"
    ),
}
#: Modules by every kind of address.
_MODULES: Final = (
    "node:fs node:child_process node:worker_threads node:vm node:module node:process node:sqlite node:inspector node:v8 "
    "node:wasi node:repl node:async_hooks fs data:text/javascript,export{} data:application/json,{} "
    "file:///etc/passwd file:///worker.mjs file:///worker.mjs?again file:///proc/self/environ http://127.0.0.1:1/x.js https://127.0.0.1:1/x.js "
    "npm:left-pad jsr:@std/assert ext:core/ops ext:deno_node/fs.ts blob:null/0 ./worker.mjs"
).split()


def _refused(name: str, steps: str) -> Probe:
    return probe(name, _FAMILY, attempting(steps), Expect.REFUSED, timeout_s=PATIENT_S)


def _fails(name: str, source: str) -> Probe:
    return probe(name, _FAMILY, source, Expect.FAILS, timeout_s=PATIENT_S)


def _by_constructor(maker: str) -> str:
    """Have a function made of a text, and give what that sees: as its result, or as the first value it yields."""
    return (
        f'const made = {maker}("return {_SEEN}")();\n'
        "return made?.next ? (await made.next()).value : await made;"
    )


PROBES: Final = (
    *(_refused(name, f"{name} === undefined ? undefined : typeof {name}") for name in _DANGEROUS),
    _refused(
        "names that the language does not have",
        f"""
        const language = new Set("{_LANGUAGE} constructor".split(" "));
        const found = [];
        for (let o = globalThis; o !== Object.prototype && o; o = Object.getPrototypeOf(o)) found.push(...Reflect.ownKeys(o));
        return found.filter((key) => typeof key === "string" && !language.has(key)).join() || undefined;
        """,
    ),
    *(
        _refused(
            f"import of {address}", f'Object.keys(await import("{address}")).join() || undefined'
        )
        for address in _MODULES
    ),
    _refused("import by eval", "Object.keys(await (0, eval)(\"import('node:fs')\")).join()"),
    _refused("import by eval in place", "Object.keys(await eval(\"import('node:fs')\")).join()"),
    _refused(
        "import by Function", "Object.keys(await Function(\"return import('node:fs')\")()).join()"
    ),
    _refused(
        "import by a timer's text",
        "setTimeout(\"import('node:fs')\", 0); return await new Promise(() => {});",
    ),
    _refused(
        "import with attributes", 'await import("file:///etc/passwd", { with: { type: "text" } })'
    ),
    _refused(
        "import with a type of its own",
        'await import("data:,x", { with: { type: { toString() { return "json"; } } } })',
    ),
    _refused("import of a text with a conversion", "await import({ toString: () => 'node:fs' })"),
    _refused("import's own data", "(0, eval)('import.meta')"),
    _refused("module by require", 'require("fs")'),
    *(
        _refused(f"constructor of {name}", _by_constructor(maker))
        for name, maker in _CONSTRUCTORS.items()
    ),
    _refused("eval in place", f'eval("{_SEEN}")'),
    _refused("eval from afar", f'(0, eval)("{_SEEN}")'),
    _refused("global object of a sloppy function", "Function('return this')().Deno"),
    _refused(
        "global object's prototypes",
        "let o = globalThis; while (Object.getPrototypeOf(o)) { if (o.Deno || o.addEventListener) return o; o = Object.getPrototypeOf(o); }",
    ),
    _refused(
        "runtime behind the global object's symbols",
        """
        for (const key of Object.getOwnPropertySymbols(globalThis)) {
          const value = globalThis[key];
          if (value && (typeof value === "object" || typeof value === "function")) return key.toString();
        }
        """,
    ),
    _refused("system calls by V8's own syntax", "Function('return %GetUndetectable()')()"),
    _refused("shared memory by a copy", "structuredClone(new ArrayBuffer(8), { transfer: [{}] })"),
    _refused(
        "shared memory by WebAssembly",
        "new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer",
    ),
    _refused("end by Deno.exit", "Deno.exit(0)"),
    _refused("end by process.exit", "process.exit(0)"),
    _refused("end by close", "close()"),
    _fails("end while loading", f"Deno.exit(0);\nfunction evaluate(x) {{ return {RESULT}; }}\n"),
    _fails(
        "end by an error nobody catches",
        evaluating("queueMicrotask(() => { throw new Error('later'); }); throw new Error('now');"),
    ),
    _fails("debugger, then an error", evaluating("debugger; throw new Error('went on');")),
    _fails("recursion", evaluating("return evaluate(x);")),
    _fails(
        "recursion by a getter",
        evaluating("const o = { get a() { return this.a; } };\nreturn o.a;"),
    ),
    _fails(
        "recursion by a proxy",
        evaluating("const p = new Proxy({}, { get: (t, k, r) => r[k] });\nreturn p.a;"),
    ),
    _fails(
        "recursion by a conversion",
        evaluating("const o = { toString() { return `${this}`; } };\nreturn `${o}`;"),
    ),
    probe(
        "error left to a promise",
        _FAMILY,
        evaluating(
            "Promise.reject(new Error('x')); queueMicrotask(() => { throw 1; }); setTimeout(() => { throw 1; });"
        ),
        Expect.CLEAN,
        items=3,
    ),
    probe(
        "recursion at the end of the stack",
        _FAMILY,
        evaluating(
            "let n = 0; (function down() { try { down(); } catch { console.log(n++); setTimeout(() => {}); Math.random(); } })();"
        ),
        Expect.HARMLESS,
        items=3,
    ),
)
