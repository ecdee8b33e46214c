"""Was there an answer at all, and not just the question handed back?

The smallest useful evaluator of the convention `variables`: `input` and `output` have no default, so a
field must be mapped to each; `context` has one and may stay unmapped.
"""


def evaluate(input, output, context=None):
    text = (output or "").strip()
    if not text:
        return {"score": 0, "explanation": "The answer is empty"}
    if text == input.strip():
        return {"score": 0, "explanation": "The answer only repeats the question"}
    source = "with" if context else "without"
    return {"score": 1, "explanation": f"Answered in {len(text)} characters, {source} context"}
