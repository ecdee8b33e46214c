"""Code that wants the harness to send what no harness sends, or the host to read it."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import PATIENT_S, Expect, Probe
from scorewright.runners.probes.script.source import evaluating, probe

_FAMILY: Final = "protocol"


def _fails(name: str, body: str) -> Probe:
    return probe(name, _FAMILY, evaluating(body), Expect.FAILS, timeout_s=PATIENT_S)


def _raises(name: str, body: str) -> Probe:
    """Throw an error that has to arrive as one, and not as the end of the worker."""
    return probe(name, _FAMILY, evaluating(body), Expect.REFUSED, timeout_s=PATIENT_S)


def _returning(name: str, expression: str, setup: str = "") -> Probe:
    """Return a value that is no result."""
    return _fails(name, f'{setup}\nreturn {{ score: 0, explanation: "", more: {expression} }};')


def _clean(name: str, body: str) -> Probe:
    return probe(name, _FAMILY, evaluating(body), Expect.CLEAN, items=2, timeout_s=PATIENT_S)


def _harmless(name: str, body: str) -> Probe:
    return probe(name, _FAMILY, evaluating(body), Expect.HARMLESS, items=2, timeout_s=PATIENT_S)


def _without(name: str, owner: str, *names: str) -> Probe:
    """Replace functions that the harness might call."""
    replaced = "\n".join(
        f"try {{ {owner}.{each} = () => {{ throw 1; }}; }} catch {{}}\n"
        f"try {{ Object.defineProperty({owner}, '{each}', {{ value: () => 7 }}); }} catch {{}}\n"
        f"try {{ delete {owner}.{each}; }} catch {{}}"
        for each in names
    )
    return _clean(name, replaced)


_RESULTS: Final = (
    _returning("result: not a number", "NaN"),
    _returning("result: infinite", "-Infinity"),
    _returning("result: whole number of 66 bits", "2 ** 65"),
    _returning("result: BigInt", "1n"),
    _returning("result: symbol", "Symbol('s')"),
    _returning("result: function", "() => 1"),
    _returning("result: inside itself", "a", "const a = []; a.push(a);"),
    _returning(
        "result: nested 100,000 deep", "a", "let a = []; for (let n = 0; n < 1e5; n++) a = [a];"
    ),
    _returning("result: map", "new Map([[1, 2]])"),
    _returning("result: list of bytes", "new Uint8Array(9)"),
    _returning("result: promise inside", "Promise.resolve(1)"),
    _returning("result: boxed number", "new Number(NaN)"),
    _returning("result: toJSON to itself", "a", "const a = { toJSON() { return this; } };"),
    _returning(
        "result: toJSON to ever new ones", "make()", "const make = () => ({ toJSON: make });"
    ),
    _returning("result: toJSON to a number that is none", "{ toJSON: () => NaN }"),
    _returning("result: toJSON that throws", "{ toJSON() { throw null; } }"),
    _returning("result: getter that throws", "{ get a() { throw undefined; } }"),
    _returning(
        "result: revoked proxy", "p.proxy", "const p = Proxy.revocable({}, {}); p.revoke();"
    ),
    _returning(
        "result: proxy that denies its keys", "new Proxy({ a: 1 }, { ownKeys: () => ['b', 'b'] })"
    ),
    _harmless(
        "result: proxy that lies about its length",
        "return { score: 0, explanation: '', m: new Proxy([], { get: (t, k) => (k === 'length' ? -5 : 1) }) };",
    ),
    _harmless(
        "result: half a surrogate pair",
        'return { score: 0, explanation: "\\ud800", "\\udfff": "\\ud800" };',
    ),
    _harmless(
        "result: text with zero bytes", 'return { score: 0, explanation: "a\\0b", "\\0": 1 };'
    ),
    _harmless(
        "result: key named __proto__",
        'return JSON.parse(\'{"score": 0, "explanation": "", "__proto__": {"score": 1}}\');',
    ),
    _harmless(
        "result: keys of the language",
        "return { score: 0, explanation: '', constructor: 1, toString: 2, hasOwnProperty: 3, then: 4 };",
    ),
    _harmless(
        "result: keys that are symbols",
        "return { score: 0, explanation: '', [Symbol.toPrimitive]: 1, [Symbol.iterator]: 2 };",
    ),
    _harmless(
        "result: least and largest numbers",
        "return { score: 0, explanation: '', a: 5e-324, b: -0, c: Number.MAX_SAFE_INTEGER, d: 2 ** 63 };",
    ),
    _harmless(
        "result: holes and undefined",
        "return { score: 0, explanation: '', a: [, undefined, , null], b: undefined };",
    ),
    _harmless(
        "result: getter that answers differently each time",
        "let n = 0; return { score: 0, explanation: '', get m() { return n++ ? { deep: NaN } : 1; } };",
    ),
    _harmless(
        "thenable that calls back twice",
        "return { then(ok, no) { ok({ score: 0, explanation: '' }); ok({ score: 1 }); no(1); throw 2; } };",
    ),
    _harmless(
        "thenable whose then changes",
        "let n = 0; return { get then() { return n++ ? 7 : (ok) => ok({ score: 0, explanation: '' }); } };",
    ),
    _harmless(
        "promise with a kind of its own",
        "const p = Promise.resolve({ score: 0, explanation: '' });\np.constructor = { [Symbol.species]: function (f) { f(() => {}, () => {}); } };\nreturn p;",
    ),
    _fails(
        "result: proxy of a promise",
        "return new Proxy(Promise.resolve({ score: 0, explanation: '' }), {});",
    ),
)

_THROWN: Final = (
    _fails(
        "proxy that lies about its kind", "throw new Proxy({}, { getPrototypeOf() { throw 1; } });"
    ),
    _raises(
        "error of a forged line",
        "const e = new Error('x'); e.stack = `Error\\n at f (evaluator.js:${'9'.repeat(21)}:1)`; throw e;",
    ),
    _raises(
        "error of a line that is no number",
        "const e = new Error('x'); e.stack = `Error\\n at f (evaluator.js:${'9'.repeat(400)}:1)`; throw e;",
    ),
    _raises(
        "error of a line below the first",
        "const e = new Error('x'); e.stack = 'Error\\n at f (evaluator.js:0:1)'; throw e;",
    ),
    _raises(
        "error with a stack that throws",
        "throw Object.defineProperty(new Error('x'), 'stack', { get() { throw 1; } });",
    ),
    _raises(
        "error with half a surrogate pair",
        "const e = new Error('\\ud800'); e.name = '\\udfff'.repeat(999); throw e;",
    ),
    _raises(
        "error with a message that is no text",
        "const e = new Error(); e.message = Symbol('x'); throw e;",
    ),
    _raises("error with a cause inside itself", "const e = new Error('x'); e.cause = e; throw e;"),
    _raises(
        "error that is a list of itself",
        "const e = new AggregateError([]); e.errors = [e, e]; throw e;",
    ),
    _fails("thrown undefined", "throw undefined;"),
    _fails("thrown symbol", "throw Symbol('x');"),
    _fails(
        "thrown function with traps", "throw new Proxy(function () {}, { get() { throw 1; } });"
    ),
    _fails(
        "thrown inspection of its own",
        "throw { [Symbol.for('Deno.customInspect')]() { throw 1; } };",
    ),
    probe(
        "forged lack of memory",
        _FAMILY,
        evaluating("throw new RangeError('Array buffer allocation failed');"),
        Expect.CONTAINED,
    ),
    _raises(
        "stack frames as objects",
        "Error.prepareStackTrace = (_, frames) => frames; throw new Error('x');",
    ),
    _fails(
        "error without a text, without a prototype",
        "throw Object.setPrototypeOf(new Error('x'), null);",
    ),
)

_POLLUTION: Final = (
    _without("JSON replaced", "JSON", "parse", "stringify"),
    _without(
        "lists replaced", "Array.prototype", "push", "pop", "map", "join", "includes", "filter"
    ),
    _without(
        "texts replaced",
        "String.prototype",
        "isWellFormed",
        "toWellFormed",
        "slice",
        "charCodeAt",
        "split",
    ),
    _without(
        "objects replaced", "Object", "keys", "getPrototypeOf", "defineProperty", "hasOwn", "freeze"
    ),
    _without("functions replaced", "Function.prototype", "call", "apply", "bind"),
    _without("promises replaced", "Promise.prototype", "then", "catch", "finally"),
    _without("promise's makers replaced", "Promise", "resolve", "reject"),
    _without("patterns replaced", "RegExp.prototype", "exec", "test"),
    _without("maps and sets replaced", "Map.prototype", "get", "set", "has"),
    _without("numbers replaced", "Number", "isFinite", "isSafeInteger"),
    _without("arithmetic replaced", "Math", "round", "imul", "max"),
    _without("bytes replaced", "Uint8Array.prototype", "set", "subarray"),
    _without("encoder replaced", "TextEncoder.prototype", "encode"),
    _without("decoder replaced", "TextDecoder.prototype", "decode"),
    _clean(
        "setters on every object",
        "for (const key of ['0', 'code', 'message', 'length', 'then', 'toJSON', 'paths', 'how', 'score']) {\n  try { Object.defineProperty(Object.prototype, key, { get: () => 1, set() { throw 1; }, configurable: true }); } catch {}\n  try { Object.defineProperty(Array.prototype, key, { get: () => 1, set() { throw 1; }, configurable: true }); } catch {}\n}",
    ),
    _clean(
        "toJSON of every object",
        "try { Object.prototype.toJSON = () => ({ score: 1 }); } catch {}\ntry { String.prototype.toJSON = Number.prototype.toJSON = () => 1; } catch {}",
    ),
    _clean(
        "then of every object", "try { Object.prototype.then = (ok) => ok({ score: 1 }); } catch {}"
    ),
    _clean(
        "iterators of lists replaced",
        "try { Array.prototype[Symbol.iterator] = function* () { yield 1; }; } catch {}\ntry { Object.getPrototypeOf([].values()).next = () => ({ done: true }); } catch {}",
    ),
    _clean(
        "prototype of the built-in objects",
        "for (const o of [Object.prototype, Array.prototype, JSON, globalThis, Promise.prototype]) try { Object.setPrototypeOf(o, { score: 1 }); } catch {}",
    ),
    _clean(
        "species of lists and promises",
        "try { Object.defineProperty(Array, Symbol.species, { value: class { constructor() { throw 1; } } }); } catch {}\ntry { Object.defineProperty(Promise, Symbol.species, { value: class { constructor() { throw 1; } } }); } catch {}",
    ),
    _clean(
        "kind of every error",
        "try { Object.defineProperty(Error, Symbol.hasInstance, { value: () => true }); } catch {}\ntry { Object.defineProperty(Function.prototype, Symbol.hasInstance, { value: () => true }); } catch {}",
    ),
    _clean(
        "global object's getters",
        "for (const key of ['JSON', 'Array', 'Object', 'Promise', 'undefined']) try { Object.defineProperty(globalThis, key, { get() { throw 1; } }); } catch {}",
    ),
    _clean(
        "built-in object overridden through another's setter",
        "for (const key of ['toString', 'constructor', 'message']) {\n  const { set } = Object.getOwnPropertyDescriptor(Error.prototype, key) ?? {};\n  for (const o of [JSON, Array.prototype, Object.prototype, Promise]) try { set.call(o, () => { throw 1; }); } catch {}\n}",
    ),
)

_WRITES: Final = (
    _harmless(
        "print: frame of the protocol",
        "console.log('r\\x02\\0\\0\\0[]'); console.error('\\0'.repeat(1e4)); console.log('\\0');",
    ),
    _harmless(
        "print: text with a conversion",
        "console.log({ toString() { throw 1; } }, Symbol('x'), () => 1, null, -0, 1n);",
    ),
    _harmless(
        "print: inspection of its own",
        "console.log({ [Symbol.for('Deno.customInspect')]() { return { toString() { throw 1; } }; } });",
    ),
    _harmless(
        "print: inspection that returns no text",
        "console.log({ [Symbol.for('nodejs.util.inspect.custom')]() { return 7; } });",
    ),
    _harmless(
        "print: inside itself",
        "const a = { m: new Map() }; a.m.set(a, a); console.table([a]); console.dir(a); console.assert(false, a);",
    ),
    _harmless(
        "print: revoked proxy",
        "const p = Proxy.revocable({}, {}); p.revoke(); console.log(p.proxy);",
    ),
    _harmless(
        "print: half a surrogate pair at the cut",
        "console.log('x'.repeat(8191) + '\\u{1f600}'.repeat(9));",
    ),
    _harmless("print: control characters", "console.log('\\x1b]0;title\\x07\\x1b[2J\\r\\n');"),
    _harmless(
        "print: while it is printed",
        "const o = { get [Symbol.toStringTag]() { console.log('again'); return 'x'; } }; console.log(o);",
    ),
    _harmless(
        "console replaced", "try { console.log = () => { throw 1; }; } catch {}\nconsole.log('x');"
    ),
)

PROBES: Final = (*_RESULTS, *_THROWN, *_POLLUTION, *_WRITES)
