import json

FIELDS = ("title", "items", "total")


def evaluate(output, expected):
    try:
        document = json.loads(output)
    except Exception as problem:
        return {"score": 0.0, "explanation": "The output is no JSON: %s" % problem}
    if not isinstance(document, dict):
        return {"score": 0.0, "explanation": "The output is JSON, but no object"}
    absent = [field for field in FIELDS if field not in document]
    if absent:
        return {"score": 0.0, "explanation": "Fields absent: %s" % ", ".join(absent)}
    items = document["items"]
    if not isinstance(items, list) or not items:
        return {"score": 0.0, "explanation": "items has no entries"}
    return {"score": 1.0, "explanation": "A document of %d items" % len(items)}
