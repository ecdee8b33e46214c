def evaluate(inputs, outputs, trace):
    """Judge one item and return one number."""
    reference = inputs.get("correct_answer")
    if reference is None:
        return EvalResult.skip("no reference to compare with")
    return float(outputs == reference)
