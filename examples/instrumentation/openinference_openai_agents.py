from agents import Agent, Runner, function_tool
from helpdesk import INSTRUCTIONS, MODEL, QUESTION, order_status
from openinference.instrumentation import using_session
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)

agent = Agent(
    "helpdesk", instructions=INSTRUCTIONS, model=MODEL, tools=[function_tool(order_status)]
)
with using_session("conversation-1"):
    Runner.run_sync(agent, QUESTION)
provider.shutdown()
