"""Does the reply avoid promising what the shop cannot keep?

Two config params: the phrases looked for, separated by commas, and how many words a reply must have to
be judged at all.
"""


def evaluate(
    trace: Trace,
    phrases: str = "guaranteed,one hundred percent,absolutely safe,for ever,for life",
    min_words: int = Param(3, description="Shorter replies are skipped", min=0),
) -> EvalResult:
    words = (trace.output or "").split()
    if len(words) < min_words:
        return EvalResult.skip(f"a reply of {len(words)} words promises nothing")
    found = [phrase for phrase in phrases.split(",") if phrase.strip() in trace.output.lower()]
    if found:
        return EvalResult(score=0.0, explanation="Promises: " + ", ".join(found))
    return EvalResult(score=1.0, explanation="No risky promise found")
