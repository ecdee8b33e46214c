"""Did the agent use the tools it has to use?

`context` is what the tools were given and gave back (on traces: trace.tool_context). The share of the
required tools that were called is the score.
"""

import json


def evaluate(output, context=None, required_tools="find_order,track_parcel"):
    required = [name.strip() for name in required_tools.split(",") if name.strip()]
    if not required:
        return {"score": 1, "explanation": "No tool is required"}
    calls = json.loads(context) if isinstance(context, str) else context or []
    called = {call["tool"] for call in calls}
    unused = [name for name in required if name not in called]
    share = 1 - len(unused) / len(required)
    if not unused:
        return {"score": 1, "explanation": "Called: " + ", ".join(required)}
    return {"score": round(share, 2), "explanation": "Never called: " + ", ".join(unused)}
