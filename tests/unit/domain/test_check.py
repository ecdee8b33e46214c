"""What `check` says of a file, errors included."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from scorewright.domain.check import check_evaluator
from scorewright.domain.convention import Convention
from scorewright.domain.errors import EvaluatorError
from scorewright.domain.json_value import JsonValue


def diagnostics(document: dict[str, JsonValue]) -> list[tuple[object, object, object]]:
    found = document["diagnostics"]
    assert isinstance(found, list)
    shown: list[tuple[object, object, object]] = []
    for each in found:
        assert isinstance(each, dict)
        assert list(each) == ["severity", "code", "message", "line", "column"]
        shown.append((each["severity"], each["code"], each["line"]))
    return shown


def test_a_sound_file_is_described_in_full(tmp_path: Path):
    path = tmp_path / "rule.py"
    path.write_text(
        "import socket\n"
        "def evaluate(output, expected: str, tolerance=0.1, words=Param(['a'], 'which')): return 1\n"
    )

    document = check_evaluator(path)

    assert diagnostics(document) == [("warning", "no_network", 1)]
    assert {**document, "diagnostics": []} == {
        "path": str(path),
        "language": "python",
        "convention": "variables",
        "variables": [
            {"name": "output", "required": True, "default": None, "annotation": None},
            {"name": "expected", "required": True, "default": None, "annotation": "str"},
            {"name": "tolerance", "required": False, "default": 0.1, "annotation": None},
        ],
        "params": [
            {
                "key": "words",
                "type": "array",
                "description": "which",
                "default": ["a"],
                "required": False,
                "min": None,
                "max": None,
                "values": [],
            }
        ],
        "diagnostics": [],
    }
    assert msgspec.json.decode(msgspec.json.encode(document)) == document


def test_a_file_with_errors_still_yields_an_entry(tmp_path: Path):
    path = tmp_path / "rule.py"
    path.write_text("import socket\ndef get_assert(output): return 1\n")

    document = check_evaluator(path)

    assert diagnostics(document) == [("warning", "no_network", 1), ("error", "no_evaluate", 2)]
    assert {key: document[key] for key in ("path", "language", "convention")} == {
        "path": str(path),
        "language": "python",
        "convention": None,
    }
    assert (document["variables"], document["params"]) == ([], [])


def test_a_required_param_without_a_default_shows_none(tmp_path: Path):
    path = tmp_path / "rule.py"
    path.write_text("def evaluate(trace: Trace, n: int): return 1\n")

    params = check_evaluator(path)["params"]

    assert isinstance(params, list)
    assert isinstance(params[0], dict)
    assert (params[0]["default"], params[0]["required"]) == (None, True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nane: x", "bad_definition"),
        ("type: llm_judge\nprompt: x", "bad_definition"),
        ("source: missing.py", "bad_definition"),
        ("params: [{key: class, type: string}]", "bad_param"),
        ("source: rule.py\nmapping: {nothing: x}", "bad_mapping"),
    ],
)
def test_what_is_wrong_with_a_definition_is_a_diagnostic(tmp_path: Path, text: str, code: str):
    (tmp_path / "rule.py").write_text("def evaluate(output): return 1\n")
    path = tmp_path / "rule.yaml"
    path.write_text(text)

    document = check_evaluator(path)

    assert diagnostics(document) == [("error", code, 1)]
    assert (document["language"], document["convention"]) == (None, None)
    assert str(path) not in str(document["diagnostics"])


def test_the_caller_s_convention_is_checked(tmp_path: Path):
    path = tmp_path / "rule.py"
    path.write_text("\ndef evaluate(run, example): return 1\n")

    document = check_evaluator(path, convention=Convention.LEGACY_SCORE)

    assert diagnostics(document) == [("error", "bad_signature", 2)]


def test_a_file_that_cannot_be_read_is_the_caller_s_mistake(tmp_path: Path):
    with pytest.raises(EvaluatorError, match="cannot be read"):
        check_evaluator(tmp_path / "missing.py")
