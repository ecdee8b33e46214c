"""Three parameters and one number, as written before an evaluator could return metrics.

How many of the reference's words the output uses. A dict would be refused here: the convention
`legacy_score` must be asked for, as its parameters look like those of `inputs_outputs_trace`.
"""


def evaluate(inputs, outputs, trace) -> float:
    wanted = set((inputs.get("expected") or "").lower().split())
    if not wanted:
        return 0.0
    return len(wanted & set((outputs or "").lower().split())) / len(wanted)
