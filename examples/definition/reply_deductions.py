"""Start at 100 and take points off for every fault found."""

import re

RISKY = ("guaranteed", "one hundred percent", "absolutely safe")


def evaluate(answer, topic="", min_characters=20):
    text = answer or ""
    points = 100
    faults = []
    for phrase in RISKY:
        if phrase in text.lower():
            points -= 40
            faults.append(f"says {phrase!r}")
    if len(text.strip()) < min_characters:
        points -= 30
        faults.append(f"only {len(text.strip())} characters")
    if re.search(r"!{2,}", text):
        points -= 20
        faults.append("shouts")
    if topic == "complaint" and "sorry" not in text.lower() and "apologise" not in text.lower():
        points -= 20
        faults.append("no apology")
    return {"score": max(points, 0), "explanation": "; ".join(faults) or "No fault found"}
