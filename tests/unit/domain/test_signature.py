"""Reading `evaluate` out of Python source that is never run."""

from __future__ import annotations

import textwrap

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.python_parser import MAX_BRACKET_DEPTH
from scorewright.domain.refused_modules import REFUSAL_REASONS, REFUSED_MODULES
from scorewright.domain.signature import Diagnostic, Parameter, Signature, parse_python
from scorewright.domain.source_limits import MAX_SOURCE_BYTES

GOOD = "def evaluate(output): return 1\n"


def parsed(source: str) -> Signature:
    result = parse_python(textwrap.dedent(source))
    assert result.errors == ()
    assert result.signature is not None
    return result.signature


def only(source: str) -> Diagnostic:
    result = parse_python(source)
    assert len(result.diagnostics) == 1, result.diagnostics
    return result.diagnostics[0]


def codes(source: str) -> list[tuple[str, str]]:
    return [(d.severity, d.code) for d in parse_python(textwrap.dedent(source)).diagnostics]


def parameter(source: str, index: int = 0) -> Parameter:
    return parsed(source).parameters[index]


def test_parameters_come_in_order_with_kind_and_whether_they_are_required():
    signature = parsed("def evaluate(a, /, b, c=1, *, d, e=2): return 1")

    assert [(p.name, p.kind, p.required) for p in signature.parameters] == [
        ("a", "positional_only", True),
        ("b", "positional_or_keyword", True),
        ("c", "positional_or_keyword", False),
        ("d", "keyword_only", True),
        ("e", "keyword_only", False),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("None", None),
        ("True", True),
        ("-0.5", -0.5),
        ('"a" "b"', "ab"),
        ("[1, 'x', None]", [1, "x", None]),
        ("('a', ('b',))", ["a", ["b"]]),
        ("{'a': {'b': 1}}", {"a": {"b": 1}}),
        ("9223372036854775807", 9223372036854775807),
    ],
)
def test_a_literal_default_is_read_as_json(text: str, value: object):
    found = parameter(f"def evaluate(a={text}): return 1")

    assert found.default == value
    assert found.default_text == text


@pytest.mark.parametrize(
    "text",
    [
        "LIMIT",
        "1 + 2",
        "{1, 2}",
        "{1: 'a'}",
        "b'x'",
        "...",
        "1e999",
        "9223372036854775808",
        "1j",
        "f'{1}'",
        "[" * 40 + "]" * 40,
    ],
)
def test_a_default_that_json_cannot_hold_keeps_only_its_text(text: str):
    found = parameter(f"LIMIT = 1\ndef evaluate(a={text}): return 1")

    assert found.default is msgspec.UNSET
    assert found.default_text == text
    assert not found.required


def test_annotations_and_places_count_characters_not_bytes():
    signature = parsed('def evaluate(größe: "é", 日本: list[\n    str\n] = None): return 1')

    assert [(p.name, p.annotation, p.line, p.column) for p in signature.parameters] == [
        ("größe", '"é"', 1, 14),
        ("日本", "list[\n    str\n]", 1, 26),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "if True:\n    def evaluate(output): return 1\n",
        "try:\n    import json\nexcept ImportError:\n    pass\nelse:\n    def evaluate(output): return 1\n",
        "from contextlib import nullcontext\nwith nullcontext():\n    def evaluate(output): return 1\n",
        "evaluate = lambda output: 1\n",
        "evaluate: object = lambda output: 1\n",
        "def check(output): return 1\nevaluate = check\n",
        "def check(output): return 1\njudge = check\nevaluate = judge\ndef check(other): return 1\n",
        "def helper(a, b): return 1\ndef evaluate(output): return 1\ndef after(c): return 1\n",
        "def evaluate(output): return 1\nevaluate = evaluate\n",
    ],
)
def test_evaluate_is_found_by_name_wherever_the_top_level_binds_it(source: str):
    result = parse_python(source)

    assert result.diagnostics == ()
    assert result.signature is not None
    assert [p.name for p in result.signature.parameters] == ["output"]


def test_async_is_told_apart():
    assert parsed("async def evaluate(output): return 1").is_async
    assert not parsed(GOOD).is_async


def test_the_last_of_two_definitions_counts_and_the_author_is_told():
    source = "def evaluate(a): return 1\n\n\ndef evaluate(b): return 2\n"

    result = parse_python(source)

    assert result.signature is not None
    assert [p.name for p in result.signature.parameters] == ["b"]
    assert [(d.severity, d.code, d.line) for d in result.diagnostics] == [
        ("warning", "defined_twice", 4)
    ]
    assert "line 1" in result.diagnostics[0].message


