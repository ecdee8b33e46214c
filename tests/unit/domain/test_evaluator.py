"""Evaluators, made of sources and files without running any of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from scorewright.domain.convention import Convention, Level
from scorewright.domain.definition import Definition
from scorewright.domain.errors import CallerError, EvaluatorError, MappingError, ParamError
from scorewright.domain.evaluator import (
    Evaluator,
    SourceError,
    build_evaluator,
    evaluator_from_source,
    load_evaluator,
)
from scorewright.domain.param import ConfigParam
from scorewright.domain.source_file import MAX_FILE_BYTES

SOURCE = "def evaluate(output, expected):\n    return {'score': 1, 'explanation': ''}\n"
LIMITED = "def evaluate(inputs, outputs, trace, limit=5):\n    return 1\n"
LIMIT = ConfigParam(key="limit", type="integer", default=3)


def made(source: str = SOURCE, **decided: Any) -> Evaluator:
    definition = msgspec.structs.replace(Definition(name="abc"), **decided)
    return build_evaluator(source, definition, origin="abc.py")


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_source_alone_decides_everything_but_the_name():
    found = evaluator_from_source("def evaluate(trace: AgentTrace, n=3): return 1", name="abc")

    assert (found.name, found.display_name, found.convention, found.level) == (
        "abc",
        None,
        Convention.TRACE_OBJECT,
        Level.AGENT,
    )
    assert [p.key for p in found.params] == ["n"]
    assert (found.score_range, found.threshold, found.version) == ((0.0, 1.0), 0.5, 1)


def test_any_score_counts_in_convention_variables_until_a_range_is_declared():
    undeclared, declared = made(), made(score_range=[0, 100])

    assert (undeclared.score_range, undeclared.threshold) == (None, None)
    assert (declared.score_range, declared.threshold) == ((0.0, 100.0), 50.0)


def test_the_caller_s_convention_and_level_are_taken():
    found = evaluator_from_source(
        "def evaluate(thing): return 1",
        name="abc",
        convention=Convention.TRACE_OBJECT,
        level=Level.LLM,
    )

    assert (found.convention, found.level) == (Convention.TRACE_OBJECT, Level.LLM)


def test_what_a_definition_decides_is_kept():
    found = made(
        display_name="A B C",
        description="d",
        tags=("x",),
        mapping={"output": "trace.output"},
        correct_answer_key="truth",
        threshold=0,
        score_range=[0, 1],
    )

    assert (found.display_name, found.description, found.tags) == ("A B C", "d", ("x",))
    assert (found.mapping, found.correct_answer_key) == ({"output": "trace.output"}, "truth")
    assert found.threshold == 0


def test_declared_config_params_let_three_parameters_be_three():
    found = made(LIMITED, params=(LIMIT,))

    assert found.convention is Convention.INPUTS_OUTPUTS_TRACE
    assert found.params == (LIMIT,)


def test_a_missing_name_is_proposed_from_the_display_name():
    assert made(name=None, display_name="Polite Reply").name == "polite-reply"


@pytest.mark.parametrize(
    ("decided", "error"),
    [
        ({"name": "a b"}, EvaluatorError),
        ({"threshold": "0.5"}, EvaluatorError),
        ({"score_range": [1, 0]}, EvaluatorError),
        ({"score_range": [0, 1], "threshold": 2}, EvaluatorError),
        ({"mapping": {"expectd": "x"}}, MappingError),
        ({"level": Level.TRACE}, EvaluatorError),
        ({"params": (LIMIT,)}, EvaluatorError),
    ],
)
def test_what_does_not_fit_the_source_is_refused(decided: dict[str, Any], error: type[CallerError]):
    with pytest.raises(error):
        made(**decided)


def test_a_mapped_variable_that_is_none_is_answered_with_the_nearest():
    with pytest.raises(MappingError, match=r'"expectd".*did you mean "expected"'):
        made(mapping={"expectd": "x"})


def test_errors_of_a_source_come_one_a_line_with_file_line_and_column():
    with pytest.raises(SourceError) as caught:
        made("import numpy\nimport socket\ndef evaluate(output, *rest): return 1")

    lines = str(caught.value).split("\n")
    assert [line.split(": ")[0] for line in lines] == ["abc.py:1:1", "abc.py:3:23"]
    assert [d.code for d in caught.value.diagnostics] == [
        "missing_module",
        "no_network",
        "variable_arguments",
    ]


def test_a_misfit_convention_is_reported_where_evaluate_is_defined():
    with pytest.raises(SourceError, match=r"^abc\.py:2:1: convention legacy_score"):
        made("\n" + SOURCE, convention=Convention.LEGACY_SCORE)


def test_a_config_param_that_contradicts_itself_is_reported_at_its_place():
    with pytest.raises(SourceError, match=r'^abc\.py:1:28: param "n"'):
        made("def evaluate(trace: Trace, n: int = 'x'): return 1")


def test_warnings_stay_with_the_evaluator():
    found = made("import subprocess\n" + SOURCE)

    assert [d.code for d in found.warnings] == ["no_processes"]


def test_the_same_decisions_have_the_same_digest():
    assert made().digest == made().digest
    assert len(made().digest) == 64
    assert (
        made().digest
        == made(
            display_name="other", description="x", tags=("y",), mapping={"output": "answer"}
        ).digest
    )


def test_the_digest_is_the_same_on_every_machine():
    digest = made("def evaluate(inputs, outputs, trace): return 1").digest

    assert digest == "3f75219e6c22de48ffe90f914580bb6d929fdfb634e45ae5ade97070fb18a95d"


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_make_no_difference(ends: str):
    other = "\ufeff" + SOURCE.replace("\n", ends)

    assert made(other) == made()


def test_every_decision_about_results_changes_the_digest():
    base = {"params": (LIMIT,), "score_range": [0, 1], "threshold": 0.5}
    digests = [
        made(LIMITED, **base).digest,
        made(LIMITED + "\n", **base).digest,
        made(LIMITED, **base | {"convention": Convention.LEGACY_SCORE}).digest,
        made(LIMITED, **base | {"params": (msgspec.structs.replace(LIMIT, default=4),)}).digest,
        made(LIMITED, **base | {"score_range": [0, 2]}).digest,
        made(LIMITED, **base | {"threshold": 0.6}).digest,
    ]

    assert len(set(digests)) == len(digests)


def test_a_param_s_description_is_no_decision_about_results():
    described = msgspec.structs.replace(LIMIT, description="how many")

    assert made(LIMITED, params=(described,)).digest == made(LIMITED, params=(LIMIT,)).digest


def test_a_python_file_is_named_by_its_stem(tmp_path: Path):
    path = write(tmp_path, "Exact_Match.py", SOURCE)

    found = load_evaluator(path)

    assert (found.name, found.origin, found.source) == ("exact-match", str(path), SOURCE)


def test_a_definition_names_its_source_relative_to_itself(tmp_path: Path):
    (tmp_path / "code").mkdir()
    source = write(tmp_path, "code/rule.py", SOURCE)
    path = write(tmp_path, "rule.yaml", "source: code/rule.py\nscore_range: [0, 10]\n")

    found = load_evaluator(path)

    assert (found.name, found.origin, found.threshold) == ("rule", str(source), 5.0)


def test_the_caller_goes_before_the_definition(tmp_path: Path):
    write(tmp_path, "rule.py", "def evaluate(inputs, outputs, trace): return 1\n")
    path = write(tmp_path, "rule.yml", "source: rule.py\nconvention: variables\nlevel: record\n")

    assert load_evaluator(path).convention is Convention.VARIABLES
    assert load_evaluator(path, convention=Convention.LEGACY_SCORE).convention is (
        Convention.LEGACY_SCORE
    )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rule.txt", SOURCE, "ends in .py, .js, .mjs, .cjs, .ts, .mts, .yaml or .yml"),
        ("rule", SOURCE, "no evaluator file"),
        ("rule.py", b"def evaluate(x):\n    '\xff'\n", ":2: not UTF-8 text"),
        ("rule.py", b"\x89PNG\r\n", ":1: not UTF-8 text"),
        ("rule.py", b"#" * (MAX_FILE_BYTES + 1), "larger than 1 MiB"),
        ("rule.yaml", "name: rule", "no source"),
        ("rule.yaml", "source: rule.txt", "must end in .py, .js, .mjs, .cjs, .ts or .mts"),
        ("rule.yaml", "source: other.yaml", "must end in .py"),
        ("rule.yaml", "source: missing.py", "missing.py: cannot be read"),
        ("rule.yaml", "nane: x", "rule.yaml: definition: unknown key"),
    ],
)
def test_a_file_that_is_no_evaluator_is_refused_by_its_path(
    tmp_path: Path, name: str, content: str | bytes, said: str
):
    path = write(tmp_path, name, content)

    with pytest.raises(EvaluatorError) as caught:
        load_evaluator(path)

    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("name", ["missing.py", "folder.py"])
def test_a_path_that_cannot_be_read_says_why(tmp_path: Path, name: str):
    (tmp_path / "folder.py").mkdir()

    with pytest.raises(EvaluatorError, match=r"cannot be read \(.*\); check the path"):
        load_evaluator(tmp_path / name)


@pytest.mark.parametrize(
    ("extra", "error"),
    [
        ("threshold: x", EvaluatorError),
        ("mapping: {nothing: x}", MappingError),
        ("params: [{key: output, type: enum}]", ParamError),
    ],
)
def test_an_error_in_a_definition_names_the_definition(
    tmp_path: Path, extra: str, error: type[CallerError]
):
    write(tmp_path, "rule.py", SOURCE)
    path = write(tmp_path, "rule.yaml", f"source: rule.py\n{extra}\n")

    with pytest.raises(error) as caught:
        load_evaluator(path)

    assert str(caught.value).startswith(f"{path}: ")


def test_an_error_in_a_definition_s_source_names_the_source(tmp_path: Path):
    source = write(tmp_path, "rule.py", "x = 1\n")
    path = write(tmp_path, "rule.yaml", "source: rule.py\n")

    with pytest.raises(SourceError) as caught:
        load_evaluator(path)

    assert str(caught.value).startswith(f"{source}:1:1: ")
