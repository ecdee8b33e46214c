"""Scripts rewritten to run as the body of a function: what they offer, and that their lines stay."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from script_sources import CONTESTS, FORMS

from scorewright.domain.errors import EvaluatorError
from scorewright.domain.script_module import as_factory_body

#: Compiles each body on its own, calls what it offers, and says what came out.
RUN = """
const answers = []
for (const body of JSON.parse(await new Response(Deno.stdin.readable).text())) {
  try {
    const module = { exports: {} }
    new Function('module', 'exports', body)(module, module.exports)
    const offered = module.exports
    answers.push([typeof offered, await offered('given')])
  } catch (error) { answers.push(['error', String(error)]) }
}
console.log(JSON.stringify(answers))
"""


def deno() -> str:
    beside = Path(sys.executable).with_name("deno")
    found = shutil.which("deno") or (str(beside) if beside.exists() else None)
    if found is None:
        pytest.skip("needs Deno, on the PATH or beside this Python")
    return found


def run(sources: Iterable[str]) -> list[tuple[str, object]]:
    """Type of what each source offers, and what a call of it returns; or the error."""
    bodies = json.dumps([as_factory_body(source) for source in sources])
    ran = subprocess.run(
        [deno(), "eval", "--no-lock", RUN],
        input=bodies,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [(kind, value) for kind, value in json.loads(ran.stdout)]


def returning(source: str) -> str:
    """Give every function of a source a body that returns the name of its parameter."""
    source = re.sub(r"\((wanted|other)\) \{\}", r"(\1) { return '\1' }", source)
    return re.sub(r"(\(wanted\)|\(other\)|wanted) => 1", r"\1 => '\1'", source)


def test_what_is_called_is_what_was_read():
    sources = ["const cached = () => 5\n" * ("cached(" in s) + s for s in [*FORMS, *CONTESTS]]

    answers = run(map(returning, sources))

    wrong = [
        (source, answer)
        for source, answer in zip(sources, answers, strict=True)
        if answer[0] != "function" or "wanted" not in str(answer[1])
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        # What follows a declaration is a statement of its own.
        ("export default function () { return 'f' }\n(1)\nfunction g() {}", "f"),
        ("export default function named() { return 'f' }\n(1)", "f"),
        ("const a = later\nexport { a as evaluate };\n(1)\nfunction later() { return 'l' }", "l"),
        # Functions are there before their line, and a name keeps the last value it gets.
        ("const seen = evaluate()\nexport function evaluate() { return 'h' }", "h"),
        ("export let evaluate = () => 1\nevaluate = () => 'last'", "last"),
        ("export { x as default }\nlet x = 1\nx = () => 'x'", "x"),
        ("export const { evaluate } = { evaluate: () => 'd' }", "d"),
        # Modules are strict, other scripts are not.
        ("export function evaluate() { return this === undefined }", True),
        ("function evaluate() { return this === undefined }", False),
        ("export {}\nfunction evaluate() { return this === undefined }", True),
        # Comments where the text ends, and first lines that only a file may have.
        ("export default () => 'c' // end", "c"),
        ("function evaluate() { return 'c' } /* end */", "c"),
        ("#!/usr/bin/env node\nexport default () => 'bang'", "bang"),
        ("#!/usr/bin/env node\nfunction evaluate() { return 'bang' }", "bang"),
        ("export /* a */ default /* b */ async /* c */ (x) => x", "given"),
        ("'use strict'\nexports.evaluate = void 0\nexports.evaluate = () => 'ts'", "ts"),
        ("export default class Unused {}\nexport const evaluate = () => 'e'", "e"),
        # What a transpiler of TypeScript prints.
        ("export default ((a)=>a);", "given"),
        ("var G = function(G) {}(G || {});\nexport function evaluate(a) {\n  return a;\n}\nvar N;", "given"),
        ("module.exports = null\nfunction evaluate() { return 'n' }", "n"),
    ],
)  # fmt: skip
def test_a_rewritten_script_runs_as_its_author_meant_it(source: str, answer: object):
    assert run([source]) == [("function", answer)]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("const a = 1", "offered is not a function"),
        ("export const score = () => 1", "offered is not a function"),
        ("import x from 'x'\nexport default () => x", "Cannot use import statement"),
        ("export * from 'x'", "Unexpected token 'export'"),
        ("function evaluate() {}\n})\n;(function () {", "SyntaxError"),
        ("export const a = ;", "SyntaxError"),
    ],
)
def test_what_cannot_run_is_left_to_the_engine(source: str, error: str):
    ((kind, said),) = run([source])

    assert kind == "error"
    assert error in str(said)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("export const a = 1", ['"use strict";;      const a = 1']),
        ("a\nexport default (x) => 1 // y", [
            '"use strict";a', ";module.exports.default =         (x) => 1 // y",
        ]),
        ("export {\n  größe as evaluate, // 数\n}", ['"use strict";;       ', " " * 25, " "]),
        ("export default function () {}", [
            '"use strict";;module.exports.default =         function () {};',
        ]),
        ("export default function evaluate() {}", [
            '"use strict";;              function evaluate() {}',
        ]),
        ("#!x\nfunction evaluate() {}", ["//x", "function evaluate() {}"]),
        ("module.exports = evaluate", ["module.exports = evaluate"]),
        ("", [""]),
    ],
)  # fmt: skip
def test_every_line_stays_where_it_was(source: str, lines: list[str]):
    assert as_factory_body(source).split("\n")[: len(lines)] == lines


STATEMENTS = st.sampled_from(
    [
        *FORMS,
        "export {}",
        "export { a, b as c } // é",
        "export\nconst\nx = 1",
        "/* a\n b */",
        "`text\nof ${a} lines`",
        "class A {\n  m() {}\n}",
        "export * from 'x'",
        "import y from 'y'",
        "}",
        "'open",
        "",
        "  \t",
    ]
)


@given(st.lists(STATEMENTS, max_size=5))
def test_no_line_is_added_removed_or_moved(statements: list[str]):
    source = "\n".join(statements)

    before = source.split("\n")
    after = as_factory_body(source).split("\n")

    assert len(after) == len(before) + 2
    heading = '"use strict";'
    for number, (old, new) in enumerate(zip(before, after, strict=False)):
        kept = new.removeprefix(heading) if number == 0 else new
        start = re.split(r"export|default|\{|\}|as|#!", old, maxsplit=1)[0]
        assert kept.startswith(start) or not kept.strip(" ;")


def test_a_source_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("scorewright.domain.script_tree._LEAST_CPU_S", 0.0)
    monkeypatch.setattr("scorewright.domain.script_tree._CPU_S_PER_BYTE", 0.0)

    with pytest.raises(EvaluatorError, match="takes too long"):
        as_factory_body("a()" * 10_000)
