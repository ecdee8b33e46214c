"""Did the agent look the loan up before it answered, and did that work?"""


def evaluate(agent_trace: AgentTrace) -> EvalResult:
    steps = agent_trace.get_tool_steps()
    if not steps:
        return EvalResult(score=0.0, explanation="answered without looking")
    if agent_trace.get_error_steps():
        return EvalResult(score=0.5, explanation="looked, but the search failed")
    return EvalResult(
        score=1.0, explanation=f"looked {len(steps)} times" if len(steps) > 1 else "looked once"
    )
