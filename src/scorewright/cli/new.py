"""The body of `scorewright new`."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from scorewright.cli.speech import say
from scorewright.domain.errors import UsageError
from scorewright.domain.evaluator_name import check_name

_TEMPLATES = {
    "variables": '''def evaluate(output, expected=None):
    """Judge one item. A variable without a default must be mapped to a field; one with a default may be."""
    if expected is None:
        return EvalResult.skip("no reference to compare with")
    if output != expected:
        return {"score": 0, "explanation": f"expected {expected!r}, got {output!r}"}
    return {"score": 1, "explanation": "the output is as expected"}
''',
    "inputs_outputs_trace": '''def evaluate(inputs, outputs, trace):
    """Judge one item: inputs holds all columns, outputs the application's answer, trace its spans or None."""
    reference = inputs.get("correct_answer")
    if reference is None:
        return EvalResult.skip("no reference to compare with")
    return {
        "score": float(outputs == reference),
        "lengths": {"reference": len(str(reference)), "answer": len(str(outputs))},
    }
''',
    "trace_object": '''def evaluate(trace: Trace, min_words: int = 1) -> EvalResult:
    """Judge one trace; every further parameter can be set with --param."""
    if not trace.output:
        return EvalResult.skip("no output to judge")
    words = len(trace.output.split())
    return EvalResult(score=float(words >= min_words), explanation=f"{words} words")
''',
    "legacy_score": '''def evaluate(inputs, outputs, trace):
    """Judge one item and return one number."""
    reference = inputs.get("correct_answer")
    if reference is None:
        return EvalResult.skip("no reference to compare with")
    return float(outputs == reference)
''',
    "legacy_correct_answer": '''def evaluate(app_params, inputs, output, correct_answer):
    """Judge one item and return one number."""
    if correct_answer is None:
        return EvalResult.skip("no reference to compare with")
    return float(output == correct_answer)
''',
}


def new_command(name: str, *, convention: str, as_json: bool = False) -> None:
    """Write NAME.py, and never over a file that is there.

    Args:
        name: The evaluator's name.
        convention: How its `evaluate` is called.
        as_json: Print what was written on stdout, beside the line for people on stderr.

    Raises:
        CallerError: The name is none, or the file is there already or cannot be written.
    """
    check_name(name)
    path = Path(f"{name}.py")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(_TEMPLATES[convention])
    except FileExistsError:
        raise UsageError(f"{path} is there already; choose another name") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
    override = f" --convention {convention}" if convention == "legacy_score" else ""
    say(f"wrote {path}; try it: scorewright run {path}{override} --data YOUR_DATA.jsonl")
    if as_json:
        document = {"path": str(path), "convention": convention, "language": "python"}
        sys.stdout.buffer.write(msgspec.json.encode(document) + b"\n")