def test_a_missing_evaluate_is_answered_with_what_there_is():
    found = only("import json\n\n\ndef get_assert(output, context): return 1\n")

    assert (found.code, found.line, found.column) == ("no_evaluate", 4, 1)
    assert 'no function named "evaluate" (found: get_assert)' in found.message


def test_a_misspelt_evaluate_is_answered_with_its_name():
    found = only("def helper(): return 1\ndef evalute(trace): return 1")

    assert (found.code, found.line) == ("no_evaluate", 2)
    assert '(did you mean "evalute"?)' in found.message


def test_a_method_named_evaluate_is_no_evaluator():
    found = only("class Judge:\n    def evaluate(self, output): return 1\n")

    assert found.code == "no_evaluate"
    assert 'class "Judge"' in found.message


@pytest.mark.parametrize(
    ("source", "code", "line", "column"),
    [
        ("", "empty_source", 1, 1),
        (" \n\t\n", "empty_source", 1, 1),
        ("x = 1", "no_evaluate", 1, 1),
        ("# only a comment", "no_evaluate", 1, 1),
        ("def evaluate(trace) return 1", "syntax_error", 1, 21),
        ("def evaluate(a):\n\treturn 1\n        return 2", "syntax_error", 3, 1),
        ("def evaluate(a):\n    return 1\n  return 2\n", "syntax_error", 3, 11),
        ("def evaluate(a, a): return 1", "syntax_error", 1, 17),
        ("return 1\n" + GOOD, "syntax_error", 1, 1),
        ("x = 'ä' + = 1\n" + GOOD, "syntax_error", 1, 11),
        ("def evaluate(a, *rest): return 1", "variable_arguments", 1, 18),
        ("def evaluate(a, **rest): return 1", "variable_arguments", 1, 19),
        ("x = 1\ndef evaluate(a): yield 1", "generator", 2, 1),
        ("def evaluate(a):\n    x = yield\n    return x", "generator", 1, 1),
        ("evaluate = lambda a: (yield a)", "generator", 1, 12),
        ("async def evaluate(a):\n    yield 1", "generator", 1, 1),
        ("class evaluate: pass", "evaluate_is_class", 1, 1),
        ("from os import getcwd as evaluate", "evaluate_not_function", 1, 1),
        ("evaluate = len(())", "evaluate_not_function", 1, 1),
        ("evaluate = other", "evaluate_not_function", 1, 1),
        ("evaluate, x = 1, 2", "evaluate_not_function", 1, 1),
        ("x.evaluate = len", "no_evaluate", 1, 1),
        ("import numpy\n" + GOOD, "missing_module", 1, 1),
        ("x = 'ä'; import numpy.linalg\n" + GOOD, "missing_module", 1, 10),
        ("from . import x\n" + GOOD, "missing_module", 1, 1),
        ("def evaluate(a):\n    from tkinter import Tk\n", "refused_module", 2, 5),
        ("x = '\0'", "bad_character", 1, 6),
        ("a = 1\nx = '\udc80'", "bad_character", 2, 6),
        ("x = " + "(" * (MAX_BRACKET_DEPTH + 1), "too_complex", 1, MAX_BRACKET_DEPTH + 5),
        ("x = " + "-" * 100_000 + "1", "too_complex", 1, 1),
        ("x = a" + ".b" * 100_000, "too_complex", 1, 1),
        ("#" + "x" * MAX_SOURCE_BYTES, "source_too_large", 1, 1),
        (
            "def evaluate(" + ",".join(f"a{i}" for i in range(101)) + "): return 1",
            "too_complex",
            1,
            404,
        ),
    ],
)
def test_an_error_has_a_name_and_a_place(source: str, code: str, line: int, column: int):
    found = only(source)

    assert (found.severity, found.code) == ("error", code)
    assert (found.line, found.column) == (line, column)


def test_a_yield_in_a_nested_function_makes_no_generator():
    source = "def evaluate(a):\n    def inner():\n        yield 1\n    return sum(inner())\n"

    assert parse_python(source).diagnostics == ()


