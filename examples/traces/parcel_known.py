"""Does the answer say where the parcel is, where the agent looked it up?

Takes what tools gave from a field of the trace: `context` is `trace.tool_context` by itself.
"""


def evaluate(output, context):
    tracked = [call for call in context if call["name"] == "track_parcel"]
    if not tracked:
        return {"skip": "no parcel was looked up"}
    if tracked[-1]["error"]:
        return {"score": 0, "explanation": f"The search failed: {tracked[-1]['error']}"}
    place = tracked[-1]["result"]["place"]
    return {"score": int(place in output), "explanation": f"The parcel is at: {place}"}
