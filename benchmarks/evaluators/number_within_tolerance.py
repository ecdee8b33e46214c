import re

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def first_number(text):
    found = NUMBER.search(text.replace(",", ""))
    return float(found.group()) if found else None


def evaluate(output, expected):
    want = first_number(expected)
    got = first_number(output)
    if want is None:
        return {"score": 0.0, "explanation": "The reference has no number"}
    if got is None:
        return {"score": 0.0, "explanation": "The output has no number"}
    off = abs(got - want) / (abs(want) or 1.0)
    if off <= 0.001:
        return {"score": 1.0, "explanation": "%g for %g" % (got, want)}
    return {"score": 0.0, "explanation": "%g for %g, %.2f%% off" % (got, want, off * 100)}
