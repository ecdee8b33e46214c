"""Is the order record valid JSON with everything a caller relies on?

Only answers of the category `order_status` are records; all others are skipped, not scored 0.
"""

import json

REQUIRED = ("order_id", "status", "items")


def evaluate(output, category="order_status"):
    if category != "order_status":
        return {"skip": f"an answer of the category {category} is no record"}
    try:
        record = json.loads(output or "")
    except ValueError as problem:
        return {"score": 0, "explanation": f"Not JSON: {problem}"}
    if not isinstance(record, dict):
        return {"score": 0, "explanation": f"A JSON {type(record).__name__} instead of an object"}
    absent = [field for field in REQUIRED if field not in record]
    if absent:
        return {"score": 0, "explanation": "Fields absent: " + ", ".join(absent)}
    if not isinstance(record["items"], list) or not record["items"]:
        return {"score": 0, "explanation": "items must be a list with at least one entry"}
    return {"score": 1, "explanation": f"A complete record of {len(record['items'])} items"}
