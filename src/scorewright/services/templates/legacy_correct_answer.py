def evaluate(app_params, inputs, output, correct_answer):
    """Judge one item and return one number."""
    if correct_answer is None:
        return EvalResult.skip("no reference to compare with")
    return float(output == correct_answer)
