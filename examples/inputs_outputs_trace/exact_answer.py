"""Is the output the reference answer, character for character?

`inputs` is the whole row, so ground truth is read from it by column name.
"""

from typing import Any


def evaluate(inputs: dict[str, Any], outputs: Any, trace: dict[str, Any]) -> dict:
    equal = outputs == inputs.get("expected")
    return {"score": float(equal), "success": equal}
