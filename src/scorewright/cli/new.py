"""The body of `scorewright new`."""

from __future__ import annotations

from pathlib import Path

from scorewright.cli.speech import say
from scorewright.domain.errors import UsageError
from scorewright.domain.evaluator_name import check_name

_TEMPLATES = {
    "variables": '''def evaluate(output, expected=None):
    """Judge one item. A variable without a default must be mapped to a field; one with a default may be."""
    if expected is not None and output != expected:
        return {"score": 0, "explanation": f"expected {expected!r}, got {output!r}"}
    return {"score": 1, "explanation": "the output is as expected"}
''',
    "inputs_outputs_trace": '''def evaluate(inputs, outputs, trace):
    """Judge one item: inputs holds all columns, outputs the application's answer, trace its spans or None."""
    text = outputs if isinstance(outputs, str) else str(outputs)
    return {
        "score": 1.0 if text == inputs.get("correct_answer") else 0.0,
        "word_count": len(text.split()),
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
    return 1.0 if outputs == inputs.get("correct_answer") else 0.0
''',
    "legacy_correct_answer": '''def evaluate(app_params, inputs, output, correct_answer):
    """Judge one item and return one number."""
    return 1.0 if output == correct_answer else 0.0
''',
}


def new_command(name: str, *, convention: str) -> None:
    """Write NAME.py, and never over a file that is there."""
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
