import json

from helpdesk import MODEL, QUESTION, TOOL, order_status
from openai import OpenAI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("helpdesk")


def said(role, content):
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": content}]}])


def search(query):
    with tracer.start_as_current_span("retrieval handbook") as span:
        found = [{"id": "returns", "content": "Returns are accepted for 30 days.", "score": 0.82}]
        span.set_attribute("gen_ai.operation.name", "retrieval")
        span.set_attribute("gen_ai.retrieval.query.text", query)
        span.set_attribute("gen_ai.retrieval.documents", json.dumps(found))
        return found[0]["content"]


def chat(messages):
    with tracer.start_as_current_span(f"chat {MODEL}") as span:
        completion = OpenAI().chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
        message = completion.choices[0].message
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("gen_ai.provider.name", "openai")
        span.set_attribute("gen_ai.response.model", completion.model)
        span.set_attribute("gen_ai.usage.input_tokens", completion.usage.prompt_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", completion.usage.completion_tokens)
        if message.content:
            span.set_attribute("gen_ai.output.messages", said("assistant", message.content))
        return message


def call_tool(call):
    with tracer.start_as_current_span(f"execute_tool {call.function.name}") as span:
        result = json.dumps(order_status(**json.loads(call.function.arguments)))
        span.set_attribute("gen_ai.operation.name", "execute_tool")
        span.set_attribute("gen_ai.tool.name", call.function.name)
        span.set_attribute("gen_ai.tool.call.id", call.id)
        span.set_attribute("gen_ai.tool.call.arguments", call.function.arguments)
        span.set_attribute("gen_ai.tool.call.result", result)
        return {"role": "tool", "tool_call_id": call.id, "content": result}


with tracer.start_as_current_span("invoke_agent helpdesk") as span:
    span.set_attribute("gen_ai.operation.name", "invoke_agent")
    span.set_attribute("gen_ai.agent.name", "helpdesk")
    span.set_attribute("gen_ai.conversation.id", "conversation-1")
    span.set_attribute("gen_ai.input.messages", said("user", QUESTION))
    messages = [
        {"role": "system", "content": search("returns")},
        {"role": "user", "content": QUESTION},
    ]
    while (message := chat(messages)).tool_calls:
        messages += [message, *map(call_tool, message.tool_calls)]
    span.set_attribute("gen_ai.output.messages", said("assistant", message.content))
provider.shutdown()
