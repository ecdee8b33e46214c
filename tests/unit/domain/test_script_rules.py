"""What a script may not ask for: modules, top-level await, syntax that is none."""

from __future__ import annotations

import pytest
from script_sources import diagnostics, place, problem, signature

from scorewright.domain.signature import Import
from scorewright.domain.source_language import ScriptLanguage

GOOD = "\nfunction evaluate(a) { return a }"


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("const _ = require('lodash')", "lodash"),
        ("require('node:fs')", "node:fs"),
        ('require?.("fs")', "fs"),
        ("import _ from 'lodash'", "lodash"),
        ("import 'side-effect'", "side-effect"),
        ("import * as fs from 'fs'", "fs"),
        ("import { a } from './a.js'", "./a.js"),
        ("import data from './data.json' with { type: 'json' }", "./data.json"),
        ("export { a } from './a.js'", "./a.js"),
        ("export * from 'https://example.com/x.js'", "https://example.com/x.js"),
        ("const later = () => import('npm:zod')", "npm:zod"),
        ("function f() { return require('inner') }", "inner"),
    ],
)
def test_every_wish_for_a_module_names_it(statement: str, module: str):
    found = problem(f"\n{statement}{GOOD}")

    assert (found.severity, found.code, found.line) == ("error", "missing_module", 2)
    assert found.message.startswith(f'module "{module}" is not available: there are no modules')


def test_the_imports_of_a_script_are_listed_once():
    source = "try { require('b'); require('a'); require('b') } catch {}" + GOOD

    assert signature(source).imports == (Import("b", 1), Import("a", 1))


@pytest.mark.parametrize("call", ["import(name)", "require(name)", "require()", "import(`a${b}`)"])
def test_a_module_of_a_computed_name_is_not_available_either(call: str):
    found = problem(call + GOOD)

    assert (found.code, found.line) == ("missing_module", 1)
    assert found.message.startswith("a module is not available")


def test_import_meta_is_not_available():
    assert place("const here = import.meta.url" + GOOD) == ("error", "missing_module", 1, 14)
    assert diagnostics("function F() { if (!new.target) return new F() }" + GOOD) == []


@pytest.mark.parametrize(
    ("source", "severity"),
    [
        ("try { require('a') } catch {}", "warning"),
        ("try { require('a') } catch (e) { } finally { }", "warning"),
        ("try { require('a') } finally { }", "error"),
        ("try { } catch { require('a') }", "error"),
        ("try { } catch { }\nrequire('a')", "error"),
    ],
)
def test_a_require_whose_failure_is_caught_is_a_warning(source: str, severity: str):
    assert problem(source + GOOD).severity == severity


@pytest.mark.parametrize(
    "source",
    [
        "const require = (name) => ({ name })\nrequire('a')",
        "function require(name) {}\nrequire('a')",
        "(function (require) { require('a') })(() => 1)",
        "const o = { require: 1 }; o.require('a')",
        "// require('a')\nconst text = \"import 'a'\"",
    ],
)
def test_a_require_of_the_script_s_own_is_no_module(source: str):
    assert diagnostics(source + GOOD) == []


@pytest.mark.parametrize(
    "source",
    [
        "import type { A } from './a'",
        "import { type A, type B } from './a'",
        "export type { A } from './a'",
        "export { type A } from './a'",
        "type A = import('./a').A",
        "let a: typeof import('./a')",
        "const a = b as import('./a').A",
        "interface A { b: import('./b').B }",
        "declare const require: any",
    ],
)
def test_an_import_of_types_alone_is_fine(source: str):
    assert diagnostics(source + GOOD, language="typescript") == []


@pytest.mark.parametrize(
    "source",
    [
        "import D, { type A } from 'x'",
        "import { type A, B } from 'x'",
        "import fs = require('x')",
        "import {} from 'x'",
        "declare const require: any; require('x')",
        "const a = import('x') as any",
    ],
)
def test_an_import_that_leaves_something_to_load_is_not(source: str):
    assert [d.code for d in diagnostics(source + GOOD, language="typescript")] == ["missing_module"]


def test_the_other_module_system_of_typescript_is_refused():
    found = problem("export = evaluate" + GOOD, language="typescript")

    assert (found.code, found.line) == ("syntax_error", 1)
    assert "write export default" in found.message


@pytest.mark.parametrize(
    ("source", "code", "column"),
    [
        ("await f()", "top_level_await", 1),
        ("for await (const a of b) {}", "top_level_await", 1),
        ("if (a) { await f() }", "top_level_await", 10),
        ("function f() { await g() }", "syntax_error", 16),
        ("async function f() { return () => await g() }", "syntax_error", 35),
        ("return 1", "syntax_error", 1),
        ("if (a) { return }", "syntax_error", 10),
    ],
)
def test_await_and_return_belong_into_functions(source: str, code: str, column: int):
    assert place(source + GOOD) == ("error", code, 1, column)


