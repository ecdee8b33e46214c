"""Did the whole answer take at most five seconds? Reads the duration off the root span."""

from typing import Any

BUDGET_S = 5.0


def evaluate(inputs: dict[str, Any], outputs: Any, trace: dict[str, Any]) -> float:
    spans = (trace or {}).get("spans")
    if not spans:
        return 0.0
    root = next(iter(spans.values()))
    unit = root["attributes"].get("ag", {}).get("metrics", {}).get("unit", {})
    return float(unit.get("duration", {}).get("total", 0) <= BUDGET_S)
