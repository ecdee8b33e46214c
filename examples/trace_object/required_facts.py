"""Does the answer name every fact that it must?

`task` is the row, here for its column `facts`. `min_share` has a default, which makes it a config param:
set it with --param min_share=0.5. EvalResult and Trace need no import.
"""


def evaluate(trace: Trace, task: dict, min_share: float = 1.0) -> EvalResult:
    facts = task.get("facts")
    if not facts:
        return EvalResult.skip("no facts are listed for this question")
    if not trace.output:
        return EvalResult(score=0.0, explanation="There is no answer")
    absent = [fact for fact in facts if fact.lower() not in trace.output.lower()]
    share = 1 - len(absent) / len(facts)
    return EvalResult(
        score=share,
        passed=share >= min_share,
        explanation="Not named: " + "; ".join(absent) if absent else "Every fact is named",
    )
