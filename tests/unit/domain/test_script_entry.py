"""Finding the function that a script offers as `evaluate`."""

from __future__ import annotations

import pytest
from script_sources import CONTESTS, FORMS, diagnostics, names, place, problem, signature


@pytest.mark.parametrize("source", FORMS)
def test_every_way_to_offer_a_function_is_understood(source: str):
    assert names(source) == ["wanted"]
    assert diagnostics(source) == []


@pytest.mark.parametrize("source", CONTESTS)
def test_of_several_functions_the_one_that_will_be_called_is_read(source: str):
    assert names(source) == ["wanted"]


@pytest.mark.parametrize(
    "source",
    [
        "export function evaluate(a: string): number\nexport function evaluate(wanted: any) { return 1 }",
        "export default function evaluate(a): void\nexport default function evaluate(wanted) {}",
        "const evaluate: Fn = <T,>(wanted: T) => 1",
        "const evaluate = ((wanted) => 1) satisfies Fn",
        "module.exports = evaluate!\nfunction evaluate(wanted) {}",
        "export const evaluate = <Fn>((wanted: string) => 1)",
        "interface evaluate {}\nexport default (wanted: string): number => 1",
    ],
)
def test_what_typescript_adds_does_not_hide_the_function(source: str):
    assert names(source, language="typescript") == ["wanted"]


@pytest.mark.parametrize(
    ("source", "is_async"),
    [
        ("async function evaluate() {}", True),
        ("const evaluate = async () => 1", True),
        ("module.exports = { async evaluate() {} }", True),
        ("export default async function () {}", True),
        ("function evaluate() { return (async () => 1)() }", False),
    ],
)
def test_an_async_function_is_known_by_its_word(source: str, *, is_async: bool):
    assert signature(source).is_async is is_async


def test_the_place_of_the_function_is_its_own():
    found = signature("\nconst größe = 1, evaluate = (a) => a")

    assert (found.line, found.column) == (2, 29)


def test_the_signature_knows_its_language():
    source = "export function evaluate(a) {}"

    assert signature(source).language == "javascript"
    assert signature(source, language="typescript").language == "typescript"


@pytest.mark.parametrize(
    ("source", "hint", "line"),
    [
        ("// nothing", "", 1),
        ("1 + 1", "", 1),
        ("\nfunction evalute(a) {}", ' (did you mean "evalute"?)', 2),
        ("\nmodule.exports = evaluate\nfunction evalute(a) {}", ' (did you mean "evalute"?)', 3),
        ("\nexports.evalute = (a) => 1", ' (did you mean "evalute"?)', 2),
        ("function grade(a) {}\nconst judge = (b) => 1", " (found: grade, judge)", 1),
        (
            "\nclass Judge { evaluate(a) {} }",
            ' (found: a method of class "Judge"; move it out of the class)',
            2,
        ),
        ("module.exports = {}", "", 1),
        ("export default { evaluate(a) {} }", "", 1),
        ("(function () { function evaluate(a) {} })()", "", 1),
    ],
)
def test_a_missing_evaluate_is_named_with_what_was_found(source: str, hint: str, line: int):
    found = problem(source)

    assert (found.code, found.line) == ("no_evaluate", line)
    assert found.message == (
        f'no function named "evaluate"{hint}; define evaluate(...) at the top level'
    )


@pytest.mark.parametrize(
    "source",
    [
        "declare function evaluate(a: string): number",
        "namespace Inner { export function evaluate(a) {} }",
        "export interface evaluate {}",
        "export type evaluate = string",
        "export default interface Shape {}",
    ],
)
def test_what_is_gone_when_typescript_runs_is_no_function(source: str):
    assert problem(source, language="typescript").code == "no_evaluate"


@pytest.mark.parametrize(
    ("source", "code", "line", "column"),
    [
        ("class evaluate {}", "evaluate_is_class", 1, 1),
        ("export default class { evaluate() {} }", "evaluate_is_class", 1, 16),
        ("module.exports = class {}", "evaluate_is_class", 1, 18),
        ("const evaluate = 5", "evaluate_not_function", 1, 7),
        ("const { evaluate } = library", "evaluate_not_function", 1, 7),
        ("const evaluate = cached((a) => 1)", "evaluate_not_function", 1, 7),
        ("module.exports = make()", "evaluate_not_function", 1, 1),
        ("export default 5", "evaluate_not_function", 1, 1),
        ("module.exports = { get evaluate() { return f } }", "evaluate_not_function", 1, 20),
        ("function* evaluate() {}", "generator", 1, 1),
        ("export default async function* () {}", "generator", 1, 16),
        ("module.exports = { *evaluate() {} }", "generator", 1, 20),
    ],
)
def test_what_cannot_be_called_is_an_error_at_its_place(
    source: str, code: str, line: int, column: int
):
    assert place(source) == ("error", code, line, column)


def test_an_imported_evaluate_is_said_to_be_imported():
    found = diagnostics("import { evaluate } from './other.js'\nexport { evaluate }")

    assert [d.code for d in found] == ["missing_module", "evaluate_not_function"]
    assert found[1].message == "evaluate is imported; define it in this file"


def test_of_two_definitions_the_last_counts_with_a_warning():
    source = "function evaluate(other) {}\nfunction evaluate(wanted) {}\nmodule.exports = evaluate"

    assert names(source) == ["wanted"]
    assert place(source) == ("warning", "defined_twice", 2, 1)
    assert "line 1" in problem(source).message


def test_names_that_only_lead_to_each_other_are_no_function():
    assert problem("var a = b\nvar b = a\nmodule.exports = a").code == "no_evaluate"
