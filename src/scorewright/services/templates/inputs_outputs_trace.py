def evaluate(inputs, outputs, trace):
    """Judge one item: inputs holds all columns, outputs the application's answer, trace its spans or None."""
    reference = inputs.get("correct_answer")
    if reference is None:
        return EvalResult.skip("no reference to compare with")
    return {
        "score": float(outputs == reference),
        "lengths": {"reference": len(str(reference)), "answer": len(str(outputs))},
    }
