"""Full marks up to 600 tokens, half up to half as many again, none above; half too when nothing is known."""

from typing import Any

BUDGET = 600


def evaluate(inputs: dict[str, Any], outputs: Any, trace: dict[str, Any]) -> float:
    spans = (trace or {}).get("spans")
    if not spans:
        return 0.5
    root = next(iter(spans.values()))
    used = root["attributes"]["ag"]["metrics"]["unit"]["tokens"]["total"]
    if used <= BUDGET:
        return 1.0
    return 0.5 if used <= BUDGET * 1.5 else 0.0
