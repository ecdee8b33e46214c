"""Is the output the reference answer, character for character? Without a reference nothing is judged.

`inputs` is the whole row, so ground truth is read from it by column name.
"""

from typing import Any


def evaluate(inputs: dict[str, Any], outputs: Any, trace: dict[str, Any]) -> dict:
    reference = inputs.get("expected")
    if reference is None:
        return {"skip": "the row has no reference"}
    equal = outputs == reference
    return {"score": float(equal), "success": equal}
