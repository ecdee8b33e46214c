"""Is the output JSON? An absent output is skipped, and so leaves the mean alone."""


def evaluate(trace: Trace) -> EvalResult:
    if not trace.output:
        return EvalResult.skip("no output to look at")

    import json

    try:
        json.loads(trace.output)
    except json.JSONDecodeError as problem:
        return EvalResult(score=0.0, explanation=f"Not JSON: {problem}")
    return EvalResult(score=1.0, explanation="The output is JSON")
