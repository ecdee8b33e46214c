"""Scripts that are meant to break the parser, or its reader."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from script_sources import diagnostics, place

from scorewright.domain.script_parser import parse_script
from scorewright.domain.script_tree import parse_tree
from scorewright.domain.source_language import ScriptLanguage
from scorewright.domain.source_limits import MAX_SOURCE_BYTES

GOOD = "function evaluate(a) {}\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", ("error", "empty_source", 1, 1)),
        (" \n\t", ("error", "empty_source", 1, 1)),
        (GOOD + "'\ud800'", ("error", "bad_character", 2, 2)),
        (GOOD + "x\0", ("error", "bad_character", 2, 2)),
        ("/" * (MAX_SOURCE_BYTES + 1), ("error", "source_too_large", 1, 1)),
    ],
)
def test_what_is_no_text_of_a_source_never_reaches_the_parser(
    source: str, expected: tuple[str, str, int, int]
):
    assert place(source) == expected


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_make_no_difference(line_end: str):
    source = line_end.join(["// first", "const a = 1", "function evalute(b) {}"])

    assert place(source) == ("error", "no_evaluate", 3, 1)


# The first three overflow an ordinary stack inside the native parser.
@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("{a:", 300_000), ("({a}={", 600_000), ("type A=[a:", 1_000_000)),
        *((text, 50_000) for text in ("[", "a+", "(a,", "`${", "a?b:", "a=>", "!", "if(a)", "<a>")),
    ],
)
def test_endless_nesting_is_answered_not_crashed_on(text: str, size: int):
    source = (text * size)[:size]

    found = diagnostics(source)

    assert found
    assert {d.severity for d in found} == {"error"}


def test_a_text_that_is_slow_to_parse_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("scorewright.domain.script_tree._LEAST_CPU_S", 0.0)
    monkeypatch.setattr("scorewright.domain.script_tree._CPU_S_PER_BYTE", 0.0)

    assert place("a()" * 10_000) == ("error", "too_complex", 1, 1)


def test_deep_nesting_that_is_right_is_read():
    depth = 50_000
    source = f"const a = {'[' * depth}{']' * depth}\n{GOOD}"

    assert diagnostics(source) == []


WORDS = st.sampled_from(
    "function evaluate ( ) { } [ ] => = , ; export default module . exports const async await "
    "import require 'x' ` ${ a b 1 ... ? : < > / * // \n class get type interface as #! @ é 😀 \\".split(
        " "
    )
)


@given(st.lists(WORDS, max_size=30), st.sampled_from(["javascript", "typescript"]))
def test_any_text_gets_an_answer_with_places_inside_it(words: list[str], language: ScriptLanguage):
    source = " ".join(words)

    parsed = parse_script(source, language=language)

    lines = source.split("\n")
    assert parsed.signature is not None or parsed.errors
    for found in parsed.diagnostics:
        assert 1 <= found.line <= len(lines)
        assert 1 <= found.column <= len(lines[found.line - 1]) + 1


def test_a_failure_of_ours_reaches_the_caller(monkeypatch: pytest.MonkeyPatch):
    def broken(_language: ScriptLanguage) -> None:
        raise RuntimeError("no grammar")

    monkeypatch.setattr("scorewright.domain.script_tree._grammar", broken)

    with pytest.raises(RuntimeError, match="no grammar"):
        parse_tree(GOOD, "javascript")


@pytest.mark.parametrize(
    "source",
    [
        "var a0 = " + "(" * 5_000 + "1" + ")" * 5_000 + ";" + "var a = a0;" * 20_000,
        "var a0 = 1;" + "".join(f"var a{i + 1} = a{i};" for i in range(20_000)),
        "a" + ".a" * 50_000 + " = 1",
        "var api = {" + "a: 1, " * 20_000 + "};" + "module.exports = api;" * 10_000,
        "const a = ; " * 20_000,
        "<a/>; " * 20_000,
        "require('a');" * 10_000,
        "var evaluate = () => 1;" * 10_000,
        "".join(f"exports.e{i} = (a) => {i};" for i in range(10_000)),
    ],
    ids=range(9),
)
def test_many_of_the_same_take_no_longer_than_one_by_one(source: str):
    # The test run's own time limit is what fails here.
    assert diagnostics(source)


def test_a_tree_outlives_the_thread_that_parsed_it():
    tree = parse_tree("const größe = '😀'", "javascript")

    assert tree is not None
    assert tree.text(tree.root.named_child(0)) == "const größe = '😀'"