def test_brackets_in_texts_and_comments_are_no_nesting():
    openers = "(" * (MAX_BRACKET_DEPTH + 1)
    quotes = ("'", '"', "'''", '"""')
    source = (
        "".join(f"x = {q}{openers}\\{q}{openers}{q}\n" for q in quotes) + f"# {openers}\n" + GOOD
    )

    assert parse_python(source).diagnostics == ()


def test_many_brackets_beside_one_another_are_no_nesting():
    source = "x = [" + "(), " * MAX_BRACKET_DEPTH * 2 + "]\n" + GOOD

    assert parse_python(source).diagnostics == ()


def test_nested_finally_blocks_are_never_compiled():
    # Compiling 19 of them takes a gigabyte: each block is written out for every way into it.
    blocks = "".join(f"{' ' * i}try:\n{' ' * (i + 1)}pass\n{' ' * i}finally:\n" for i in range(19))
    only_the_compiler_would_refuse = "break\n"

    result = parse_python(f"{GOOD}{blocks}{' ' * 19}x = 1\n{only_the_compiler_would_refuse}")

    assert result.diagnostics == ()
    assert result.signature is not None


def test_a_method_of_another_name_is_no_hint():
    assert "class" not in only("class Judge:\n    def judge(self): return 1\n").message


def test_a_finally_block_is_checked_like_other_code():
    source = "def evaluate(a):\n    try:\n        pass\n    finally:\n        pass\nbreak\n"

    assert only(source).code == "syntax_error"


def test_what_python_warns_about_is_passed_on():
    found = only("def evaluate(a):\n    return '\\d' in a\n")

    assert (found.severity, found.code, found.line) == ("warning", "python_warning", 2)
    assert "invalid escape sequence" in found.message


def test_line_ends_of_every_system_count_as_one():
    result = parse_python("import json\r\nimport re\rdef evaluate(a):\r\n    yield 1\r\n")

    assert [(d.code, d.line) for d in result.diagnostics] == [("generator", 3)]


def test_every_problem_is_named_at_once_and_in_order():
    source = "import numpy\ndef evaluate(a, *rest): yield 1\nimport pandas\n"

    found = parse_python(source)

    assert [(d.code, d.line) for d in found.diagnostics] == [
        ("missing_module", 1),
        ("generator", 2),
        ("variable_arguments", 2),
        ("missing_module", 3),
    ]
    assert found.signature is not None


def test_imports_are_collected_by_top_level_name_wherever_they_stand():
    signature = parsed(
        """
        from __future__ import annotations
        import json, xml.etree.ElementTree as tree
        def evaluate(output):
            import json
            match output:
                case 1:
                    from urllib.parse import quote
            return 1
        """
    )

    assert [(i.module, i.line) for i in signature.imports] == [
        ("__future__", 2),
        ("json", 3),
        ("xml", 3),
        ("urllib", 8),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n",
        "try:\n    import numpy\nexcept (ValueError, ModuleNotFoundError):\n    numpy = None\n",
        "try:\n    if True:\n        import numpy\nexcept Exception:\n    numpy = None\n",
        "try:\n    import numpy\nexcept:\n    numpy = None\n",
        "import builtins\ntry:\n    import numpy\nexcept builtins.ImportError:\n    numpy = None\n",
        "from contextlib import suppress\nwith suppress(ImportError):\n    import numpy\n",
    ],
)
def test_a_missing_module_that_the_code_is_ready_for_is_a_warning(source: str):
    assert codes(source + GOOD) == [("warning", "missing_module")]


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    pass\nexcept ImportError:\n    import numpy\n",
        "try:\n    import numpy\nexcept ValueError:\n    pass\n",
        "with open('x') as file:\n    import numpy\n",
        "class A:\n    import numpy\n",
    ],
)
def test_a_missing_module_that_the_code_is_not_ready_for_is_an_error(source: str):
    assert codes(source + GOOD) == [("error", "missing_module")]


def test_an_import_for_type_checkers_alone_is_no_import():
    source = "import typing\nif typing.TYPE_CHECKING:\n    import numpy\nelse:\n    import json\n"

    signature = parsed(source + GOOD)

    assert [i.module for i in signature.imports] == ["typing", "json"]


@pytest.mark.parametrize(
    "line",
    [
        "from scorewright.authoring import EvalResult",
        "from scorewright import Trace",
        "from amp_evaluation import EvalResult, Param",
    ],
)
def test_the_author_s_own_objects_may_be_imported(line: str):
    assert codes(f"{line}\n{GOOD}") == []


