"""Does the reply name the right amount of money, give or take a thousandth?

Replies show their working first, so the last amount with a currency sign is the one promised.
`tolerance` has a default: map a column to it, or leave it alone.
"""

import re

AMOUNT = re.compile(r"(?:€|EUR)\s*(-?\d[\d,]*(?:\.\d+)?)")


def promised(text):
    amounts = AMOUNT.findall(text or "")
    return float(amounts[-1].replace(",", "")) if amounts else None


def reference(value):
    try:
        return float(str(value).replace(",", ""))
    except ValueError:
        return None


def evaluate(output, expected, tolerance=0.001):
    want = reference(expected)
    if want is None:
        return {"skip": "the reference is not an amount"}
    got = promised(output)
    if got is None:
        return {"score": 0, "explanation": f"No amount in the reply, {want:.2f} was expected"}
    allowed = tolerance * (abs(want) or 1)
    if abs(got - want) <= allowed:
        return {"score": 1, "explanation": f"Promised {got:.2f}, expected {want:.2f}"}
    return {
        "score": 0,
        "explanation": f"Promised {got:.2f} instead of {want:.2f}: off by {got - want:+.2f}",
    }
