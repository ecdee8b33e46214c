from helpdesk import INSTRUCTIONS, MODEL, QUESTION, order_status
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
Agent.instrument_all()

agent = Agent(
    f"openai-chat:{MODEL}", name="helpdesk", instructions=INSTRUCTIONS, tools=[order_status]
)
agent.run_sync(QUESTION, conversation_id="conversation-1")
provider.shutdown()
