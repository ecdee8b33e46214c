"""Is every model call given the shop's instructions, and not too much to read?

An `LLMSpan` is one model call; there are several in a trace, and each is judged by itself.
"""


def evaluate(llm_span: LLMSpan, most_tokens: int = 700) -> EvalResult:
    if not llm_span.get_system_messages():
        return EvalResult(score=0.0, explanation="no instructions")
    read = llm_span.metrics.token_usage.input_tokens
    return EvalResult(
        score=1.0 if read <= most_tokens else 0.0,
        explanation=f"{read} tokens read by {llm_span.model}",
    )
