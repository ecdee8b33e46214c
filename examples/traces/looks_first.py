"""Does the agent look the order up before anything else, and without failing?

An `AgentTrace` has the steps of one agent, in order.
"""


def evaluate(agent_trace: AgentTrace, first_tool: str = "find_order") -> EvalResult:
    steps = agent_trace.get_tool_steps()
    if not steps:
        return EvalResult(score=0.0, explanation="no tool was called")
    failed = [step.tool_name for step in agent_trace.get_error_steps()]
    if failed:
        return EvalResult(score=0.5, passed=False, explanation=f"failed: {', '.join(failed)}")
    return EvalResult(
        score=1.0 if steps[0].tool_name == first_tool else 0.0,
        explanation=" → ".join(step.tool_name for step in steps),
    )
