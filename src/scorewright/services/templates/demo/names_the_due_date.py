"""Does the answer name the date by which the book is due?"""


def evaluate(output, expected):
    if not output:
        return {"score": 0, "explanation": "There is no answer"}
    if expected in output:
        return {"score": 1, "explanation": f"It says {expected}"}
    return {"score": 0, "explanation": f"It does not say {expected}"}