@pytest.mark.parametrize(
    "source",
    [
        "async function f() { await g(); for await (const a of b) {} }",
        "const f = async () => await g()",
        "class A { async m() { await g() } static { this.x = 1 } }",
        "const o = { async m() { return await g() } }",
        "async function f() { function g() { return 1 } await g() }",
    ],
)
def test_await_in_async_functions_is_fine(source: str):
    assert diagnostics(source + GOOD) == []


def test_the_number_of_problems_is_bounded():
    source = "\n".join(f"require('module{i}'); await f()" for i in range(1000)) + GOOD

    assert len(diagnostics(source)) == 20


@pytest.mark.parametrize(
    ("source", "line", "column", "said"),
    [
        ("function evaluate(a) {\n  return 1\n", 2, 11, '"}" is missing'),
        ("function evaluate(a {\n  return 1\n}", 1, 20, '")" is missing'),
        ("function evaluate(a) {\n}}\n", 2, 2, '"}" is not valid JavaScript here'),
        ("const größe = {b: 1 c: 2}" + GOOD, 1, 21, '"c: 2" is not valid JavaScript here'),
        ("def evaluate(a):\n    return 1\n", 1, 1, '"def evaluate(a):" is not valid'),
        ("const a = <div>{b}</div>" + GOOD, 1, 11, "JSX is not supported"),
        ("@sealed class A {}" + GOOD, 1, 1, "decorators are TypeScript"),
        ("function evaluate(a: string): number { return 1 }", 1, 19, "this is TypeScript"),
        ("interface A { b: string }" + GOOD, 1, 1, "this is TypeScript"),
        ("const s = 'open\n" + GOOD, 1, 11, "is not valid JavaScript here"),
    ],
)
def test_a_syntax_error_says_in_words_what_is_wrong_and_where(
    source: str, line: int, column: int, said: str
):
    first = diagnostics(source)[0]

    assert (first.severity, first.code, first.line, first.column) == (
        "error",
        "syntax_error",
        line,
        column,
    )
    assert first.message.startswith("syntax error: ")
    assert said in first.message
    assert len(first.message) < 200


def test_jsx_is_named_in_typescript_too():
    found = diagnostics("const a = <div>text</div>" + GOOD, language="typescript")

    assert "JSX is not supported" in found[0].message


def test_only_the_first_lines_that_are_wrong_are_listed():
    source = "\n".join(f"const a{i} = ;" for i in range(50)) + GOOD

    found = diagnostics(source)

    assert 1 <= len(found) <= 3
    assert len({d.line for d in found}) == len(found)


@pytest.mark.parametrize("language", ["javascript", "typescript"])
@pytest.mark.parametrize(
    "source",
    [
        "class A { #x = 1; static { this.y = 2 } has(o) { return #x in o } get a() { return 1 } }",
        "a ??= b; c &&= d; x?.[1]?.(2)?.y; const n = 1_000n; try {} catch {}",
        r"const re = /[\p{L}--[a-z]]/v, named = /(?<y>\d{4})/dg",
        "for (const [k, v] of Object.entries(o)) continue",
        "const t = tag`a${b}c`, u = `nested ${`x${1}`}`",
        "const ünï = 1, 变量 = 2, $ = 3, _ = 4",
        "#!/usr/bin/env node",
        "label: { break label }",
        "let async = 1; async = 2; let of = 3, get = 4",
    ],
)
def test_the_language_of_today_is_understood(source: str, language: ScriptLanguage):
    assert diagnostics(source + GOOD, language=language) == []


@pytest.mark.parametrize(
    "source",
    [
        "enum E { A = 1, B = 'x', C = A << 2 }\nconst enum F { X }\ndeclare enum G { Y }",
        "abstract class C<T> extends D<T> { constructor(public a: string, private b = 1) { super() } }",
        "namespace N.O { export const p = 1 }",
        "type M<T> = { readonly [K in keyof T as `get${Capitalize<K & string>}`]-?: T[K] }",
        "const a = x as unknown as string, b = y!, c = { d: 1 } satisfies R, e = [1] as const",
        "function over(a: string): void\nfunction over(a: any) {}",
        "function g<const T extends readonly unknown[], U = T[number]>(x: T): U { return x[0] as U }",
        "let f: (a: string, b?: number) => Promise<void>; let t: [a: string, b?: number]",
    ],
)
def test_the_types_of_today_are_understood(source: str):
    assert diagnostics(source + GOOD, language="typescript") == []


@pytest.mark.parametrize(
    "body",
    [
        "Math.random()",
        "Math['ran' + 'dom']()",
        "const { random } = M",
        "const M = Math",
        "crypto.getRandomValues(a)",
        "globalThis['Ma' + 'th']",
        "eval(text)",
        "new Function(text)",
        "(() => 1).constructor(text)",
        r"Math.r\u0061ndom()",
        "globalThis.webcrypto",
    ],
)
def test_every_way_to_random_numbers_is_noticed(body: str):
    assert signature(f"function evaluate(a) {{ {body} }}").names_entropy


@pytest.mark.parametrize("body", ["return Math.max(0, a)", "function f() {}", "return Math.PI"])
def test_a_plain_source_names_no_randomness(body: str):
    assert not signature(f"function evaluate(a) {{ {body} }}").names_entropy
