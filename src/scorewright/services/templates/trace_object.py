def evaluate(trace: Trace, min_words: int = 1) -> EvalResult:
    """Judge one trace; every further parameter can be set with --param."""
    if not trace.output:
        return EvalResult.skip("no output to judge")
    words = len(trace.output.split())
    return EvalResult(score=float(words >= min_words), explanation=f"{words} words")
