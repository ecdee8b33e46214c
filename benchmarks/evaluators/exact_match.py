def evaluate(output, expected):
    if output == expected:
        return {"score": 1.0, "explanation": "The output is the reference"}
    sizes = "%d characters, the reference has %d" % (len(output), len(expected))
    return {"score": 0.0, "explanation": "The output is another text: " + sizes}
