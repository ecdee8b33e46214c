"""How does the reply read? Several metrics of one reply, nested ones under a dotted name.

`score` and `success` are the score and the verdict; every other key becomes a metric of its own.
"""

from typing import Any

GREETINGS = ("hi", "hello", "thanks", "thank you", "good question", "happy to help")
SORRY = ("sorry", "Sorry", "apologise")


def evaluate(inputs: dict[str, Any], outputs: Any, trace: dict[str, Any]) -> dict:
    if inputs.get("channel") == "api":
        return {"skip": "read by a program, not by a person"}
    text = outputs or ""
    words = len(text.split())
    checks = {
        "greets": text.lower().startswith(GREETINGS),
        "fit_length": 4 <= words <= 45,
        "calm": text.count("!") <= 2,
        "apologises": inputs.get("category") != "complaint" or any(word in text for word in SORRY),
    }
    unmet = [name for name, met in checks.items() if not met]
    return {
        "score": 1 - len(unmet) / len(checks),
        "success": len(unmet) <= 1,
        "explanation": "Not met: " + ", ".join(unmet) if unmet else "Reads well",
        "words": words,
        "checks": checks,
    }
