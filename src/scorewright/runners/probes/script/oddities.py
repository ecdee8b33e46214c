"""Code that is strange rather than strong: what it does to itself must stay with it."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import PATIENT_S, Expect, Probe
from scorewright.runners.probes.script.source import RESULT, evaluating, probe

_FAMILY: Final = "oddities"


def _fails(name: str, source: str) -> Probe:
    return probe(name, _FAMILY, source, Expect.FAILS, timeout_s=PATIENT_S)


def _contained(name: str, source: str) -> Probe:
    return probe(name, _FAMILY, source, Expect.CONTAINED, timeout_s=PATIENT_S)


def _harmless(name: str, source: str) -> Probe:
    return probe(name, _FAMILY, source, Expect.HARMLESS, items=2, timeout_s=PATIENT_S)


def _typescript(name: str, source: str) -> Probe:
    """Hand hostile text to the translator, which runs in a jail of its own."""
    return Probe(name, _FAMILY, source, Expect.HARMLESS, timeout_s=PATIENT_S, language="typescript")


_RETURN: Final = f"function evaluate(x) {{ return {RESULT}; }}\n"

_SOURCES: Final = (
    _fails("source without evaluate", "function evaluator(x) {}\n"),
    _fails("source that is not the language", "def evaluate(x): return 1\n"),
    _fails(
        "bracket too many, to get out of the function", "}); var n = 0; (function () {\n" + _RETURN
    ),
    _fails(
        "brace too many, to get out of the function",
        "}\nvar escaped = 1;\nfunction g() {\n" + _RETURN,
    ),
    _fails("comment that never ends", _RETURN + "/* never"),
    _fails("template that never ends", _RETURN + "`never ${"),
    _harmless("comment as of a page", "<!-- x\n" + _RETURN + "--> x\n"),
    _harmless("first line of a program", "#!/bin/sh\n" + _RETURN),
    _harmless("zero byte in the source", _RETURN + "// \0\n"),
    _harmless("half a surrogate pair in the source", evaluating('const half = "\\ud800";')),
    _harmless("line ends of all kinds", evaluating("const a = 1;\r\n;\u2028;\u2029;\n")),
    _harmless(
        "address of its own",
        _RETURN + "//# sourceURL=evaluator.js:1:1\n//# sourceMappingURL=data:,x\n",
    ),
    _harmless(
        "deep source",
        f"function evaluate(x) {{ {'(' * 20_000}1{')' * 20_000}; return {RESULT}; }}\n",
    ),
    _harmless(
        "long source", _RETURN + "// a line that says nothing at all, many times over\n" * 20_000
    ),
    _harmless(
        "many functions",
        _RETURN + "".join(f"function f{n}() {{ return {n}; }}\n" for n in range(5_000)),
    ),
    _fails("return outside of the function", "return (x) => Deno;\n"),
    _fails("exports that are no function", "module.exports = { evaluate: 7 };\n"),
    _fails(
        "exports behind a getter that throws",
        "Object.defineProperty(module, 'exports', { get() { throw 1; } });\n",
    ),
    _contained(
        "exports that are a proxy",
        "module.exports = new Proxy(function () {}, { get() { throw 1; }, apply() { throw 2; } });\n",
    ),
    _fails(
        "evaluate that is a class",
        "module.exports = class { constructor() { this.score = 1; } };\n",
    ),
    _contained(
        "evaluate that changes itself",
        "let n = 0;\nmodule.exports = function evaluate(x) { module.exports = () => 1; return { score: 0, explanation: '' }; };\n",
    ),
    _contained(
        "evaluate bound to what it is not",
        "module.exports = Reflect.apply.bind(null, Function.prototype.toString, []);\n",
    ),
    _fails(
        "with, deleted names, arguments",
        "function evaluate(x) { with (arguments) { delete x; callee.call(); } }\n",
    ),
)

_DEEP: Final = (
    _contained(
        "deep JSON",
        evaluating('return JSON.parse("[".repeat(200_000) + "]".repeat(200_000)).length;'),
    ),
    _contained(
        "text of a deep list",
        evaluating("let a = []; for (let n = 0; n < 1e5; n++) a = [a];\nreturn String(a);"),
    ),
    _contained(
        "copy of a deep list",
        evaluating(
            "let a = []; for (let n = 0; n < 1e5; n++) a = [a];\nreturn structuredClone(a);"
        ),
    ),
    _contained(
        "flat of a deep list",
        evaluating("let a = []; for (let n = 0; n < 1e5; n++) a = [a];\nreturn a.flat(Infinity);"),
    ),
    _contained(
        "print of a deep list",
        evaluating("let a = []; for (let n = 0; n < 1e5; n++) a = [a];\nconsole.log(a);"),
    ),
    _contained(
        "deep pattern", evaluating('new RegExp("(".repeat(50_000) + ")".repeat(50_000)).exec("x");')
    ),
    _contained("deep expression", evaluating('return eval("-".repeat(300_000) + "1");')),
    _contained(
        "deep chain of prototypes",
        evaluating("let a = {}; for (let n = 0; n < 1e5; n++) a = Object.create(a);\nreturn a.x;"),
    ),
    _contained(
        "deep chain of proxies",
        evaluating("let a = {}; for (let n = 0; n < 1e5; n++) a = new Proxy(a, {});\nreturn a.x;"),
    ),
    _contained(
        "deep chain of bound functions",
        evaluating("let a = () => 1; for (let n = 0; n < 1e5; n++) a = a.bind();\nreturn a();"),
    ),
    _contained(
        "deep chain of promises",
        evaluating(
            "let a = Promise.resolve(); for (let n = 0; n < 1e5; n++) a = Promise.resolve().then(() => a);\nreturn a.then(() => ({ score: 0, explanation: '' }));"
        ),
    ),
    _contained(
        "call of half a million arguments",
        evaluating("return Math.max(...new Array(5e5).fill(1));"),
    ),
)

_TYPESCRIPT: Final = (
    _typescript(
        "TypeScript: types a thousand deep",
        f"type T = {'Array<' * 5_000}number{'>' * 5_000};\n{_RETURN}",
    ),
    _typescript("TypeScript: brackets without end", f"{_RETURN}const a = {'[' * 50_000}"),
    _typescript("TypeScript: half a declaration", f"{_RETURN}enum E {{ A = "),
    _typescript("TypeScript: zero bytes", f"{_RETURN}enum E {{ A }}\n\0\0\0"),
    _typescript(
        "TypeScript: map of its own",
        f"{_RETURN}enum E {{ A }}\n//# sourceMappingURL=data:application/json;base64,e30=\n",
    ),
    _typescript(
        "TypeScript: import that is a type",
        f'import type {{ X }} from "node:fs";\nimport fs = require("fs");\n{_RETURN}',
    ),
    _typescript(
        "TypeScript: page of many enums",
        _RETURN + "".join(f"enum E{n} {{ A, B }}\n" for n in range(3_000)),
    ),
)

PROBES: Final = (*_SOURCES, *_DEEP, *_TYPESCRIPT)