@pytest.mark.parametrize(
    "line", ["import scorewright.domain", "from amp_evaluation.trace import Trace"]
)
def test_what_lies_behind_them_may_not(line: str):
    assert codes(f"{line}\n{GOOD}") == [("error", "missing_module")]


@pytest.mark.parametrize(
    ("line", "code", "module"),
    [
        ("import socket", "no_network", "socket"),
        ("import urllib.request", "no_network", "urllib.request"),
        ("from urllib import request", "no_network", "urllib.request"),
        ("from urllib.request import urlopen", "no_network", "urllib.request"),
        ("import http.client as c", "no_network", "http.client"),
        ("import subprocess", "no_processes", "subprocess"),
        ("from multiprocessing.pool import Pool", "no_processes", "multiprocessing"),
        ("from concurrent import futures", "no_processes", "concurrent.futures"),
    ],
)
def test_a_module_whose_calls_the_sandbox_refuses_is_a_warning_with_the_way_out(
    line: str, code: str, module: str
):
    found = only(f"{line}\n{GOOD}")

    assert (found.severity, found.code) == ("warning", code)
    assert f'"{module}"' in found.message
    assert "--runner local" in found.message


@pytest.mark.parametrize(
    "line", ["import urllib.parse", "from http import HTTPStatus", "import os"]
)
def test_a_module_that_works_is_no_warning(line: str):
    assert codes(f"{line}\n{GOOD}") == []


def test_every_refused_module_has_its_reason():
    assert set(REFUSAL_REASONS) == REFUSED_MODULES
    for module, reason in REFUSAL_REASONS.items():
        assert reason in only(f"import {module}\n{GOOD}").message


@pytest.mark.parametrize(
    "line",
    [
        "import random",
        "from uuid import uuid4",
        "import secrets",
        "import os; os.urandom(4)",
        "x = __import__('ran' + 'dom')",
        "import tempfile",
    ],
)
def test_a_source_of_randomness_is_noticed(line: str):
    assert parsed(f"{line}\n{GOOD}").names_entropy


def test_a_source_without_randomness_is_not_taken_for_one():
    assert not parsed("import json\n" + GOOD).names_entropy


def test_param_calls_are_read_as_literals():
    source = 'def evaluate(trace, n=Param(3, "how many", min=1, max=5.5, enum=[1, "a"], required=True)): return 1'

    found = parameter(source, 1).param

    assert found is not None
    assert (found.default, found.description, found.required) == (3, "how many", True)
    assert (found.min, found.max, found.enum) == (1, 5.5, (1, "a"))


def test_a_param_without_a_default_is_told_from_one_whose_default_is_none():
    source = "def evaluate(trace, a=amp.Param(), b=Param(default=None, description=None)): return 1"

    found = [p.param for p in parsed(source).parameters[1:]]

    assert [p.default for p in found if p is not None] == [msgspec.UNSET, None]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("Param(mn=1)", 'no "mn" (did you mean "min"?)'),
        ("Param(min=LOW)", "min must be a literal"),
        ("Param(*VALUES)", "default must be a literal"),
        ("Param(**OPTIONS)", 'no "**"'),
        ("Param(1, 'a', 2)", "by keyword"),
        ("Param(min='a')", "$.min"),
        ("Param(description=3)", "$.description"),
        ("Param(enum=[])", "enum is empty"),
        ("Param(enum=[[1]])", "$.enum"),
    ],
)
def test_a_param_that_cannot_be_read_is_an_error_at_its_place(call: str, said: str):
    found = only(f"def evaluate(trace, number={call}): return 1")

    assert (found.severity, found.code, found.column) == ("error", "bad_param", 21)
    assert said in found.message
    assert '"number"' in found.message


@given(st.text())
def test_no_text_makes_the_parser_raise(source: str):
    result = parse_python(source)

    assert result.signature is not None or result.errors


@given(
    st.lists(
        st.sampled_from(
            "def evaluate ( ) : a b = 1 , * ** lambda class import json numpy return yield \n "
            "if else try except with as ' \" ''' [ ] { } async await # \\".split(" ")
        ),
        max_size=30,
    )
)
def test_no_near_python_makes_the_parser_raise(words: list[str]):
    result = parse_python(" ".join(words))

    assert result.signature is not None or result.errors
    assert all(d.line >= 1 and d.column >= 1 and d.message for d in result.diagnostics)
