import logfire
from helpdesk import QUESTION, answer

logfire.configure(send_to_logfire=False, console=False, metrics=False)
logfire.instrument_openai()

with logfire.span("helpdesk") as span:
    span.set_attribute("gen_ai.operation.name", "invoke_agent")
    span.set_attribute("gen_ai.agent.name", "helpdesk")
    span.set_attribute("gen_ai.conversation.id", "conversation-1")
    answer(QUESTION)
logfire.shutdown()
