from helpdesk import INSTRUCTIONS, MODEL, QUESTION
from helpdesk import order_status as look_up
from openinference.instrumentation import TracerProvider, using_session
from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from smolagents import OpenAIModel, ToolCallingAgent, tool

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
SmolagentsInstrumentor().instrument(tracer_provider=provider)


@tool
def order_status(order_id: str) -> dict:
    """Tell where an order is.

    Args:
        order_id: What is written on the parcel.
    """
    return look_up(order_id)


agent = ToolCallingAgent([order_status], OpenAIModel(MODEL), name="helpdesk", description="Helps.")
agent.prompt_templates["system_prompt"] = INSTRUCTIONS
with using_session("conversation-1"):
    agent.run(QUESTION)
provider.shutdown()
