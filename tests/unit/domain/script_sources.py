"""What the tests of JavaScript and TypeScript sources share."""

from __future__ import annotations

from scorewright.domain.script_parser import parse_script
from scorewright.domain.signature import Diagnostic, Signature
from scorewright.domain.source_language import ScriptLanguage

#: Each offers one function, whose parameter is named `wanted`.
FORMS = [
    "function evaluate(wanted) {}",
    "async function evaluate(wanted) {}",
    "const evaluate = (wanted) => 1",
    "let evaluate = async wanted => 1",
    "var evaluate = function (wanted) {}",
    "const other = 1, evaluate = function named(wanted) {}",
    "let evaluate\nevaluate = (wanted) => 1",
    "const evaluate = ((wanted) => 1)",
    "module.exports = evaluate\nfunction evaluate(wanted) {}",
    "module.exports = function (wanted) {}",
    "module.exports = (wanted) => 1",
    "module['exports'] = (wanted) => 1",
    "module.exports = { evaluate }\nfunction evaluate(wanted) {}",
    "module.exports = { version: 1, evaluate: async (wanted) => 1 }",
    "module.exports = { 'evaluate': score }\nfunction score(wanted) {}",
    "module.exports = { async evaluate(wanted) {} }",
    "module.exports = { default: (wanted) => 1 }",
    "module.exports.evaluate = (wanted) => 1",
    "exports.evaluate = function (wanted) {}",
    "exports['evaluate'] = (wanted) => 1",
    "module.exports = exports = evaluate\nfunction evaluate(wanted) {}",
    "exports.evaluate = module.exports.evaluate = (wanted) => 1",
    "const api = { evaluate: (wanted) => 1 }\nmodule.exports = api",
    "exports.evaluate = void 0\nconst evaluate = (wanted) => 1\nexports.evaluate = evaluate",
    "if (typeof module === 'object') module.exports = { evaluate }\nfunction evaluate(wanted) {}",
    "typeof exports === 'object' && (exports.evaluate = evaluate)\nfunction evaluate(wanted) {}",
    "export function evaluate(wanted) {}",
    "export async function evaluate(wanted) {}",
    "export const evaluate = (wanted) => 1",
    "export let version = 1, evaluate = async (wanted) => 1",
    "export default function (wanted) {}",
    "export default function named(wanted) {}",
    "export default async function (wanted) {}\n(function () {})()",
    "export default (wanted) => 1",
    "export default async wanted => 1",
    "const evaluate = (wanted) => 1\nexport default evaluate",
    "export { evaluate }\nfunction evaluate(wanted) {}",
    "const score = (wanted) => 1\nexport { score as evaluate }",
    "const score = (wanted) => 1\nexport { score as 'evaluate', score as b }",
    "const score = (wanted) => 1\nexport { score as default }",
]

#: Of several functions the one to be called has the parameter `wanted`.
CONTESTS = [
    "module.exports = (wanted) => 1\nmodule.exports.evaluate = (other) => 1",
    "exports.evaluate = (wanted) => 1\nexports.default = (other) => 1",
    "export default (other) => 1\nexport const evaluate = (wanted) => 1",
    "export default (wanted) => 1\nfunction evaluate(other) {}",
    "exports.evaluate = (other) => 1\nexports.evaluate = (wanted) => 1",
    "module.exports = { helper() {} }\nfunction evaluate(wanted) {}",
    "module.exports = 5\nfunction evaluate(wanted) {}",
    "module.exports = cached(evaluate)\nfunction evaluate(wanted) {}",
    "function evaluate(other) {}\nmodule.exports.evaluate = better\nfunction better(wanted) {}",
    "exports.evaluate = (other) => 1\nmodule.exports = { evaluate: (wanted) => 1 }",
    "module.exports = { evaluate: (other) => 1 }\nmodule.exports.evaluate = (wanted) => 1",
    "exports.default = (other) => 1\nmodule.exports = { x: 1 }\nfunction evaluate(wanted) {}",
]


def signature(source: str, *, language: ScriptLanguage = "javascript") -> Signature:
    """The signature of a source that has to have one and no errors."""
    parsed = parse_script(source, language=language)
    assert parsed.errors == ()
    assert parsed.signature is not None
    return parsed.signature


def names(source: str, *, language: ScriptLanguage = "javascript") -> list[str]:
    return [p.name for p in signature(source, language=language).parameters]


def diagnostics(source: str, *, language: ScriptLanguage = "javascript") -> list[Diagnostic]:
    return list(parse_script(source, language=language).diagnostics)


def problem(source: str, *, language: ScriptLanguage = "javascript") -> Diagnostic:
    """The only problem of a source."""
    (found,) = diagnostics(source, language=language)
    return found


def place(source: str, *, language: ScriptLanguage = "javascript") -> tuple[str, str, int, int]:
    """Severity, code, line and column of the only problem of a source."""
    found = problem(source, language=language)
    return found.severity, found.code, found.line, found.column
