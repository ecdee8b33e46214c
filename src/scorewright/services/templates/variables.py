def evaluate(output, expected=None):
    """Judge one item. A variable without a default must be mapped to a field; one with a default may be."""
    if expected is None:
        return EvalResult.skip("no reference to compare with")
    if output != expected:
        return {"score": 0, "explanation": f"expected {expected!r}, got {output!r}"}
    return {"score": 1, "explanation": "the output is as expected"}
