"""Did the answer make use of what the tools found?

Reads the steps of the trace: a tool whose results never show up in the answer was called for nothing.
"""


def evaluate(trace: Trace, least_share: float = Param(0.5, min=0, max=1)) -> EvalResult:
    steps = trace.get_tool_steps()
    if not steps:
        return EvalResult.skip("no tool was called")
    unused = [step.tool_name for step in steps if not shows(step.tool_output, trace.output or "")]
    share = 1 - len(unused) / len(steps)
    return EvalResult(
        score=share,
        passed=share >= least_share,
        explanation="Called for nothing: " + ", ".join(unused)
        if unused
        else "All results are used",
    )


def shows(found, answer):
    values = found.values() if isinstance(found, dict) else [found]
    return any(str(value) in answer for value in values)
