"""The oldest form, four parameters: `correct_answer` is a column, `app_params` is always empty."""


def evaluate(app_params, inputs, output, correct_answer) -> float:
    if not correct_answer:
        return 0.0
    return 1.0 if correct_answer.lower() in (output or "").lower() else 0.0
